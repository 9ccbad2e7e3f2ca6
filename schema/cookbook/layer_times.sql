-- How much time does each layer of the model take, by operation class?
-- in_a_step_ns: the median over the steps that have the layer.
SELECT stack, layer, op, steps, instances AS n, total_time AS total_ns, step_time AS in_a_step_ns FROM layer_ops ORDER BY position, total_time DESC, op;
