-- What the tiles did: process_id, name_id, ts, dur, whether it is the end of an event whose begin is lost.
SELECT process_id, name_id, ts, dur, 0 FROM slice
UNION ALL SELECT process_id, name_id, ts, NULL, 1 FROM instant;
