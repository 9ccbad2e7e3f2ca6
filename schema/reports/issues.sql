-- Problems found in the trace, worst first. The command appends the meaning of each kind.
-- column: severity | Severity | text  |
-- column: count    | Count    | count | sum
-- column: kind     | Kind     | text  | label
-- column: offset   | Offset   |       | min
-- column: sample   | Sample   | text  |
SELECT severity, count, kind, offset, sample FROM issues;
