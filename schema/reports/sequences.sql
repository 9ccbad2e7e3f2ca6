-- Sequences of kernels that repeat on a stream. temp.sequences: the sequences found, by time. A kernel is in
-- several of them, so shares do not add up.
-- column: time_pct   | Time (%)   | percent |
-- column: total_time | Total Time | ns      |
-- column: instances  | Instances  | count   |
-- column: avg        | Avg        | ns      |
-- column: min        | Min        | ns      |
-- column: max        | Max        | ns      |
-- column: sequence   | Sequence   | text    | label
SELECT 100.0 * total / nullif(all_time, 0), total, n, 1.0 * total / n, min, max, sequence
FROM temp.sequences
ORDER BY position;
