// Carries finished rows of the event tables from the thread that makes the links to the thread that owns the database.
// Rows travel in blocks of one table; blocks arrive in the order they were sent.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/parallel.h"
#include "ingest/store/external_sorter.h"

namespace tracedb {

enum class EventTable : std::uint8_t {
  kAnnotation,
  kCpuOp,
  kPythonCall,
  kRuntimeCall,
  kKernel,
  kMemoryOp,
  kSlice,
  kInstant,
  kFlowUnmatched,
  kMemoryEvent,
  kSync,
  kCount,
  kCounter = kCount  // its rows take another way
};
inline constexpr std::size_t kEventTables = static_cast<std::size_t>(EventTable::kCount);
inline constexpr std::array<std::string_view, kEventTables + 1> kEventTableNames = {
    "annotation", "cpu_op",  "python_call",    "runtime_call", "kernel", "memory_op",
    "slice",      "instant", "flow_unmatched", "memory_event", "sync",   "counter"};

struct RowBlock {
  EventTable table{};
  std::vector<std::int64_t> cells;  // row-major, in the order of the columns in schema/core.sql, but for the id
};

// Whose arguments a text is: the row of the event. One text belongs to one row at most.
struct ArgumentRow {
  std::uint32_t row, args;  // args: position + 1 of the text
  EventTable table;
};
struct ByText {
  bool operator()(const ArgumentRow& a, const ArgumentRow& b) const { return a.args < b.args; }
};
using ArgumentSorter = ExternalSorter<ArgumentRow, ByText>;

class RowStream {
 public:
  // `arguments` takes the rows of kept arguments, on the producer's thread. Borrowed.
  explicit RowStream(ArgumentSorter& arguments) : arguments_(arguments), queue_(kBlocksAhead) {}

  // Producer. Returns the row's id: 1, 2, 3 ... within its table. `args`: position + 1 of the event's arguments if they
  // are kept, else 0.
  std::uint32_t row(EventTable table, std::uint32_t args, std::initializer_list<std::int64_t> cells) {
    std::vector<std::int64_t>& block = open_[index(table)];
    block.insert(block.end(), cells);
    const std::uint32_t id = ++rows_[index(table)];
    argument(table, id, args);
    if (block.size() >= kCells) send(table);
    return id;
  }
  void argument(EventTable table, std::uint32_t row, std::uint32_t args) {
    if (args != 0) arguments_.push({row, args, table});
  }
  void finish() {
    for (std::size_t i = 0; i < kEventTables; ++i) send(static_cast<EventTable>(i));
    queue_.finish(sent_);
  }
  [[nodiscard]] std::uint32_t rows(EventTable table) const { return rows_[index(table)]; }  // after finish()

  // Consumer.
  std::optional<RowBlock> pop() { return queue_.pop(); }

  // Ends both sides: the consumer gets no more blocks, the producer's next block throws Error{kInterrupted}.
  void cancel() { queue_.cancel(); }

 private:
  static constexpr std::size_t kCells = 32768;
  static constexpr std::size_t kBlocksAhead = 8;
  static std::size_t index(EventTable table) { return static_cast<std::size_t>(table); }

  void send(EventTable table) {
    std::vector<std::int64_t>& block = open_[index(table)];
    if (block.empty()) return;
    std::vector<std::int64_t> next;
    next.reserve(kCells + 32);
    const bool wanted = queue_.push(sent_++, RowBlock{table, std::exchange(block, std::move(next))});
    if (!wanted) throw Error(ErrorCode::kInterrupted, "interrupted");
  }

  std::array<std::vector<std::int64_t>, kEventTables> open_;
  std::array<std::uint32_t, kEventTables> rows_{};
  ArgumentSorter& arguments_;
  OrderedQueue<RowBlock> queue_;
  std::uint64_t sent_ = 0;
};

}  // namespace tracedb
