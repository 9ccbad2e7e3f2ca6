-- In which steps do collectives wait for the other ranks?
-- What a collective takes beyond the fastest one of its kind, group, size and phase is taken for waiting: an estimate from
-- one rank alone, of those whose size the trace says; `trace-query ranks` measures it where the traces of all ranks are given.
-- :top = 20, how many steps
WITH fastest AS MATERIALIZED (
  SELECT kernel, group_name, in_elements, phase, min(dur) AS least FROM collectives WHERE in_elements IS NOT NULL
  GROUP BY kernel, group_name, in_elements, phase)
SELECT c.step, c.phase, count(*) AS n, sum(c.dur) AS total_ns, count(f.least) AS sized, sum(c.dur - f.least) AS waiting_ns,
       max(c.dur - f.least) AS longest_wait_ns
FROM collectives c LEFT JOIN fastest f ON f.kernel = c.kernel AND f.group_name IS c.group_name AND f.in_elements = c.in_elements
                                       AND f.phase IS c.phase
GROUP BY c.step, c.phase ORDER BY waiting_ns DESC, total_ns DESC, c.step LIMIT :top;
