-- Which sequences of kernels repeat, and would be worth fusing?
-- :top = 20, how many sequences
SELECT sequence, n, total, min, max FROM sequences ORDER BY total DESC, sequence LIMIT :top;
