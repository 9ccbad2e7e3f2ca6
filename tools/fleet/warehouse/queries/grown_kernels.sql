-- Kernels that take more of a trace than on another night, because they run longer or more often, or are new.
-- job; before, after: the two nights
SELECT
  name,
  sumIf(sum_ns, night = {before:Date})
    / (SELECT count() FROM loaded_trace WHERE job = {job:String} AND night = {before:Date}) AS before_ns_a_trace,
  sumIf(sum_ns, night = {after:Date})
    / (SELECT count() FROM loaded_trace WHERE job = {job:String} AND night = {after:Date}) AS after_ns_a_trace,
  after_ns_a_trace - before_ns_a_trace AS grown_ns_a_trace,
  sumIf(n, night = {before:Date}) AS runs_before,
  sumIf(n, night = {after:Date}) AS runs_after
FROM kernel_rollup
WHERE job = {job:String} AND night IN ({before:Date}, {after:Date})
GROUP BY name
HAVING grown_ns_a_trace > 0
ORDER BY grown_ns_a_trace DESC, name
LIMIT 20
SETTINGS skip_unavailable_shards = 0
