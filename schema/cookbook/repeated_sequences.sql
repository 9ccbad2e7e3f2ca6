-- Which sequences of kernels repeat, and would be worth fusing?
-- :top = 20, how many sequences
SELECT sequence, n, total AS total_ns, min AS min_ns, max AS max_ns FROM sequences ORDER BY total DESC, sequence LIMIT :top;
