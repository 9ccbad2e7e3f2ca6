-- Work of operators by their shapes, against the peaks of the device. FLOPs count a multiply-add as 2; bytes are what must be
-- moved at least. Roof: the longer of FLOPs / peak and bytes / bandwidth. % of roof: roof by busy; above 105 % the data
-- were in a cache, or peak or shape are not what they seem. Bound names the limit that the roof has, not a cause:
-- far below its roof an operator is bound by neither.
-- column: name   | Operator | text  | label | 7 | of the operator; [not modelled]: device work without a known one
-- column: family | Family   | text  |       | 6 | gemm, attention, convolution, moe, norm, elementwise, copy, reduce, gather, generated
-- column: shape  | Shape    | text  |       | 5 | dimensions of its inputs
-- column: types  | Types    | text  |       | 2 | of its inputs
-- column: calls  | Calls    | count | sum   | 5 | calls with device work of their own
-- column: busy      | Busy       | ns      | sum  | 8 | time during which a call's device work ran, summed over the calls
-- column: busy_pct  | Busy (%)   | percent | sum  | 5 | busy as a share of that of all selected device work
-- column: flops     | FLOPs      | count   |      | 2 | of the calls whose device work is all selected and timed; empty: not known
-- column: bytes     | Bytes      | bytes   |      | 2 | that these calls must read and write at least; empty: not known
-- column: tflops    | TFLOP/s    |         |      | 6 | FLOPs by the time of these calls
-- column: slowest_tflops | Slowest | | | | TFLOP/s of the slowest call
-- column: fastest_tflops | Fastest | | | | TFLOP/s of the fastest call
-- column: deviation_tflops | Deviation | | | | standard deviation of the calls' TFLOP/s; empty: of one call, of several sets of arguments, or where a call's work took no time
-- column: gb_per_s  | GB/s       | GB/s    |      | 5 | bytes by the time of these calls
-- column: intensity | FLOPs/Byte | ratio   |      | 2 | FLOPs by bytes
-- column: peak_pct  | Peak (%)   | percent |      | 7 | of the device's peak rate for this type; empty: not known
-- column: roof_pct  | Roof (%)   | percent |      | 6 | the least time by the peaks as a share of their time; above 105: see mark
-- column: mark      | !          | text    |      | 6 | !: above 105 % of the roof: a peak or a shape is not what it seems, or the data were in a cache
-- column: bound     | Bound      | text    |      | 7 | compute or memory: the longer of the two times of the roof; launch: its calls waited longer for their launches than they ran, or are short and far from it
-- column: missing | Not Known | text |  | 2 | why a figure is not known
WITH
work AS (
  SELECT *, all_flops / nullif(peak_tflops, 0) / 1000 AS compute, all_bytes / nullif(peak_gb_s, 0) AS moving
  FROM temp.operator_work WHERE launching > 0 OR name = '[not modelled]'),
figures AS (
  SELECT name, family, shape, types,
         sum(launching) AS launching, sum(busy) AS busy, sum(rated_busy) AS rated, sum(waiting) AS waiting, sum(short) AS short,
         iif(count(all_flops) = sum(rated IS NOT 0), sum(all_flops), NULL) AS flops,
         iif(count(all_bytes) = sum(rated IS NOT 0), sum(all_bytes), NULL) AS bytes,
         iif(count(compute) = sum(rated IS NOT 0), sum(compute), NULL) AS compute,
         iif(count(moving) = sum(rated IS NOT 0), sum(moving), NULL) AS moving,
         min(flops / 1000.0 / nullif(busy_max, 0)) AS slowest, max(flops / 1000.0 / nullif(busy_min, 0)) AS fastest,
         iif(count(*) = 1, max(flops * rate_std) / 1000.0, NULL) AS deviation,
         max(missing) AS missing
  FROM work
  GROUP BY name, family, shape, types, flops, bytes),
roofs AS (SELECT *, max(compute, moving) AS roof FROM figures)
SELECT name, family, shape, types, launching, busy,
       100.0 * busy / nullif((SELECT sum(busy) FROM work), 0), flops, bytes,
       flops / 1000.0 / nullif(rated, 0), slowest, fastest, deviation, 1.0 * bytes / nullif(rated, 0), 1.0 * flops / nullif(bytes, 0),
       100.0 * compute / nullif(rated, 0), 100.0 * roof / nullif(rated, 0),
       iif(100.0 * roof / nullif(rated, 0) > 105, '!', NULL),
       CASE WHEN 2 * waiting > rated OR (2 * short > rated AND roof < rated / 4.0) THEN 'launch'
            WHEN compute > moving THEN 'compute'
            WHEN moving >= compute THEN 'memory' END, missing
FROM roofs
ORDER BY busy DESC, 1, 2, 3, 4, 5, 6;
