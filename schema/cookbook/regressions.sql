-- Which kernels take longer a step in a second trace than in a first?
-- Give two indexes: the baseline, then the candidate. Phases that both have, by short name; kernels in no step (phase NULL)
-- as they are. The sum is over the steps of the candidate.
-- :top = 20, how many names
WITH steps AS MATERIALIZED (
  SELECT phase, total(of_a) AS of_a, total(of_b) AS of_b FROM (
    SELECT phase, 1 AS of_a, 0 AS of_b FROM a.steps UNION ALL SELECT phase, 0, 1 FROM b.steps)
  GROUP BY phase UNION ALL SELECT NULL, 1, 1),
sums AS MATERIALIZED (
  SELECT phase, short_name, sum(n_a) AS n_a, sum(n_b) AS n_b, total(time_a) AS time_a, total(time_b) AS time_b FROM (
    SELECT phase, short_name, count(*) AS n_a, 0 AS n_b, sum(dur) AS time_a, 0 AS time_b FROM a.kernels GROUP BY phase, short_name
    UNION ALL
    SELECT phase, short_name, 0, count(*), 0, sum(dur) FROM b.kernels GROUP BY phase, short_name)
  GROUP BY phase, short_name)
SELECT k.phase, k.short_name, k.n_a, k.n_b, round(k.time_a / s.of_a) AS a_step_ns, round(k.time_b / s.of_b) AS b_step_ns,
       round(k.time_b / s.of_b - k.time_a / s.of_a) AS longer_ns, round(k.time_b - k.time_a / s.of_a * s.of_b) AS longer_total_ns
FROM sums k JOIN steps s ON s.phase IS k.phase WHERE s.of_a > 0 AND s.of_b > 0
ORDER BY longer_total_ns DESC, k.phase, k.short_name LIMIT :top;
