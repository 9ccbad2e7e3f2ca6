-- Which kernels make the slowest step of a phase slower than its fastest?
-- Nothing where the phase has one step only.
-- :phase = decode, kind of step; :top = 20, how many names
WITH spans AS MATERIALIZED (
  SELECT step, gpu_span FROM step_figures WHERE phase = :phase AND step IS NOT NULL AND gpu_span IS NOT NULL),
slow AS MATERIALIZED (SELECT step FROM spans ORDER BY gpu_span DESC, step LIMIT 1),
fast AS MATERIALIZED (SELECT step FROM spans ORDER BY gpu_span, step DESC LIMIT 1)
SELECT short_name, (SELECT step FROM slow) AS slow_step, (SELECT step FROM fast) AS fast_step,
       count(*) FILTER (WHERE step = (SELECT step FROM slow)) AS n_slow,
       count(*) FILTER (WHERE step = (SELECT step FROM fast)) AS n_fast,
       sum(iif(step = (SELECT step FROM slow), dur, -dur)) AS longer_ns
FROM kernels WHERE step IN (SELECT step FROM slow UNION SELECT step FROM fast)
               AND (SELECT step FROM slow) <> (SELECT step FROM fast)
GROUP BY short_name ORDER BY longer_ns DESC, short_name LIMIT :top;
