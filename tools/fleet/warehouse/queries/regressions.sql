-- Kernels that became slower: their mean duration from a night on against the nights before, by the time that has cost
-- since. A kernel that did not run before is no regression: grown_kernels.sql shows it.
-- job; phase: one, so that another mix of phases is no regression, or '' for all together; since: first night of the new
-- state; ratio: 1.05 for at least 5 % slower
SELECT
  name,
  sumIf(sum_ns, night < {since:Date}) / sumIf(n, night < {since:Date}) AS mean_before_ns,
  sumIf(sum_ns, night >= {since:Date}) / sumIf(n, night >= {since:Date}) AS mean_since_ns,
  mean_since_ns / mean_before_ns AS times_slower,
  (mean_since_ns - mean_before_ns) * sumIf(n, night >= {since:Date}) AS cost_ns,
  uniqIf(rank, night >= {since:Date}) AS ranks
FROM kernel_rollup
WHERE job = {job:String} AND ({phase:String} = '' OR phase = {phase:String})
GROUP BY name
HAVING sumIf(n, night < {since:Date}) > 0 AND sumIf(n, night >= {since:Date}) > 0 AND times_slower >= {ratio:Float64}
ORDER BY cost_ns DESC, name
LIMIT 20
SETTINGS skip_unavailable_shards = 0
