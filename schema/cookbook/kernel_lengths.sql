-- How long are the kernels?
-- Number and time of kernels by power of two of their length in ns.
SELECT 1 << CAST(log2(max(dur, 1)) AS INTEGER) AS from_ns, sum(n) AS n, sum(n * dur) AS total_ns,
       round(100.0 * sum(n * dur) / sum(sum(n * dur)) OVER (), 2) AS time_pct
FROM (SELECT dur, count(*) AS n FROM kernels WHERE dur IS NOT NULL GROUP BY dur) GROUP BY 1 ORDER BY 1;
