-- What limits answers about this trace: what is missing or odd, how much of the kernel time it affects, what to do.
-- temp.coverage: shares found in the kernels. A rule applies if its share is at least `least`.
-- column: severity   | Severity   | text    | label | 8         | warning or info
-- column: code       | Code       | text    |       | 4         | name of the finding
-- column: share_pct  | Share (%)  | percent |       | 5         | share of the kernel time that is affected
-- column: count      | Count      | count   | sum   | 2         | how many are affected
-- column: finding    | Finding    | text    |       | 9 wrapped | what limits answers
-- column: suggestion | Suggestion | text    |       | 7 wrapped | what to do
WITH
-- Whether the format can hold them (src/trace/format_holds.h), and kernels without an operator or stack that are many.
stacks(can, how) AS (SELECT count > 0, iif((SELECT value FROM meta WHERE key = 'format') IN ('xplane', 'xla-json'),
  'profile with python_tracer_level=1', 'profile with_stack=True') FROM temp.coverage WHERE code = 'holds_stacks'),
-- Calls under one correlation by several processes, of which none can be told: of most kernels without a launch.
launches(can, state, advice) AS (SELECT count > 0, iif(two, 'not told apart', 'not in the trace'),
  CASE WHEN two THEN 'several processes launch under the same correlations; ingest the trace of each by itself'
       WHEN (SELECT count > 0 FROM temp.coverage WHERE code = 'holds_graphs')
       THEN 'start the profiler before the work, and record CPU activities'
       ELSE 'record the calls of the runtime, from before the work on' END
  FROM temp.coverage, (SELECT total(iif(kind = 'ambiguous_launch', count, -count)) > 0 AS two
    FROM issue WHERE kind IN ('ambiguous_launch', 'kernel_without_launch')) WHERE code = 'holds_launches'),
-- Who launched the kernels without an operator, or a stack, where that is not nearly none of the kernel time.
reasons(of, reason, words) AS (VALUES
  ('no_operator', 'graph', 'by a graph replay'), ('no_operator', 'before', 'before the recording began'),
  ('no_operator', 'launch', 'by calls that are ' || (SELECT state FROM launches)), ('no_operator', 'outside', 'outside of any operator'),
  ('no_stack', 'graph', 'by a graph replay'), ('no_stack', 'before', 'before the recording began'),
  ('no_stack', 'launch', 'by calls that are ' || (SELECT state FROM launches)), ('no_stack', 'outside', 'by a thread without Python calls')),
launched(what, words) AS (SELECT of, group_concat(words, ' or ') FROM
  (SELECT of, words FROM reasons JOIN temp.coverage ON code = of || '_' || reason WHERE share >= 1 ORDER BY share DESC, code) GROUP BY of),
graphs(can) AS (SELECT count > 0 FROM temp.coverage WHERE code = 'holds_graphs'),
-- What most of the kernels without a launch lack, too.
lacks(words) AS (SELECT group_concat(iif(c.code = 'no_operator_launch', 'operator', 'stack'), ', ')
  FROM temp.coverage l JOIN temp.coverage c ON c.code IN ('no_operator_launch', 'no_stack_launch') AND c.share > l.share / 2
  WHERE l.code = 'no_launch' ORDER BY c.code),
cut(value) AS (SELECT EXISTS (SELECT 1 FROM meta WHERE key = 'complete' AND value <> '1')),
rule(code, severity, least, finding, suggestion) AS (VALUES
  ('unclassified', 'warning', 3.0, 'kernel time of kernels that no rule recognises',
   iif(EXISTS (SELECT 1 FROM issue WHERE kind = 'whole_graph'), 'whole graphs are among them; trace-query rules show --class other lists the names',
     'trace-query rules show --class other lists the names; --rules FILE adds your own rules')),
  ('before_recording', 'warning', 1.0, 'kernel time launched before the recording began',
   'it is in no step, and has no operator or stack; wait for the device before the profiler starts' ||
     iif((SELECT can FROM graphs) AND (SELECT value FROM meta WHERE key = 'vendor') IN ('nvidia', 'amd'), ' (torch.cuda.synchronize())', '')),
  ('no_launch', 'warning', 1.0, 'kernel time whose launching call is ' || (SELECT state FROM launches),
   iif((SELECT can FROM launches), 'it has no launch delay' || coalesce(', ' || (SELECT words FROM lacks), '') ||
     iif((SELECT words FROM lacks) LIKE 'operator%', '; ' || (SELECT advice FROM launches), ''), 'this format holds no launches')),
  ('lost_kernels', 'warning', 2.0, 'launches whose kernel is not in the trace: it was lost, or the device was not recorded when it ran',
   'sums and counts of kernels are too small, and vary; record fewer steps at once, or raise the buffers of the profiler'),
  ('repeated', 'warning', 1.0, 'kernel time of kernels that are there twice, with the same name, start, duration, stream and launch',
   'the trace holds its events more than once: sums and counts are too large'),
  ('clock_order', 'warning', 1.0, 'kernel time that starts before its launching call: the clocks of host and device differ',
   'launch delays and idle causes of this trace are unreliable'),
  ('names_out_of_step', 'warning', 0.01,
   'kernel time of graph replays under the name of another kernel: durations fit positions in the replay, not names',
   'times by step and layer are reliable, by kernel or class they are not; record again, or without graphs'),
  ('host_bound', 'warning', 30.0,
   'host bound: from the first kernel (of all steps, if there are any) to the last ' || (SELECT printf('%.0f', iif(m.share < 100, min(m.share, 99), 100)) FROM temp.coverage m WHERE m.code = 'idle') ||
     ' % idle; this share of that time the devices wait for work that was not launched when they fell idle',
   'trace-query gaps shows what is recorded of the host' || iif(EXISTS (SELECT 1 FROM packed_block WHERE event_table = 'python_call'),
     '; recording python stacks slows it, too', iif((SELECT can FROM stacks), '; record python stacks to see its code', ''))),
  ('unknown_duration', 'warning', 0.0001, 'kernels without a usable duration', 'sums leave them out'),
  ('graph_collapsed', 'info', 1.0, 'kernel time launched by graph replays: operator and stack are those of the replay',
   'use kernels, ops or layers; profile once without graphs to see operators'),
  ('no_operator', 'info', 5.0, 'kernel time without an operator',
   CASE (SELECT m.code FROM temp.coverage m WHERE m.code GLOB 'no_operator_*' ORDER BY m.share DESC, m.code LIMIT 1)
     WHEN 'no_operator_graph' THEN 'graph replays name no operators' ||
       iif((SELECT can FROM graphs), ': --capture TRACE takes them from the capture or a run without graphs', '')
     WHEN 'no_operator_launch' THEN iif((SELECT can FROM launches), 'their launches are ' || (SELECT state || ': ' || advice FROM launches),
       'this format holds no operators')
     ELSE iif(EXISTS (SELECT 1 FROM cpu_op), 'launched ' || (SELECT words FROM launched WHERE what = 'no_operator') ||
                iif((SELECT words FROM launched WHERE what = 'no_operator') LIKE '%outside%', (SELECT iif(can, ': ' || how || ' to see where', '') FROM stacks), ''),
              iif((SELECT can FROM stacks), 'record CPU activities with the profiler',
                'this recording names no operators')) END),
  ('no_stack', 'info', 5.0, 'kernel time without a Python stack',
   CASE WHEN EXISTS (SELECT 1 FROM meta WHERE key = 'ingest_options' AND value LIKE '%stacks=no%')
        THEN 'ingest without --no-stacks'
        WHEN EXISTS (SELECT 1 FROM packed_block WHERE event_table = 'python_call') THEN
          (SELECT 'launched ' || words || iif(words LIKE '%graph%' AND (SELECT can FROM graphs), '; --capture TRACE provides stacks for graph replays', '')
           FROM launched WHERE what = 'no_stack')
        WHEN (SELECT can FROM stacks) THEN (SELECT how FROM stacks)
        ELSE 'this format holds no Python stacks' END),
  ('no_step', 'info', 5.0, 'kernel time outside of steps', 'steps come from annotations; --step-regex selects yours'),
  ('no_layer', 'info', 20.0, 'kernel time in no layer', 'trace-query layers says what was found, and why no more')),
-- Of which the sample is a sentence: what the trace is instead, and what to record.
no_device(kind) AS (VALUES ('no_events'), ('no_device_events'), ('foreign_format')),
issues(code, severity, share, count, finding, suggestion) AS (
  SELECT i.kind, i.severity, NULL, i.count, iif(i.kind IN (SELECT kind FROM no_device) AND i.sample > '', i.sample, coalesce(w.sentence, i.kind)
         || coalesce(', first at byte ' || i.offset, '') || coalesce('; the first: ' || nullif(i.sample, ''), '')),
         iif(i.kind IN (SELECT kind FROM no_device) AND EXISTS (SELECT 1 FROM slice), (SELECT printf('%,d', count(*)) || iif(count(*) = 1, ' other event is', ' other events are') FROM slice) ||
             ' in the table slice: trace-query sql', 'trace-query issues lists them all')
  FROM issue i LEFT JOIN temp.issue_words w ON w.kind = i.kind WHERE i.severity <> 'info'),
found AS (
  SELECT r.code, r.severity, m.share, m.count, r.finding,
         iif(r.code IN ('no_launch', 'no_operator', 'no_stack', 'no_step') AND (SELECT value FROM cut),
             'the missing part of the trace may tell it', r.suggestion) AS suggestion
  FROM rule r JOIN temp.coverage m ON m.code = r.code
  WHERE (m.share >= r.least AND (r.code <> 'lost_kernels' OR (SELECT share < 1 FROM temp.coverage WHERE code = 'repeated'))) OR (m.share IS NULL AND m.count > 0 AND r.code = 'unknown_duration')
  UNION ALL SELECT code, severity, share, count, finding, suggestion FROM issues
  UNION ALL SELECT 'truncated', 'data_loss', NULL, NULL, 'the end of the trace is missing',
    -- A profile of XLA breaks off between its planes, not in time.
    iif((SELECT value FROM meta WHERE key = 'format') = 'xplane', 'record it again', 'record it again, or select the intact part with --to')
    WHERE (SELECT value FROM cut)
  UNION ALL SELECT 'no_kernels', 'warning', NULL, NULL, iif((SELECT value FROM cut), 'what is left of the trace has no kernels', 'the trace has no kernels'),
    iif((SELECT value FROM cut), 'they may be in the part that is missing', 'record device activities with the profiler') WHERE NOT EXISTS (SELECT 1 FROM kernel)
    AND NOT EXISTS (SELECT 1 FROM issue i JOIN no_device d ON d.kind = i.kind))
SELECT severity, code, share, count, finding, suggestion
FROM found
ORDER BY CASE severity WHEN 'data_loss' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END, share IS NULL, share DESC, code;
