-- What stands between this trace and answers that can be relied on: what is missing or odd, how much of the kernel time
-- it touches, what to do. temp.measure: shares found in the kernels. A rule speaks where its share is at least `least`.
-- column: severity   | Severity   | text    | label
-- column: code       | Code       | text    |
-- column: share_pct  | Share (%)  | percent |
-- column: count      | Count      | count   | sum
-- column: finding    | Finding    | text    |
-- column: suggestion | Suggestion | text    |
WITH
rule(code, severity, least, finding, suggestion) AS (VALUES
  ('unclassified', 'warning', 3.0, 'kernel time whose operation the rules do not know',
   'trace-query rules show --class other lists the names; --rules FILE adds rules of your own'),
  ('no_launch', 'warning', 1.0, 'kernel time whose launching call is not in the trace',
   'no operator, stack or launch delay for it; start the profiler before the work, and record the CPU too'),
  ('clock_order', 'warning', 1.0, 'kernel time that starts before its launching call: the clocks of host and device differ',
   'do not trust launch delays and idle causes of this trace'),
  ('unknown_duration', 'warning', 0.0001, 'kernels without a usable duration', 'sums leave them out'),
  ('graph_collapsed', 'info', 1.0, 'kernel time launched by graph replays: operator and stack are those of the replay',
   'ask by kernel, class or layer; profile once without graphs for operators'),
  ('no_operator', 'info', 5.0, 'kernel time without an operator', 'record CPU activities with the profiler'),
  ('no_stack', 'info', 5.0, 'kernel time without a python stack', 'profile with_stack=True, ingest without --no-stacks'),
  ('no_step', 'info', 5.0, 'kernel time in no step', 'steps come from annotations; --step-regex names yours'),
  ('no_layer', 'info', 20.0, 'kernel time in no layer', 'trace-query layers says what was found and why not more')),
issues(code, severity, share, count, finding, suggestion) AS (
  SELECT kind, severity, NULL, count, coalesce('at byte ' || offset || ': ', '') || coalesce(sample, ''),
         'trace-query issues; README, "Issues"'
  FROM issue WHERE severity <> 'info'),
found AS (
  SELECT r.code, r.severity, m.share, m.count, r.finding, r.suggestion
  FROM rule r JOIN temp.measure m ON m.code = r.code
  WHERE m.share >= r.least OR (m.share IS NULL AND m.count > 0 AND r.code = 'unknown_duration')
  UNION ALL SELECT code, severity, share, count, finding, suggestion FROM issues
  UNION ALL SELECT 'truncated', 'data_loss', NULL, NULL, 'the end of the trace is missing',
    'record it again, or ask only about what is there: --to' WHERE EXISTS
    (SELECT 1 FROM meta WHERE key = 'complete' AND value <> '1')
  UNION ALL SELECT 'no_kernels', 'warning', NULL, NULL, 'the trace has no kernels',
    'record device activities with the profiler' WHERE NOT EXISTS (SELECT 1 FROM kernel))
SELECT severity, code, share, count, finding, suggestion
FROM found
ORDER BY CASE severity WHEN 'data_loss' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, share IS NULL, share DESC, code;
