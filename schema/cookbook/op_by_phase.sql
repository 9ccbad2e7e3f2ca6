-- On which operation classes do prefill, decode and the other phases spend their time?
SELECT phase, op, count(*) AS n, sum(dur) AS total_ns,
       round(100.0 * sum(dur) / sum(sum(dur)) OVER (PARTITION BY phase), 2) AS phase_pct
FROM kernels GROUP BY phase, op ORDER BY phase, total_ns DESC, op;
