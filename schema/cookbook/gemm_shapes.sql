-- Which shapes of matrix multiplications take the most time?
-- The shape is that of the operator's inputs where the trace recorded it, and always the grid. FLOPs, rates and shares of
-- the peak are in `trace-query gemms`.
-- :phase = *, kind of step such as decode; :top = 20, how many shapes
SELECT name AS kernel, input_dims, grid, count(*) AS n, sum(dur) AS total_ns, round(avg(dur)) AS mean_ns
FROM kernels WHERE coalesce(phase, '') GLOB :phase AND op GLOB '*gemm*'
GROUP BY name, input_dims, grid ORDER BY total_ns DESC, name, grid LIMIT :top;
