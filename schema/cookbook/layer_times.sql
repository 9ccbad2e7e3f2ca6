-- How much time does each layer of the model take, by operation class?
-- in_a_step: the median over the steps that have the layer, in ns.
SELECT stack, layer, op, steps, n, total, step_time AS in_a_step FROM layer_ops ORDER BY position, total DESC, op;
