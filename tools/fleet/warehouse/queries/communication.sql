-- Share of communication in the kernel time, by model and GPU; kernels that communicate and compute count as a whole.
-- since: first night
SELECT
  model,
  gpu,
  uniq(trace_id) AS traces,
  sumIf(sum_ns, position(op, 'communication') > 0) AS communication_ns,
  sum(sum_ns) AS kernel_ns,
  communication_ns / kernel_ns AS share
FROM kernel_rollup
WHERE night >= {since:Date}
GROUP BY model, gpu
ORDER BY share DESC, model, gpu
SETTINGS skip_unavailable_shards = 0
