#include "compare/memory_peaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace tracedb {
namespace {

bool is_on_host(const MemoryPeak& peak) { return peak.device.starts_with("cpu"); }

// Devices of two vendors are compared by their number: "cuda 0" and "hip 0".
std::string_view place_of(std::string_view device) {
  const std::size_t blank = device.find(' ');
  return blank == std::string_view::npos ? device : device.substr(blank);
}

bool has_one_device(const std::vector<MemoryPeak>& peaks) {
  return std::ranges::count_if(peaks, is_on_host) + 1 == std::ssize(peaks);
}

}  // namespace

std::vector<MemoryPeak> memory_peaks(Database& database) {
  std::vector<MemoryPeak> out;
  if (!database.query_int64("SELECT 1 FROM packed_block WHERE event_table = 'memory_event' LIMIT 1")) return out;
  // What only allocates (aten::empty) says less than who asked it to.
  Statement rows(database, R"sql(
    WITH events AS MATERIALIZED (SELECT id, device, bytes, allocated, ended_by, has_address, cpu_op_id, step FROM temp.memory_events),
    firsts AS (SELECT device, min(id), allocated - bytes AS before, total(NOT has_address) = 0 AS traced FROM events GROUP BY device),
    peaks AS (SELECT device, before, traced, id, step, max(allocated) AS peak FROM events JOIN firsts USING (device) GROUP BY device),
    alive AS (SELECT p.device, e.bytes, e.cpu_op_id FROM peaks p JOIN events e ON e.device = p.device AND e.id <= p.id
              WHERE p.traced AND e.bytes > 0 AND (e.ended_by IS NULL OR e.ended_by > p.id)),
    asked AS (SELECT device, bytes, (
      WITH RECURSIVE up(id, parent_id, name, allocates) AS (
        SELECT c.id, c.parent_id, s.value, s.value GLOB '*empty*' OR s.value GLOB '*resize_*'
        FROM cpu_op c JOIN string s ON s.id = c.name_id WHERE c.id = cpu_op_id
        UNION ALL
        SELECT c.id, c.parent_id, s.value, s.value GLOB '*empty*' OR s.value GLOB '*resize_*'
        FROM up JOIN cpu_op c ON c.id = up.parent_id JOIN string s ON s.id = c.name_id WHERE up.allocates)
      SELECT name FROM up ORDER BY allocates, id DESC LIMIT 1) AS name FROM alive),
    held AS (SELECT device, coalesce(name, '[none]') AS name, CAST(total(bytes) AS INTEGER) AS bytes FROM asked GROUP BY 1, 2),
    rest AS (SELECT p.*, peak - CAST(total(h.bytes) AS INTEGER) AS bytes FROM peaks p LEFT JOIN held h USING (device) GROUP BY device),
    parts AS (
      SELECT * FROM held
      UNION ALL
      SELECT device, CASE WHEN NOT traced THEN '[addresses not recorded]' WHEN bytes > before THEN '[not known]'
                     ELSE '[before the trace]' END, bytes FROM rest WHERE bytes <> 0)
    SELECT device, peak, name, bytes, step FROM peaks JOIN parts USING (device) ORDER BY 2 DESC, 1)sql");
  while (rows.step()) {
    if (out.empty() || out.back().device != rows.text(0))
      out.push_back({std::string(rows.text(0)), rows.int64(1), {}, rows.integer(4)});
    out.back().of_operators.emplace(rows.text(2), rows.int64(3));
  }
  return out;
}

std::vector<MemoryChange> memory_changes(const std::vector<MemoryPeak>& baseline,
                                         const std::vector<MemoryPeak>& candidate) {
  std::vector<MemoryChange> out;
  for (const MemoryPeak& before : baseline) {
    auto after = std::ranges::find(candidate, place_of(before.device),
                                   [](const MemoryPeak& peak) { return place_of(peak.device); });
    // Ranks have one device each, of another number.
    if (after == candidate.end() && !is_on_host(before) && has_one_device(baseline) && has_one_device(candidate))
      after = std::ranges::find_if_not(candidate, is_on_host);
    if (after == candidate.end()) continue;
    const std::string device =
        before.device == after->device ? before.device : fmt::format("{} / {}", before.device, after->device);
    out.push_back({device, "", before.bytes, after->bytes, (before.bytes > after->bytes ? before : *after).step});
    std::map<std::string, MemoryChange, std::less<>> by_operator;
    const auto of = [&](const std::string& name) -> MemoryChange& {
      return by_operator.try_emplace(name, MemoryChange{device, name, 0, 0, {}}).first->second;
    };
    for (const auto& [name, bytes] : before.of_operators) of(name).baseline = bytes;
    for (const auto& [name, bytes] : after->of_operators) of(name).candidate = bytes;
    const auto first = static_cast<std::ptrdiff_t>(out.size());
    for (auto& [name, change] : by_operator) out.push_back(std::move(change));
    std::ranges::stable_sort(out.begin() + first, out.end(), std::ranges::greater{},
                             [](const MemoryChange& change) { return std::abs(change.candidate - change.baseline); });
  }
  return out;
}

}  // namespace tracedb
