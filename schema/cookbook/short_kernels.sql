-- Which kernels run for less time than the call that launches them takes?
-- Where most of a trace is such kernels, the host sets the pace: fusion or graphs help, faster kernels do not.
-- :top = 20, how many names
WITH named AS MATERIALIZED (
  SELECT kernel, count(*) AS n, count(*) FILTER (WHERE kernel_dur < dur) AS shorter, sum(kernel_dur) AS total,
         sum(dur) AS calls_total
  FROM launches WHERE kind = 'launch' GROUP BY kernel)
SELECT (SELECT n.short_name FROM kernel_name n WHERE n.name = named.kernel) AS short_name, n, shorter,
       total AS total_ns, calls_total AS calls_total_ns
FROM named WHERE shorter > 0 ORDER BY calls_total - total DESC, kernel LIMIT :top;
