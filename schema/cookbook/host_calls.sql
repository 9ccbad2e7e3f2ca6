-- On which runtime calls does the host spend its time?
SELECT t.value AS call, r.kind, count(*) AS n, sum(r.dur) AS total, round(avg(r.dur)) AS mean, max(r.dur) AS longest
FROM runtime_call r JOIN string t ON t.id = r.name_id GROUP BY r.name_id, r.kind ORDER BY total DESC, call;
