// What a trace turned into in a TraceStore, as text and bytes that can be compared.
#pragma once

#include <fmt/format.h>

#include <string>
#include <type_traits>
#include <vector>

#include "base/unknown.h"
#include "ingest/store/trace_store.h"
#include "issue_lines.h"

namespace tracedb {

template <class Record>
void append_bytes(std::string& out, const Record* records, std::size_t count) {
  static_assert(std::is_trivially_copyable_v<Record>);
  out.append(reinterpret_cast<const char*>(records), count * sizeof(Record));
}

inline std::string track_text(const TrackKey& key) {
  return key.number != kUnknownValue ? fmt::format("{}", key.number) : fmt::format("'{}'", key.text);
}

// Everything but the events. Ends the writing of kept arguments.
inline std::string dictionaries(TraceStore& store) {
  std::string out = issue_lines(store.issues);
  for (std::uint32_t id = 1; id <= store.strings.size(); ++id) out += fmt::format("{}\n", store.strings.text(id));
  for (const ProcessInfo& process : store.processes) {
    out += fmt::format("{} {} {} {}\n", track_text(process.pid), process.name, process.labels, process.sort_index);
  }
  for (const ThreadInfo& thread : store.threads) {
    out += fmt::format("{} {} {} {}\n", thread.process, track_text(thread.tid), thread.name, thread.sort_index);
  }
  for (const TrackKey& device : store.devices) out += fmt::format("device {}\n", track_text(device));
  for (const StreamInfo& stream : store.streams)
    out += fmt::format("{} {}\n", stream.device, track_text(stream.number));
  for (const ShapeDefinition& shape : store.shapes) {
    out += fmt::format("{} {} {} {}\n", shape.dims, shape.types, shape.strides, shape.concrete_inputs);
  }
  store.args.start();
  while (const auto args = store.args.next()) out.append(*args).append("\n");
  for (const auto& [key, kind] : store.kinds) {
    out += fmt::format("{} {} {} {}\n", key.first, key.second, kind.read, fmt::join(kind.skipped, " "));
  }
  out += fmt::format("first {}\n", store.first_ts);
  append_bytes(out, store.configs.data(), store.configs.size());
  append_bytes(out, store.collectives.data(), store.collectives.size());
  return out;
}

// The events in the order of each sorter. Returns how many there are, with further series of a counter left out.
inline std::uint64_t append_events(std::string& out, TraceStore& store) {
  std::uint64_t count = 0;
  const auto append = [&](auto& sorter) {
    for (sorter.start(); sorter.peek() != nullptr; sorter.pop()) {
      append_bytes(out, sorter.peek(), 1);
      if constexpr (requires { sorter.peek()->continued; }) {
        if (sorter.peek()->continued != 0) continue;
      }
      ++count;
    }
    out += '|';
  };
  append(store.python);
  append(store.operators);
  append(store.calls);
  append(store.device_events);
  append(store.annotations);
  append(store.slices);
  append(store.instants);
  append(store.counters);
  append(store.flows);
  return count;
}

}  // namespace tracedb
