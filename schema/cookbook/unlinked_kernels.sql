-- How much of the kernel time cannot be told where it comes from?
SELECT sum(total) AS total_ns, sum(total * no_operator) AS no_operator_ns, sum(total * no_step) AS no_step_ns,
       sum(total * no_pass) AS no_pass_ns, sum(total * (op = 'other')) AS unknown_class_ns
FROM (SELECT op, cpu_op IS NULL AS no_operator, step IS NULL AS no_step, pass IS NULL AS no_pass, sum(dur) AS total
      FROM kernels GROUP BY op, cpu_op, step, pass);
