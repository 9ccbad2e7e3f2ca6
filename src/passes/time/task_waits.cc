#include "passes/time/task_waits.h"

#include "base/time_cover.h"
#include "sql/database.h"

namespace tracedb {

TaskWaits task_waits(const Index& index, std::int64_t from, std::int64_t to) {
  Statement tasks(
      index.database(),
      "SELECT s.ts, s.ts + ifnull(s.dur, 0), n.value GLOB 'Notify?Wait', n.value GLOB 'Notify*' FROM slice s "
      "JOIN string n ON n.id = s.name_id WHERE s.thread_id IN (SELECT id FROM thread WHERE name GLOB 'Plane "
      "*') ORDER BY s.ts");
  TimeCover moving, moving_or_waiting;
  bool any = false;
  while (tasks.step()) {
    any = true;
    const std::int64_t begin = tasks.int64(0), end = tasks.int64(1);
    if (tasks.int64(3) == 0) moving.add(begin, end);
    if (tasks.int64(3) == 0 || tasks.int64(2) != 0) moving_or_waiting.add(begin, end);
  }
  TaskWaits out;
  if (!any) return out;
  Statement collectives(index.database(),
                        "SELECT k.ts, k.ts + k.dur FROM kernel k JOIN collective c ON c.kernel_id = k.id WHERE k.dur > "
                        "0 AND k.ts >= ? AND k.ts < ?");
  collectives.bind(1, from);
  collectives.bind(2, to);
  while (collectives.step()) {
    const std::int64_t begin = collectives.int64(0), end = collectives.int64(1);
    const std::int64_t all = moving_or_waiting.covered(begin, end);
    if (all == 0) continue;
    out.time += end - begin;
    out.waiting += all - moving.covered(begin, end);
  }
  return out;
}

}  // namespace tracedb
