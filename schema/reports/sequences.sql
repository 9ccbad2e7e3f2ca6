-- Sequences of kernels that repeat on a stream. temp.sequences: the sequences found, by time. A kernel is in
-- several of them, so shares do not add up.
-- column: time_pct   | Time (%)   | percent |       | 4 | share of the kernel time; a kernel may be in several sequences, so shares do not add up
-- column: total_time | Total Time | ns      |       | 6 | sum of the durations of its kernels
-- column: instances  | Instances  | count   |       | 5 | how often the sequence was found
-- column: avg        | Avg        | ns      |       | 3 | mean time of one sequence
-- column: min        | Min        | ns      |       | 1 | shortest
-- column: max        | Max        | ns      |       | 2 | longest
-- column: sequence   | Sequence   | text    | label |   | kernels that follow each other on a stream
SELECT 100.0 * total / nullif(all_time, 0), total, n, 1.0 * total / n, min, max, sequence
FROM temp.sequences
ORDER BY position;
