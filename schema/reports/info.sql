-- Facts about a trace by section, each with its unit. Sums come from meta and counts from the largest id, so that a
-- longer trace does not take longer. Architecture, layers and the coverage of classes and layers come from a pass over
-- the kernels (tools/trace_query/commands/info.cc).
-- column: section | Section | text |  | 6         | what the fact is about
-- column: item    | Item    | text |  | 9         | the fact
-- column: value   | Value   |      |  | 8 wrapped | its value
-- column: unit    | Unit    | text |  | 3         | unit of the value
WITH
m AS (SELECT key, value FROM meta),
number AS (SELECT key, CAST(value AS INTEGER) AS value FROM meta),
distributed AS (
  SELECT CASE WHEN json_valid(value) THEN value END AS info FROM meta WHERE key = 'trace.distributedInfo'),
-- The best description of a device without a name: that of the devices the trace describes, if they agree.
described AS (
  SELECT count(*) AS n, iif(count(name) = count(*) AND count(DISTINCT name) = 1, max(name), NULL) AS name
  FROM device WHERE properties IS NOT NULL),
cover AS (
  SELECT (SELECT value FROM number WHERE key = 'kernels') AS n,
         (SELECT value FROM number WHERE key = 'kernel_ns') AS total),
shares(place, item, meta_key) AS (
  VALUES (60, 'kernel time with a launch', 'kernel_ns_with_launch'),
         (61, 'kernel time with an operator', 'kernel_ns_with_operator'),
         (62, 'kernel time with a python stack', 'kernel_ns_with_stack'),
         (63, 'kernel time in a step', 'kernel_ns_with_step')),
facts(place, section, item, value, unit) AS (
  SELECT 9, 'trace', 'without a device', min(sample), 'text' FROM issue
    WHERE kind IN ('no_events', 'no_device_events', 'foreign_format')
  UNION ALL SELECT 10, 'trace', 'source', (SELECT value FROM m WHERE key = 'source_path'), 'text'
  UNION ALL SELECT 11, 'trace', 'size', (SELECT value FROM number WHERE key = 'source_size'), 'bytes'
  UNION ALL SELECT 12, 'trace', 'format', (SELECT value FROM m WHERE key = 'format'), 'text'
  UNION ALL SELECT 13, 'trace', 'vendor', (SELECT value FROM m WHERE key = 'vendor'), 'text'
  UNION ALL SELECT 14, 'trace', 'complete',
    CASE (SELECT value FROM m WHERE key = 'complete') WHEN '1' THEN 'yes' ELSE 'no: the trace is cut short' END, 'text'
  UNION ALL SELECT 15, 'trace', substr(key, 7), CASE WHEN json_valid(value) THEN json_extract(value, '$') ELSE value END,
    'text' FROM m WHERE key IN ('trace.traceName', 'trace.schemaVersion', 'trace.record_shapes', 'trace.with_stack',
                                'trace.cuda_runtime_version', 'trace.cuda_driver_version', 'trace.hip_runtime_version',
                                'trace.hip_driver_version', 'trace.displayTimeUnit')
  UNION ALL SELECT 15, 'trace', 'tables not read', group_concat(t.value, ', '), 'text' FROM m, json_each(iif(json_valid(m.value), m.value, '[]')) t
    WHERE m.key = 'trace.tables_not_read' AND NOT (t.value LIKE '%INFO%' OR t.value LIKE 'ENUM%' OR t.value LIKE 'META_DATA%'
      OR t.value LIKE 'ANALYSIS%' OR t.value LIKE 'NVTX_PAYLOAD%' OR t.value = 'ProcessStreams')  -- these describe others
  UNION ALL SELECT 16, 'trace', 'rank', 
    iif(s.value LIKE 'file name: %', r.value || ' (' || s.value || ')', CAST(r.value AS INTEGER)), 'text'
    FROM m r JOIN m s ON s.key = 'rank_source' WHERE r.key = 'rank'
  UNION ALL SELECT 17, 'trace', 'world size', json_extract(info, '$.world_size'), 'text' FROM distributed
  UNION ALL SELECT 18, 'trace', 'backend', json_extract(info, '$.backend'), 'text' FROM distributed
  UNION ALL SELECT 19, 'trace', 'begins at', CASE WHEN u.value = 'cycle' THEN n.value || ' cycles' ELSE n.value END,
    CASE WHEN u.value = 'cycle' THEN 'text' ELSE 'ns since epoch' END
    FROM number n LEFT JOIN m u ON u.key = 'time_unit' WHERE n.key = 'base_time_ns'
  UNION ALL SELECT 20, 'device', coalesce('device ' || d.ordinal, 'device'),
    coalesce(d.name || ' (', '') || iif(d.vendor = 'unknown', 'vendor unknown', d.vendor) || coalesce(', ' || d.sm_count || ' multiprocessors', '')
    || coalesce(', compute ' || d.compute_capability, '') || coalesce(', ' || (d.memory_bytes / 1000000000) || ' GB', '')
    || CASE WHEN d.name IS NOT NULL THEN ')'
            WHEN d.properties IS NOT NULL THEN ', not named by the trace'
            WHEN x.n = 0 THEN ', not described by the trace'
            ELSE ', not described by the trace (it lists ' || x.n || coalesce(' x ' || x.name, ' others') || ')' END,
    'text' FROM device d, described x WHERE d.used = 1
  UNION ALL SELECT 21, 'device', 'described but unused', count(*), 'count' FROM device WHERE used = 0 HAVING count(*) > 0
  UNION ALL SELECT 30, 'events', 'read', (SELECT value FROM number WHERE key = 'events_read'), 'count'
  UNION ALL SELECT 31, 'events', 'stored', (SELECT value FROM number WHERE key = 'events_stored'), 'count'
  UNION ALL SELECT 32, 'events', 'used in others', (SELECT value FROM number WHERE key = 'events_used'), 'count'
  UNION ALL SELECT 33, 'events',
    iif(EXISTS (SELECT 1 FROM number WHERE key = 'events_used'), 'skipped', 'used in others or skipped'), (SELECT value FROM number WHERE key = 'events_skipped')
    - coalesce((SELECT value FROM number WHERE key = 'events_used'), 0), 'count'
  UNION ALL SELECT 34, 'events', 'conservation',
    iif(total(read <> stored + skipped) = 0, 'holds: read = stored + used in others + skipped',
        'BROKEN: read is not stored + used in others + skipped'),
    'text' FROM event_count
  UNION ALL SELECT 40, 'content', 'first to last kernel start',
    (SELECT ts FROM kernel ORDER BY id DESC LIMIT 1) - (SELECT ts FROM kernel ORDER BY id LIMIT 1), 'ns'
  UNION ALL SELECT 41, 'content', 'kernels', n, 'count' FROM cover
  UNION ALL SELECT 42, 'content', 'kernel time', total, 'ns' FROM cover WHERE n > 0
  UNION ALL SELECT 43, 'content', 'distinct kernel names', (SELECT count(*) FROM kernel_name_sum), 'count'
  UNION ALL SELECT 44, 'content', 'copies and fills', (SELECT coalesce(max(id), 0) FROM memory_op), 'count'
  UNION ALL SELECT 45, 'content', 'runtime calls', (SELECT coalesce(max(id), 0) FROM runtime_call), 'count'
  UNION ALL SELECT 46, 'content', 'cpu operators', (SELECT coalesce(max(id), 0) FROM cpu_op), 'count'
  UNION ALL SELECT 47, 'content', 'python calls', (SELECT coalesce(sum(n), 0) FROM packed_block WHERE event_table = 'python_call'), 'count'
  UNION ALL SELECT 48, 'content', 'annotations', (SELECT coalesce(max(id), 0) FROM annotation), 'count'
  UNION ALL SELECT 49, 'content', 'other slices', (SELECT coalesce(max(id), 0) FROM slice), 'count'
  UNION ALL SELECT 50, 'steps', kind, count(*), 'count' FROM step GROUP BY kind
  UNION ALL SELECT 51, 'steps', 'none', 'no annotation names a step', 'text' WHERE NOT EXISTS (SELECT 1 FROM step)
  UNION ALL SELECT s.place, 'coverage', s.item, 100.0 * n.value / nullif(c.total, 0), 'percent'
    FROM shares s JOIN number n ON n.key = s.meta_key, cover c
  UNION ALL SELECT 64, 'coverage', 'kernels without a launch',
    n - (SELECT value FROM number WHERE key = 'kernels_with_launch'), 'count' FROM cover WHERE n > 0
  UNION ALL SELECT 70, 'issues', kind || ' (' || severity || ')', count, 'count' FROM issue
  UNION ALL SELECT 71, 'issues', 'none', 'nothing was wrong with the trace', 'text' WHERE NOT EXISTS (SELECT 1 FROM issue)
  UNION ALL SELECT 80, 'index', 'made by', 'trace-ingest ' || value, 'text' FROM m WHERE key = 'tool_version'
  UNION ALL SELECT 81, 'index', 'schema version', value, 'text' FROM m WHERE key = 'schema_version'
  UNION ALL SELECT 82, 'index', 'options', value, 'text' FROM m WHERE key = 'ingest_options'
  UNION ALL SELECT 83, 'index', 'source hash', value, 'text' FROM m WHERE key = 'source_hash')
SELECT section, item, value, unit FROM facts WHERE value IS NOT NULL ORDER BY place, item;
