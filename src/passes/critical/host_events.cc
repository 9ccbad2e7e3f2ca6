#include "passes/critical/host_events.h"

#include <algorithm>
#include <tuple>

#include "base/unknown.h"

namespace tracedb {

HostEventReader::HostEventReader(const Index& index, const EventTables& events, std::span<const HostSource> sources)
    : heads_(sources.size()) {
  for (const HostSource source : sources) {
    Table& table = tables_.emplace_back(Table{{}, {}, {}, {}, source});
    if (source == HostSource::kPython) {
      python_.emplace(index.database(), "python_call", packed_table("python_call")->columns);
    } else {
      const EventColumns& columns = source == HostSource::kCall       ? events.calls
                                    : source == HostSource::kOperator ? events.operators
                                                                      : events.annotations;
      columns.read({"ts", "dur", "thread_id", "name_id"});
      table = {columns.int64s("ts"), columns.int64s("dur"), columns.ids("thread_id"), columns.ids("name_id"), source};
    }
    find_head(tables_.size() - 1);
  }
}

void HostEventReader::find_head(std::size_t table) {
  Table& one = tables_[table];
  if (one.source == HostSource::kPython && one.at == one.ts.size() && python_->next())
    one = {python_->numbers(0), python_->numbers(1), python_->ids(2), python_->ids(3), one.source};
  heads_[table] = one.at < one.ts.size() ? one.ts[one.at] : kNone;
}

void HostEventReader::read_next() {
  together_.clear();
  given_ = 0;
  while (together_.empty()) {
    const std::int64_t first = std::ranges::min(heads_);
    if (first == kNone) return;
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      Table& table = tables_[i];
      for (; heads_[i] == first; ++table.at, find_head(i)) {
        const std::uint32_t thread = table.thread[table.at];
        // An annotation of thread 0 is on a stream.
        const bool on_stream = thread == 0 && table.source != HostSource::kCall && table.source != HostSource::kPython;
        const std::int64_t end = saturating_add(first, duration_or_zero(table.dur[table.at]));
        if (!on_stream) together_.push_back({first, end, thread, table.what[table.at], table.source});
      }
    }
  }
  if (together_.size() > 1) {
    std::ranges::stable_sort(together_, [](const HostEvent& a, const HostEvent& b) {
      return std::tuple(b.end, a.source) < std::tuple(a.end, b.source);
    });
  }
}

}  // namespace tracedb
