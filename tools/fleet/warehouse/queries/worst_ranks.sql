-- Ranks with most work of their own: kernel time of a trace, without communication, which is mostly waiting for other
-- ranks, against the median rank of the same night. Traces whose rank is not known are left out.
-- job; since: first night
SELECT night, worst.1 AS rank, worst.2 AS work_ns, median_ns, work_ns / median_ns AS times_median
FROM (
  SELECT night, groupArray((known_rank, work)) AS all_ranks, quantileExact(0.5)(work) AS median_ns
  FROM (
    SELECT night, assumeNotNull(rank) AS known_rank, sum(sum_ns) / uniq(trace_id) AS work
    FROM kernel_rollup
    WHERE job = {job:String} AND night >= {since:Date} AND rank IS NOT NULL AND position(op, 'communication') = 0
    GROUP BY night, known_rank
  )
  GROUP BY night
)
ARRAY JOIN all_ranks AS worst
ORDER BY times_median DESC, night, rank
LIMIT 20
SETTINGS skip_unavailable_shards = 0
