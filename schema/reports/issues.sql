-- What was wrong with the trace, worst first.
-- column: severity | Severity | text  |
-- column: count    | Count    | count | sum
-- column: offset   | Offset   |       | min
-- column: kind     | Kind     | text  | label
-- column: sample   | Sample   | text  |
SELECT severity, count, offset, kind, sample FROM issues;
