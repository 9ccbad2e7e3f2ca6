-- The critical path by :by: kind, class (operation class of kernels), name, operator, module, step, device. Its parts tile each step, or
-- the trace: what each waited for, back from the end. Inferred: parts that follow from what is not recorded.
-- column: what     | On The Path   | text    | label | 9 | kind of part, or what :by says; [gaps], [host], [copies] where a part has none
-- column: time     | Time          | ns      | sum   | 9 | on the path
-- column: time_pct | Time (%)      | percent | sum   | 8 | share of the path
-- column: parts    | Parts         | count   | sum   | 5 | of the path
-- column: inferred | Inferred      | count   | sum   | 6 | parts that follow from what is not recorded
SELECT coalesce(CASE :by WHEN 'class' THEN class WHEN 'name' THEN name WHEN 'operator' THEN operator WHEN 'module' THEN module
                WHEN 'step' THEN coalesce(CAST(step AS TEXT), '[whole trace]')
                WHEN 'device' THEN (SELECT 'device ' || coalesce(d.ordinal, d.name) FROM device d WHERE d.id = device_id)
                WHEN 'kind' THEN kind END,
                CASE WHEN kind IN ('host', 'host_gap', 'sync_return', 'hand_over') THEN '[host]'
                     WHEN kind IN ('copy', 'fill') THEN '[copies]'
                     WHEN kind LIKE '%\_gap' ESCAPE '\' OR kind LIKE '%\_wait' ESCAPE '\' OR kind = 'launch_delay' THEN '[gaps]'
                     ELSE '[none]' END) AS what,
       sum(time), 100.0 * sum(time) / nullif((SELECT total(time) FROM temp.critical_path_sums), 0), sum(parts), sum(inferred)
FROM temp.critical_path_sums
GROUP BY what
ORDER BY 2 DESC, what;
