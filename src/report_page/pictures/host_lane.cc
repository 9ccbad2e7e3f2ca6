#include "report_page/pictures/host_lane.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/saturating.h"
#include "base/unknown.h"
#include "trace/python_frame.h"

namespace tracedb {
namespace {

constexpr std::int64_t kMostRead = 200'000;  // rows around the step
constexpr std::int64_t kReadBefore = 2'000;  // what began earlier is open all the time, and tells nothing
constexpr std::size_t kMostMarks = 500;
constexpr std::int64_t kLeastParts = 400;  // of the span: shorter ones are not seen
constexpr std::int64_t kMostDepth = 14;

struct HostTable {
  const char* table;
  const char* count;
  const char* time_of_row;  // ?1: its id
  const char* rows;         // ?1, ?2: ids; ?3: thread
  const char* name;         // ?1: of the fourth column of `rows`
};
constexpr HostTable kPythonCalls = {
    "python_call", "SELECT max(id) FROM python_call", "SELECT ts FROM python_call WHERE id = ?1",
    "SELECT ts, dur, stack_id FROM python_call WHERE id BETWEEN ?1 AND ?2 AND thread_id = ?3",
    "SELECT s.value FROM stack k JOIN frame f ON f.id = k.frame_id JOIN string s ON s.id = f.name_id WHERE k.id = ?1"};
constexpr HostTable kOperators = {"cpu_op", "SELECT max(id) FROM cpu_op", "SELECT ts FROM cpu_op WHERE id = ?1",
                                  "SELECT ts, dur, name_id FROM cpu_op WHERE id BETWEEN ?1 AND ?2 AND thread_id = ?3",
                                  "SELECT value FROM string WHERE id = ?1"};

// The first id, from 1, whose time is not before `ts`; rows are in order of time.
std::int64_t first_at(Database& database, const HostTable& table, std::int64_t count, std::int64_t ts) {
  Statement row(database, table.time_of_row);
  std::int64_t low = 1, high = count + 1;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    row.bind(1, middle);
    const bool before = row.step() && row.int64(0) < ts;
    row.reset();
    (before ? low : high) = before ? middle + 1 : middle;
  }
  return low;
}

// The thread that launched the first kernel of a step for which that is known; 0: none.
std::uint32_t launching_thread(const Index& index, const ComparedTrace& trace, const DeviceStep& step) {
  const auto launch = trace.events.kernels.ids("launch_id");
  Statement call(index.database(), "SELECT thread_id FROM runtime_call WHERE id = ?1");
  for (std::size_t i = step.begin; i < step.end; ++i) {
    const std::uint32_t id = launch[trace.work.kernel_rows[i]];
    if (id == 0) continue;
    call.bind(1, static_cast<std::int64_t>(id));
    if (call.step()) return call.id(0);
    call.reset();
  }
  return 0;
}

struct OpenCall {
  std::int64_t ts = 0, end = 0;
  std::int64_t label = 0;
};

std::vector<OpenCall> calls_during(Database& database, const HostTable& table, const DeviceStep& step,
                                   std::uint32_t thread) {
  std::vector<OpenCall> out;
  const std::int64_t count = database.query_int64(table.count).value_or(0);
  const std::int64_t end = saturating_add(step.first, step.span);
  const std::int64_t first = std::max<std::int64_t>(first_at(database, table, count, step.first) - kReadBefore, 1);
  const std::int64_t last = std::min(first_at(database, table, count, end), first + kMostRead);
  Statement rows(database, table.rows);
  rows.bind(1, first).bind(2, last).bind(3, static_cast<std::int64_t>(thread));
  while (rows.step()) {
    if (rows.is_null(1)) continue;
    const std::int64_t ts = rows.int64(0), until = saturating_add(ts, duration_or_zero(rows.int64(1)));
    if (until > step.first && ts < end) out.push_back({ts, until, rows.int64(2)});
  }
  return out;
}

// In order of time, an outer one before what it calls.
std::vector<OpenCall> longest(std::vector<OpenCall> calls, std::int64_t span) {
  std::erase_if(calls, [&](const OpenCall& call) { return call.end - call.ts < span / kLeastParts; });
  if (calls.size() > kMostMarks) {
    std::stable_sort(calls.begin(), calls.end(),
                     [](const OpenCall& x, const OpenCall& y) { return x.end - x.ts > y.end - y.ts; });
    calls.resize(kMostMarks);
  }
  std::stable_sort(calls.begin(), calls.end(), [](const OpenCall& x, const OpenCall& y) {
    return std::pair(x.ts, -x.end) < std::pair(y.ts, -y.end);
  });
  return calls;
}

// Calls that are open during the whole step only say how the program came here: the innermost two of them do.
void drop_outermost(std::vector<OpenCall>& calls, const DeviceStep& step) {
  constexpr std::ptrdiff_t kEnough = 2;
  const auto is_open = [&](const OpenCall& call) {
    return call.ts <= step.first && call.end >= saturating_add(step.first, step.span);
  };
  const auto inner = std::find_if_not(calls.begin(), calls.end(), is_open);
  if (inner - calls.begin() > kEnough) calls.erase(calls.begin(), inner - kEnough);
}

std::string name_of(Database& database, const HostTable& table, std::int64_t label) {
  Statement row(database, table.name);
  row.bind(1, label);
  return row.step() ? short_frame(row.text(0)) : std::string("?");
}

}  // namespace

std::vector<HostBar> host_lane(const Index& index, const ComparedTrace& trace, const DeviceStep& step) {
  std::vector<HostBar> out;
  const std::uint32_t thread = launching_thread(index, trace, step);
  if (thread == 0 || step.span <= 0) return out;
  Database& database = index.database();
  for (const HostTable& table : {kPythonCalls, kOperators}) {
    std::vector<std::int64_t> open;  // ends
    std::vector<OpenCall> calls = longest(calls_during(database, table, step, thread), step.span);
    drop_outermost(calls, step);
    for (const OpenCall& call : calls) {
      while (!open.empty() && open.back() <= call.ts) open.pop_back();
      const auto depth = static_cast<std::int64_t>(open.size());
      open.push_back(call.end);
      if (depth >= kMostDepth) continue;
      const std::int64_t begin = std::max(call.ts, step.first);
      const std::int64_t end = std::min(call.end, saturating_add(step.first, step.span));
      out.push_back({depth, begin - step.first, end - begin, name_of(database, table, call.label)});
    }
    if (!out.empty()) break;
  }
  return out;
}

}  // namespace tracedb
