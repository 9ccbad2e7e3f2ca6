-- How long the selected steps, or the trace, would be if some durations were others, all else as it is: releases, the host between calls.
-- column: what        | What If      | text    | label | 9 | operation class, kernel name, comm, launch (delays), host
-- column: factor      | Factor       |         |       | 8 | of its durations
-- column: length      | Length       | ns      |       | 5 | as it was
-- column: new_length  | New Length   | ns      |       | 9 | as it would be
-- column: saving      | Saving       | ns      |       | 8 | by how much less
-- column: saving_pct  | Saving (%)   | percent |       | 8 | the same as a share
-- column: certainty   | Certainty    | text    |       | 7 | by the recorded releases; inferred: the path rests, in part, on what is not recorded; at least: a delay that matters was never observed, and counts as none
-- column: floor       | Floor        | ns      |       | 4 | with no device work at all; no kernel can bring more
SELECT what, factor, length, new_length, saving, 100.0 * saving / nullif(length, 0),
       iif(is_lower_bound, 'at least', 'by the releases'), floor
FROM temp.path_what_if;
