-- Which operation classes consist of kernels too small to keep a GPU busy?
-- Candidates for fusion.
-- :below = 5000, ns of a tiny kernel
SELECT op, sum(n) AS n, sum(n) FILTER (WHERE dur < :below) AS tiny, sum(n * dur) AS total_ns,
       sum(n * dur) FILTER (WHERE dur < :below) AS tiny_total_ns
FROM (SELECT op, dur, count(*) AS n FROM kernels WHERE dur IS NOT NULL GROUP BY op, dur)
GROUP BY op HAVING tiny > 0 ORDER BY tiny DESC, op;
