-- On which runtime calls does the host spend its time?
SELECT t.value AS call, r.kind, count(*) AS n, sum(r.dur) AS total_ns, round(avg(r.dur)) AS mean_ns, max(r.dur) AS longest_ns
FROM runtime_call r JOIN string t ON t.id = r.name_id GROUP BY r.name_id, r.kind ORDER BY total_ns DESC, call;
