-- Every distinct kernel name with its class, the rule that chose it, and its kernel time. temp.kernel_classes: the classes.
-- column: time_pct   | Time (%)   | percent | sum   | 4     | share of the kernel time of the selection
-- column: total_time | Total Time | ns      | sum   | 6     | sum of the durations; concurrent kernels count twice
-- column: instances  | Instances  | count   | sum   | 4     | number of kernels
-- column: class      | Class      | text    |       | 8     | operation class
-- column: rule       | Rule       | text    |       | 5     | the rule that chose it
-- column: pattern    | Pattern    | text    |       | 2     | what of the name the rule shows
-- column: name       | Name       | text    | label | names | kernel name
SELECT 100.0 * s.total / nullif(sum(s.total) OVER (), 0), coalesce(s.total, 0), coalesce(s.n, 0), c.class, c.rule,
       c.pattern, n.name
FROM kernel_name n JOIN temp.kernel_classes c ON c.name_id = n.id LEFT JOIN kernel_name_sum s ON s.name_id = n.id
WHERE :class IS NULL OR c.class = :class
ORDER BY coalesce(s.total, 0) DESC, n.name;
