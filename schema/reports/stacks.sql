-- Kernel time by Python call path. temp.call_tree: the nodes of the tree in reading order; :indent: 2 for people, who
-- see the depth in the text. Total counts a kernel in every frame of its path; self only where the path ends, so that
-- self adds up to the kernel time.
-- column: time_pct   | Time (%)   | percent |
-- column: total_time | Total Time | ns      |
-- column: self_time  | Self Time  | ns      | sum
-- column: instances  | Instances  | count   |
-- column: depth      | Depth      | count   |
-- column: frame      | Frame      | text    | label
SELECT 100.0 * total / nullif(all_time, 0), total, self, n, depth,
       iif(:indent > 0, substr('                                                                ', 1, :indent * depth),
           '') || frame
FROM temp.call_tree
ORDER BY position;
