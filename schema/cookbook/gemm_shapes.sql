-- Which shapes of matrix multiplications take the most time in one phase?
-- The shape is that of the operator's inputs where the trace recorded it (record_shapes), and always the grid.
-- :phase = decode, kind of step; :top = 20, how many shapes
SELECT short_name, input_dims, grid, count(*) AS n, sum(dur) AS total_ns, round(avg(dur)) AS mean_ns
FROM kernels WHERE phase = :phase AND op GLOB '*gemm*'
GROUP BY short_name, input_dims, grid ORDER BY total_ns DESC, short_name, grid LIMIT :top;
