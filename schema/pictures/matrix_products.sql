-- What each operator that multiplies matrices computes for each recorded shape, whether or not it was called so: the ids
-- of its name and shape; batch, m, n and k of (m x k) (k x n); bytes of an element. For the roofline of a report.
WITH
operator(name, first, dimensions) AS (  -- place of the first matrix among the inputs
  VALUES ('aten::mm', 0, 2), ('aten::addmm', 1, 2), ('aten::bmm', 0, 3), ('aten::baddbmm', 1, 3),
         ('aten::_scaled_mm', 0, 2)),
size(type, bytes) AS (
  VALUES ('float', 4), ('double', 8), ('c10::Half', 2), ('c10::BFloat16', 2), ('signed char', 1), ('int', 4),
         ('c10::Float8_e4m3fn', 1), ('c10::Float8_e4m3fnuz', 1), ('c10::Float8_e5m2', 1), ('c10::Float8_e5m2fnuz', 1)),
matrices AS (
  SELECT s.id AS name_id, p.id AS shape_id, o.dimensions,
         json_extract(p.dims, '$[' || o.first || ']') AS a, json_extract(p.dims, '$[' || (o.first + 1) || ']') AS b,
         json_extract(p.types, '$[' || o.first || ']') AS type
  FROM operator o JOIN string s ON s.value = o.name JOIN op_shape p
  WHERE json_valid(p.dims) AND json_valid(p.types) AND json_type(p.dims, '$[' || o.first || ']') = 'array'
    AND json_type(p.dims, '$[' || (o.first + 1) || ']') = 'array')
SELECT name_id, shape_id, iif(dimensions = 3, a ->> '$[0]', 1), a ->> ('$[' || (dimensions - 2) || ']'),
       b ->> ('$[' || (dimensions - 1) || ']'), a ->> ('$[' || (dimensions - 1) || ']'), z.bytes
FROM matrices JOIN size z USING (type)
WHERE json_array_length(a) = dimensions AND json_array_length(b) = dimensions
  AND a ->> ('$[' || (dimensions - 1) || ']') = b ->> ('$[' || (dimensions - 2) || ']')
  AND (dimensions = 2 OR a ->> '$[0]' = b ->> '$[0]');
