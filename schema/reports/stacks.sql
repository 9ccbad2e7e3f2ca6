-- Kernel time by Python call path. temp.call_tree: the nodes of the tree in reading order; :indent: 2 for people, who
-- see the depth in the text. Total counts a kernel in every frame of its path; self only where the path ends, so that
-- self adds up to the kernel time.
-- column: time_pct   | Time (%)   | percent |       | 4 | share of the kernel time, of total
-- column: total_time | Total Time | ns      |       | 6 | time of the kernels launched under the frame
-- column: self_time  | Self Time  | ns      | sum   | 7 | time of the kernels whose path ends in the frame
-- column: instances  | Instances  | count   |       | 3 | kernels launched under the frame
-- column: depth      | Depth      | count   |       |   | depth of the frame in the path
-- column: frame      | Frame      | text    | label |   | Python frame or module; [no stack]: kernels without a path
SELECT 100.0 * total / nullif(all_time, 0), total, self, n, depth,
       iif(:indent > 0, substr('                                                                ', 1, :indent * depth),
           '') || frame
FROM temp.call_tree
ORDER BY position;
