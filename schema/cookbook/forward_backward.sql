-- How does the time of training split into forward, backward and optimizer, by operation class?
SELECT op, sum(total) FILTER (WHERE pass = 'forward') AS forward_ns, sum(total) FILTER (WHERE pass = 'backward') AS backward_ns,
       sum(total) FILTER (WHERE pass = 'optimizer') AS optimizer_ns,
       sum(total) FILTER (WHERE pass IS NULL) AS no_pass_ns, sum(total) AS total_ns
FROM (SELECT op, pass, sum(dur) AS total FROM kernels GROUP BY op, pass) GROUP BY op ORDER BY total_ns DESC, op;
