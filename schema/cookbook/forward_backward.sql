-- How does the time of training split into forward, backward and optimizer, by operation class?
SELECT op, sum(total) FILTER (WHERE pass = 'forward') AS forward, sum(total) FILTER (WHERE pass = 'backward') AS backward,
       sum(total) FILTER (WHERE pass = 'optimizer') AS optimizer,
       sum(total) FILTER (WHERE pass IS NULL) AS no_pass, sum(total) AS total
FROM (SELECT op, pass, sum(dur) AS total FROM kernels GROUP BY op, pass) GROUP BY op ORDER BY total DESC, op;
