-- What is loaded. traces_twice, kernels_missing and ns_missing are 0: the roll-up has each kernel of the indexes once.
-- Otherwise a load is at work, or it or a server was killed: load the night again, with --again.
SELECT
  night,
  job,
  sum(ledger_traces) AS traces,
  sum(ledger_rows) - traces AS traces_twice,
  sum(cut_short) AS incomplete_traces,
  sum(ledger_kernels) AS kernels,
  sum(ledger_ns) AS kernel_ns,
  toInt64(sum(ledger_kernels)) - toInt64(sum(rollup_kernels)) AS kernels_missing,
  toInt64(sum(ledger_ns)) - toInt64(sum(rollup_ns)) AS ns_missing
FROM (
  SELECT night, job, count() AS ledger_rows, uniqExact(trace_id) AS ledger_traces, countIf(complete = 0) AS cut_short, sum(kernels) AS ledger_kernels,
    sum(sum_ns) AS ledger_ns, toUInt64(0) AS rollup_kernels, toUInt64(0) AS rollup_ns
  FROM loaded_trace
  GROUP BY night, job
  UNION ALL
  SELECT night, job, toUInt64(0) AS ledger_rows, toUInt64(0) AS ledger_traces, toUInt64(0) AS cut_short,
    toUInt64(0) AS ledger_kernels, toUInt64(0) AS ledger_ns, sum(n + untimed) AS rollup_kernels, sum(sum_ns) AS rollup_ns
  FROM kernel_rollup
  GROUP BY night, job
)
GROUP BY night, job
ORDER BY night, job
SETTINGS skip_unavailable_shards = 0
