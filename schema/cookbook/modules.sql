-- Which modules of the model take the most GPU time?
-- The innermost nn.Module around each launch, all instances of a class together; needs Python stacks.
-- :top = 20, how many classes
SELECT rtrim(rtrim(module, '0123456789'), '_') AS class, count(*) AS instances, sum(n) AS n, sum(total) AS total_ns
FROM (SELECT module, count(*) AS n, sum(dur) AS total FROM kernels WHERE module IS NOT NULL GROUP BY module)
GROUP BY 1 ORDER BY total_ns DESC, 1 LIMIT :top;
