#include "aie/tile.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "sql/scripts.h"
#include "trace/tile_events.h"

namespace tracedb::aie {
namespace {

std::optional<std::size_t> activity_of(TileEvent event) {
  switch (event) {
    case TileEvent::kLockStall:
      return static_cast<std::size_t>(Activity::kLockStall);
    case TileEvent::kStreamStall:
      return static_cast<std::size_t>(Activity::kStreamStall);
    case TileEvent::kMemoryStall:
      return static_cast<std::size_t>(Activity::kMemoryStall);
    case TileEvent::kCascadeStall:
      return static_cast<std::size_t>(Activity::kCascadeStall);
    case TileEvent::kVector:
      return static_cast<std::size_t>(Activity::kVector);
    default:
      return std::nullopt;
  }
}

struct Name {
  bool starts = false, ends = false;
  std::optional<std::size_t> activity;
};

struct Event {
  Cycles ts;
  std::optional<Cycles> dur;
  bool lone_end;
};

class Tiles {
 public:
  Tiles(Database& database, const Marks& marks) : marks_(marks) {
    read_names(database);
    read_processes(database);
  }

  std::vector<Tile> read(Database& database, Cycles base) {
    Statement rows(database, script("aie/events"));
    while (rows.step()) {
      const auto tile = positions_.find(rows.int64(0));
      if (tile == positions_.end()) continue;
      const auto name = names_.find(rows.int64(1));
      Event event{rows.int64(2) + base, std::nullopt, rows.int64(4) != 0};
      if (!rows.is_null(3)) event.dur = rows.int64(3);
      add(tiles_[tile->second], times_[tile->second], name == names_.end() ? Name() : name->second, event);
    }
    for (std::size_t i = 0; i < tiles_.size(); ++i) finish(tiles_[i], times_[i]);
    return std::move(tiles_);
  }

 private:
  void read_names(Database& database) {
    const auto is_mark = [](const Mark& mark, TileEvent usual, std::string_view name) {
      return mark.name.empty() ? tile_event(name) == usual : mark.name == name;
    };
    Statement rows(database, script("aie/names"));
    while (rows.step()) {
      const std::string_view text = rows.text(1);
      names_[rows.int64(0)] = {is_mark(marks_.start, TileEvent::kKernelStart, text),
                               is_mark(marks_.end, TileEvent::kKernelEnd, text), activity_of(tile_event(text))};
    }
  }

  void read_processes(Database& database) {
    std::vector<std::pair<std::string, std::string>> cores;
    Statement rows(database, script("aie/processes"));
    while (rows.step()) {
      if (!is_core_process(rows.text(1))) continue;
      positions_[rows.int64(0)] = cores.size();
      cores.emplace_back(rows.text(1), rows.text(2));
    }
    std::vector<TileProcess> processes;
    for (const auto& [name, pid] : cores) processes.push_back({name, pid});
    for (std::string& label : tile_labels(processes)) tiles_.emplace_back().name = std::move(label);
    times_.resize(tiles_.size());
  }

  void add(Tile& tile, std::vector<Cycles>& times, const Name& name, const Event& event) const {
    ++tile.events;
    times.push_back(event.ts);
    if (event.dur) times.push_back(event.ts + *event.dur);
    const auto mark = [&](bool at_end, std::vector<Cycles>& marks) {
      if (!at_end && !event.lone_end) marks.push_back(event.ts);
      if (at_end && event.lone_end) marks.push_back(event.ts);
      if (at_end && event.dur) marks.push_back(event.ts + *event.dur);
    };
    if (name.starts) mark(marks_.start.at_end, tile.starts);
    if (name.ends) mark(marks_.end.at_end, tile.ends);
    if (!name.activity) return;
    if (!event.dur) return;
    tile.traced[*name.activity] = true;
    tile.in[*name.activity] += *event.dur;
    if (*name.activity == static_cast<std::size_t>(Activity::kLockStall)) {
      tile.lock_stalls.push_back({event.ts, event.ts + *event.dur});
    }
  }

  static void finish(Tile& tile, std::vector<Cycles>& times) {
    std::sort(tile.starts.begin(), tile.starts.end());
    std::sort(tile.ends.begin(), tile.ends.end());
    std::sort(tile.lock_stalls.begin(), tile.lock_stalls.end(),
              [](const Span& a, const Span& b) { return a.start < b.start; });
    if (times.empty()) return;
    std::sort(times.begin(), times.end());
    tile.window = Span{times.front(), times.back()};
    for (std::size_t i = 1; i < times.size(); ++i) {
      tile.longest_silence = std::max(tile.longest_silence, times[i] - times[i - 1]);
    }
  }

  const Marks& marks_;
  std::unordered_map<std::int64_t, Name> names_;
  std::map<std::int64_t, std::size_t> positions_;  // of cores, by process
  std::vector<Tile> tiles_;
  std::vector<std::vector<Cycles>> times_;  // of all edges, by tile
};

}  // namespace

std::vector<Tile> read_tiles(const Index& index, const Marks& marks) {
  return Tiles(index.database(), marks).read(index.database(), index.meta_int64("base_time_ns").value_or(0));
}

}  // namespace tracedb::aie
