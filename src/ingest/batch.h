// Many traces in one run: several at once, each on its own. A trace that fails is recorded, and the run continues with
// the others; nowhere else does the failure of a trace become a record.
//
// A trace that changes while it is read is tried once more, after all others. Valid indexes are left alone, so an
// interrupted run is continued by running it again.
//
// run_batch() may be called on any thread; it uses threads of its own and calls the observer on them, one call at a
// time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "ingest/ingest.h"
#include "ingest/trace_list.h"

namespace tracedb {

enum class TraceStatus {
  kBuilt,
  kValid,     // the index was there and valid
  kSalvaged,  // built, but the trace was damaged and something of it is lost
  kFailed,
  kSkipped,  // not tried: --fail-fast, an interrupt, a link to nothing
};
inline constexpr std::size_t kTraceStatuses = 5;
std::string_view to_string(TraceStatus status);

struct TraceRecord {
  std::filesystem::path trace, index;  // index: empty if it never came so far
  TraceStatus status = TraceStatus::kSkipped;
  double seconds = 0;
  std::uint64_t bytes = 0;  // of the trace file
  std::uint64_t events = 0;
  std::uint64_t issues = 0;            // warnings and losses, each as often as it was counted
  std::uint64_t losses = 0;            // those of them that lost data
  bool complete = true;                // the trace was not cut short
  std::optional<ErrorCode> code = {};  // of a failure
  std::string error = {};              // why it failed or was skipped, in one line
  std::string without_device = {};     // as in index/index.h
  bool same_run = false;               // skipped, because another file has what is in it
  std::optional<IngestResult> result = {};

  [[nodiscard]] bool lossy() const { return losses > 0 || !complete; }
};

class BatchObserver {
 public:
  virtual ~BatchObserver() = default;
  virtual void started(const std::filesystem::path& trace) = 0;
  virtual void progress(const std::filesystem::path& trace, const IngestProgress& progress) = 0;
  virtual void waiting(const std::filesystem::path& index) = 0;  // for the lock of another process
  virtual void finished(const TraceRecord& record) = 0;
};

struct BatchResult {
  std::array<std::size_t, kTraceStatuses> counts{};
  double seconds = 0;
  std::optional<ErrorCode> first_failure = {};
  bool lossy = false;
  bool interrupted = false;  // and something was left undone

  [[nodiscard]] std::size_t count(TraceStatus status) const { return counts[static_cast<std::size_t>(status)]; }
};

BatchResult run_batch(const TraceList& list, const IngestOptions& options, BatchObserver& observer);

}  // namespace tracedb
