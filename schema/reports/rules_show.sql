-- Every distinct kernel name with its class, the rule that chose it, and its kernel time. temp.kernel_classes: the classes.
-- column: time_pct   | Time (%)   | percent | sum
-- column: total_time | Total Time | ns      | sum
-- column: instances  | Instances  | count   | sum
-- column: class      | Class      | text    |
-- column: rule       | Rule       | text    |
-- column: pattern    | Pattern    | text    |
-- column: name       | Name       | text    | label
SELECT 100.0 * s.total / nullif(sum(s.total) OVER (), 0), coalesce(s.total, 0), coalesce(s.n, 0), c.class, c.rule,
       c.pattern, n.name
FROM kernel_name n JOIN temp.kernel_classes c ON c.name_id = n.id LEFT JOIN kernel_name_sum s ON s.name_id = n.id
WHERE :class IS NULL OR c.class = :class
ORDER BY coalesce(s.total, 0) DESC, n.name;
