-- Streams with their kernels. All of the trace, in the order of their work.
-- command: whole | kernels and their time by stream | no kernel ran
-- column: total_time | Total Time | ns    | sum   | 5 | sum of the durations of the stream's kernels
-- column: instances  | Instances  | count | sum   | 4 | number of kernels
-- column: device     | Device     |       |       | 6 | ordinal of the device
-- column: stream     | Stream     |       | label |   | number of the stream
SELECT sum(dur), count(*), device, stream FROM kernels GROUP BY device, stream ORDER BY sum(dur) DESC, device, stream;
