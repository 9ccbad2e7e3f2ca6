-- Which layers take longer than the usual layer of their stack?
-- in_a_step_ns: the median over the steps that have the layer, without communication: that takes longest where the other
-- ranks come late, which is no work of the layer.
-- :above = 5, percent above the median
WITH spent AS (
  SELECT stack, layer, step, sum(dur) AS time FROM kernels WHERE layer IS NOT NULL AND kind IN ('compute', 'copy_kernel')
  GROUP BY stack, layer, step),
each AS MATERIALIZED (SELECT stack, layer, median(time) AS time FROM spent GROUP BY stack, layer),
usual AS MATERIALIZED (SELECT stack, median(time) AS time FROM each GROUP BY stack)
SELECT e.stack, e.layer, e.time AS in_a_step_ns, u.time AS usual_ns, round(100.0 * (e.time - u.time) / u.time, 2) AS above_pct
FROM each e JOIN usual u ON u.stack IS e.stack WHERE e.time > u.time * (1 + :above / 100.0)
ORDER BY above_pct DESC, e.stack, e.layer;
