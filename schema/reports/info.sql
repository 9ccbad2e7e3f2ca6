-- What a trace is: facts by section, each with its unit.
-- column: section | Section | text |
-- column: item    | Item    | text |
-- column: value   | Value   |      |
-- column: unit    | Unit    | text |
WITH
m AS (SELECT key, value FROM meta),
distributed AS (
  SELECT CASE WHEN json_valid(value) THEN value END AS info FROM meta WHERE key = 'trace.distributedInfo'),
events AS (
  SELECT coalesce(sum(read), 0) AS read, coalesce(sum(stored), 0) AS stored, coalesce(sum(skipped), 0) AS skipped
  FROM event_count),
-- One pass over the kernels for every share.
cover AS (
  SELECT count(*) AS n, sum(dur) AS total, max(ts + coalesce(dur, 0)) AS last,
         100.0 / nullif(sum(dur), 0) AS scale,
         total(dur) FILTER (WHERE launch_id IS NOT NULL) AS launch,
         total(dur) FILTER (WHERE cpu_op_id IS NOT NULL) AS operator,
         total(dur) FILTER (WHERE stack_id IS NOT NULL) AS stack,
         total(dur) FILTER (WHERE step_id IS NOT NULL) AS step,
         count(*) FILTER (WHERE launch_id IS NULL) AS without_launch
  FROM kernel),
facts(place, section, item, value, unit) AS (
  SELECT 10, 'trace', 'source', (SELECT value FROM m WHERE key = 'source_path'), 'text'
  UNION ALL SELECT 11, 'trace', 'size', CAST((SELECT value FROM m WHERE key = 'source_size') AS INTEGER), 'bytes'
  UNION ALL SELECT 12, 'trace', 'format', (SELECT value FROM m WHERE key = 'format'), 'text'
  UNION ALL SELECT 13, 'trace', 'vendor', (SELECT value FROM m WHERE key = 'vendor'), 'text'
  UNION ALL SELECT 14, 'trace', 'complete',
    CASE (SELECT value FROM m WHERE key = 'complete') WHEN '1' THEN 'yes' ELSE 'no: the trace is cut short' END, 'text'
  UNION ALL SELECT 15, 'trace', substr(key, 7), CASE WHEN json_valid(value) THEN json_extract(value, '$') ELSE value END,
    'text' FROM m WHERE key IN ('trace.traceName', 'trace.schemaVersion', 'trace.record_shapes', 'trace.with_stack',
                                'trace.cuda_runtime_version', 'trace.cuda_driver_version', 'trace.hip_runtime_version',
                                'trace.hip_driver_version', 'trace.displayTimeUnit')
  UNION ALL SELECT 16, 'trace', 'rank', json_extract(info, '$.rank'), 'text' FROM distributed
  UNION ALL SELECT 17, 'trace', 'world size', json_extract(info, '$.world_size'), 'text' FROM distributed
  UNION ALL SELECT 18, 'trace', 'backend', json_extract(info, '$.backend'), 'text' FROM distributed
  UNION ALL SELECT 19, 'trace', 'begins at', CAST((SELECT value FROM m WHERE key = 'base_time_ns') AS INTEGER), 'ns since epoch'
  UNION ALL SELECT 20, 'device', coalesce('device ' || ordinal, 'device'), coalesce(name, 'name unknown') || ' (' || vendor
    || coalesce(', ' || sm_count || ' multiprocessors', '') || coalesce(', compute ' || compute_capability, '')
    || coalesce(', ' || (memory_bytes / 1000000000) || ' GB', '') || ')', 'text' FROM device WHERE used = 1
  UNION ALL SELECT 21, 'device', 'described but unused', count(*), 'count' FROM device WHERE used = 0 HAVING count(*) > 0
  UNION ALL SELECT 30, 'events', 'read', read, 'count' FROM events
  UNION ALL SELECT 31, 'events', 'stored', stored, 'count' FROM events
  UNION ALL SELECT 32, 'events', 'skipped', skipped, 'count' FROM events
  UNION ALL SELECT 33, 'events', 'conservation',
    iif(read = stored + skipped, 'holds: read = stored + skipped', 'BROKEN: read is not stored + skipped'), 'text' FROM events
  UNION ALL SELECT 40, 'content', 'first kernel to end of last', last - (SELECT ts FROM kernel ORDER BY id LIMIT 1), 'ns'
    FROM cover WHERE n > 0
  UNION ALL SELECT 41, 'content', 'kernels', n, 'count' FROM cover
  UNION ALL SELECT 42, 'content', 'kernel time', total, 'ns' FROM cover WHERE n > 0
  UNION ALL SELECT 43, 'content', 'distinct kernel names', (SELECT count(*) FROM kernel_name_sum), 'count'
  UNION ALL SELECT 44, 'content', 'copies and fills', (SELECT count(*) FROM memory_op), 'count'
  UNION ALL SELECT 45, 'content', 'runtime calls', (SELECT count(*) FROM runtime_call), 'count'
  UNION ALL SELECT 46, 'content', 'cpu operators', (SELECT count(*) FROM cpu_op), 'count'
  UNION ALL SELECT 47, 'content', 'python calls', (SELECT count(*) FROM python_call), 'count'
  UNION ALL SELECT 48, 'content', 'other slices', (SELECT count(*) FROM slice), 'count'
  UNION ALL SELECT 50, 'steps', kind, count(*), 'count' FROM step GROUP BY kind
  UNION ALL SELECT 51, 'steps', 'none', 'no annotation names a step', 'text' WHERE NOT EXISTS (SELECT 1 FROM step)
  UNION ALL SELECT 60, 'coverage', 'kernel time with a launch', launch * scale, 'percent' FROM cover WHERE n > 0
  UNION ALL SELECT 61, 'coverage', 'kernel time with an operator', operator * scale, 'percent' FROM cover WHERE n > 0
  UNION ALL SELECT 62, 'coverage', 'kernel time with a python stack', stack * scale, 'percent' FROM cover WHERE n > 0
  UNION ALL SELECT 63, 'coverage', 'kernel time in a step', step * scale, 'percent' FROM cover WHERE n > 0
  UNION ALL SELECT 64, 'coverage', 'kernels without a launch', without_launch, 'count' FROM cover WHERE n > 0
  UNION ALL SELECT 70, 'issues', kind || ' (' || severity || ')', count, 'count' FROM issue
  UNION ALL SELECT 71, 'issues', 'none', 'nothing was wrong with the trace', 'text' WHERE NOT EXISTS (SELECT 1 FROM issue)
  UNION ALL SELECT 80, 'index', 'made by', 'trace-ingest ' || value, 'text' FROM m WHERE key = 'tool_version'
  UNION ALL SELECT 81, 'index', 'schema version', value, 'text' FROM m WHERE key = 'schema_version'
  UNION ALL SELECT 82, 'index', 'options', value, 'text' FROM m WHERE key = 'ingest_options'
  UNION ALL SELECT 83, 'index', 'source hash', value, 'text' FROM m WHERE key = 'source_hash')
SELECT section, item, value, unit FROM facts WHERE value IS NOT NULL ORDER BY place, item;
