-- How much GPU time is in each annotation of the user?
-- The innermost annotation around each launch.
-- :top = 20, how many annotations
SELECT annotation, count(*) AS n, sum(dur) AS total_ns FROM kernels GROUP BY annotation ORDER BY total_ns DESC, annotation LIMIT :top;
