-- The names of events: id, text.
SELECT id, value FROM string WHERE id IN (SELECT name_id FROM slice UNION SELECT name_id FROM instant);
