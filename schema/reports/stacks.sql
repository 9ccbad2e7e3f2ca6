-- Kernel time by Python call path. temp.call_tree: the nodes of the tree in reading order; :indent: 2 for people, who
-- see the depth in the text, and how many frames a row stands for. Total counts a kernel in every frame of its path; self
-- only where the path ends, so that self adds up to the kernel time.
-- column: time_pct   | Time (%)   | percent |       | 4 | share of the kernel time, of total
-- column: self_pct   | Self (%)   | percent | sum   | 7 | share of the kernel time, of self
-- column: total_time | Total Time | ns      |       | 6 | time of the kernels launched under the frame
-- column: self_time  | Self Time  | ns      | sum   | 7 | time of the kernels whose path ends in the frame
-- column: instances  | Instances  | count   |       | 3 | kernels launched under the frame
-- column: depth      | Depth      | count   |       |   | depth of the frame in the path
-- column: frames     | Frames     | count   |       |   | frames that the row stands for: modules of one class
-- column: frame      | Frame      | text    | label |   | Python frame or module; or a remainder: [no stack], [no module], [no own frame]
SELECT 100.0 * total / nullif(all_time, 0), 100.0 * self / nullif(all_time, 0), total, self, n, depth, instances,
       iif(:indent > 0, substr('                                                                ', 1, :indent * depth),
           '') || frame || iif(:indent > 0 AND instances > 1, ' x ' || instances, '')
FROM temp.call_tree
ORDER BY position;
