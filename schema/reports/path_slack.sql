-- How much later each kernel, copy and fill may end, alone, without a later end of its step or the trace; the least first.
-- column: slack       | Slack       | ns    |       | 9 | 0: on a critical path; empty: any time
-- column: step        | Step        |       |       | 3 | number of the step; empty: the whole trace
-- column: slack_least | At Least    | ns    |       | 4 | the same where delays that were never observed are as long as they may be; empty: what streams wait for is not recorded
-- column: ts          | Start       | ns    |       | 6 | start
-- column: dur         | Duration    | ns    | sum   | 8 | duration
-- column: class       | Class       | text  |       | 5 | operation class of a kernel
-- column: correlation | Correlation |       |       | 2 | as in the trace
-- column: stream      | Stream      |       |       | 3 | number of the stream
-- column: name        | Name        | text  | label | 9 | of the kernel or copy
SELECT p.slack, p.step, iif(EXISTS (SELECT 1 FROM sync), p.slack_least, NULL), p.ts, p.dur, p.class, coalesce(k.correlation, m.correlation), s.number, p.name
FROM temp.path_slack p LEFT JOIN kernel k ON k.id = p.kernel_id LEFT JOIN memory_op m ON m.id = p.memory_op_id
LEFT JOIN stream s ON s.id = p.stream_id
ORDER BY p.slack IS NULL, p.slack, p.dur DESC, p.ts, p.name;
