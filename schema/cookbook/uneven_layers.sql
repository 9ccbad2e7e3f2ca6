-- Which layers take longer than the usual layer of their stack?
-- in_a_step_ns: the median over the steps that have the layer.
-- :above = 5, percent above the median
SELECT l.stack, l.layer, l.step_time AS in_a_step_ns, u.usual AS usual_ns,
       round(100.0 * (l.step_time - u.usual) / u.usual, 2) AS above_pct
FROM layers l JOIN (SELECT stack, median(step_time) AS usual FROM layers WHERE layer GLOB '[0-9]*' GROUP BY stack) u
     ON u.stack IS l.stack
WHERE l.layer GLOB '[0-9]*' AND l.step_time > u.usual * (1 + :above / 100.0) ORDER BY above_pct DESC, l.position;
