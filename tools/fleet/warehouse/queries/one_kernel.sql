-- One kernel over the nights.
-- job; name: the whole name
SELECT
  night,
  phase,
  uniq(trace_id) AS traces,
  sum(n) AS runs,
  sum(sum_ns) / runs AS mean_ns,
  quantileExactWeighted(0.5)(assumeNotNull(p50_ns), n) AS typical_p50_ns,
  max(max_ns) AS longest_ns
FROM kernel_rollup
WHERE job = {job:String} AND name = {name:String} AND n > 0
GROUP BY night, phase
ORDER BY night, phase
SETTINGS skip_unavailable_shards = 0
