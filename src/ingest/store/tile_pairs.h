// Begins and ends of the events of AI Engine tiles to SliceRecords, and the marks of their cores to kernels.
//
// An event of a tile is on or off: it never nests. A begin that finds its event on has lost an end, an end that finds
// it off has lost its begin and becomes an instant, so that no pair reaches across what is lost. Kernels are what
// trace/kernel_pairs.h finds between the begins of INSTR_EVENT_0 and the ends of INSTR_EVENT_1 of a core.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ingest/store/records.h"
#include "trace/tile_events.h"

namespace tracedb {

class TraceStore;

class TilePairs {
 public:
  explicit TilePairs(TraceStore& store) : store_(store) {}

  void add(const SliceEndpointRecord& edge);  // PairKind::kTile, in time order, one process after the other
  void finish();                              // behind the last edge of a process

 private:
  void keep_open(const SliceEndpointRecord& begin);
  void keep_end(const SliceEndpointRecord& end);
  void add_kernels();
  TileEvent event_of(std::uint32_t name);
  const std::string& label_of(std::uint32_t process);

  TraceStore& store_;
  std::map<std::uint64_t, SliceEndpointRecord> open_;  // by track and name
  std::vector<TileEvent> events_;                      // by name, as far as asked for
  std::vector<std::string> labels_;                    // of the tiles, by process
  std::vector<std::int64_t> starts_, ends_;            // of kernels
  std::uint32_t process_ = 0;                          // 0: no edge since the last finish()
  std::uint32_t start_name_ = 0, end_name_ = 0;
};

}  // namespace tracedb
