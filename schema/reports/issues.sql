-- What was wrong with the trace, worst first. The command puts the meaning of the kind behind it.
-- column: severity | Severity | text  |
-- column: count    | Count    | count | sum
-- column: kind     | Kind     | text  | label
-- column: offset   | Offset   |       | min
-- column: sample   | Sample   | text  |
SELECT severity, count, kind, offset, sample FROM issues;
