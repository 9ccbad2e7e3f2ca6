-- Problems found in the trace, worst first. temp.issue_words: what each kind means.
-- command: whole | problems found in the trace, with counts | nothing was wrong with the trace
-- column: severity | Severity | text  |       | 7         | info, warning or data_loss
-- column: count    | Count    | count | sum   | 8         | how often
-- column: kind     | Kind     | text  | label | 9         | name of the kind of problem
-- column: meaning  | Meaning  | text  |       | 6 wrapped | what that kind of problem means
-- column: offset   | Offset   |       | min   | 1         | first place in the trace, in bytes
-- column: sample   | Sample   | text  |       | 3 wrapped | first example
SELECT severity, count, kind, (SELECT sentence FROM temp.issue_words w WHERE w.kind = i.kind), offset, sample
FROM issues i;
