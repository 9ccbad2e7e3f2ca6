-- Which kernels run for less time than the call that launches them takes?
-- Where most of a trace is such kernels, the host sets the pace: fusion or graphs help, faster kernels do not.
-- :top = 20, how many names
SELECT kernel, count(*) AS n, count(*) FILTER (WHERE kernel_dur < dur) AS shorter, sum(kernel_dur) AS total_ns,
       sum(dur) AS calls_total_ns
FROM launches WHERE kind = 'launch' GROUP BY kernel HAVING shorter > 0
ORDER BY calls_total_ns - total_ns DESC, kernel LIMIT :top;
