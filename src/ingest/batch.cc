#include "ingest/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <semaphore>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "base/failure.h"
#include "base/files/input_file.h"
#include "base/parallel.h"
#include "index/index.h"
#include "index/locate.h"
#include "ingest/ensure_index.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;
using BatchClock = std::chrono::steady_clock;

constexpr std::size_t kLeastMemory = std::size_t{8} << 20U;
constexpr auto kPauseBeforeRetry = std::chrono::milliseconds(500);

double seconds_since(BatchClock::time_point start) {
  return std::chrono::duration<double>(BatchClock::now() - start).count();
}

class Batch {
 public:
  Batch(const TraceList& list, const IngestOptions& options, BatchObserver& observer)
      : options_(options), observer_(observer) {
    for (const fs::path& trace : list.traces) waiting_.push_back({trace, false});
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t most = std::max<std::size_t>(1, waiting_.size());
    jobs_ = static_cast<unsigned>(std::min<std::size_t>(options.jobs > 0 ? options.jobs : cores, most));
    slots_.release(jobs_);
    if (jobs_ == 1) return;  // alone, a trace gets as many workers as are of use to it
    if (options_.threads == 0) options_.threads = std::clamp(cores / jobs_, 1U, 3U);
    options_.memory_bytes = std::max(kLeastMemory, options_.memory_bytes / jobs_);
  }

  BatchResult run(const TraceList& list) {
    const BatchClock::time_point start = BatchClock::now();
    for (const TraceList::Note& note : list.skipped) finish({.trace = note.path, .index = {}, .error = note.reason});
    for (const TraceList::Note& note : list.same_run) {
      finish({.trace = note.path, .index = {}, .error = note.reason, .same_run = true});
    }
    for (const TraceList::Note& note : list.unreadable) {
      finish({.trace = note.path,
              .index = {},
              .status = TraceStatus::kFailed,
              .code = ErrorCode::kInput,
              .error = fmt::format("{}: {}", printable_path(note.path), note.reason)});
    }
    work_in_parallel();
    for (const Item& item : waiting_) {
      finish({.trace = item.trace, .index = {}, .error = cancelled() ? "interrupted" : "an earlier trace failed"});
    }
    result_.interrupted =
        cancelled() && result_.count(TraceStatus::kSkipped) > list.skipped.size() + list.same_run.size();
    result_.seconds = seconds_since(start);
    return result_;
  }

 private:
  struct Item {
    fs::path trace;
    bool second_time;
  };

  // One of the jobs that may compute at once. A trace that only waits for the disk gives its own to the next one.
  class Slot {
   public:
    explicit Slot(std::counting_semaphore<>& slots) : slots_(slots) { slots_.acquire(); }
    ~Slot() { release(); }
    Slot& operator=(Slot&&) = delete;
    void release() {
      if (std::exchange(held_, false)) slots_.release();
    }

   private:
    std::counting_semaphore<>& slots_;
    bool held_ = true;
  };

  // Passes on what happens to one trace, one call at a time.
  class Follower : public IngestObserver {
   public:
    Follower(Batch& batch, const TraceRecord& record, Slot& slot) : batch_(batch), record_(record), slot_(slot) {}
    void progress(const IngestProgress& progress) const override {
      const std::lock_guard lock(batch_.mutex_);
      batch_.observer_.progress(record_.trace, progress);
    }
    void waiting() const override {
      const std::lock_guard lock(batch_.mutex_);
      batch_.observer_.waiting(record_.index);
    }
    void syncing() const override { slot_.release(); }

   private:
    Batch& batch_;
    const TraceRecord& record_;
    Slot& slot_;
  };

  [[nodiscard]] bool cancelled() const { return options_.cancel != nullptr && options_.cancel->load(); }

  void work_in_parallel() {
    std::vector<std::unique_ptr<Task>> tasks;
    static_cast<void>(catch_error([&] {
      const unsigned workers = jobs_ == 1 ? 1 : 2 * jobs_;
      for (unsigned worker = 1; worker < workers; ++worker) {
        tasks.push_back(std::make_unique<Task>([this] { work(); }, [] {}));
      }
    }));
    work();  // with however many could be started
    for (const std::unique_ptr<Task>& task : tasks) task->join();
  }

  void work() {
    while (true) {
      Slot slot(slots_);
      const std::optional<Item> item = next();
      if (!item) return;
      const TraceRecord record = process(item->trace, slot);
      slot.release();
      const bool again = record.code == ErrorCode::kTransient && !item->second_time && !cancelled();
      if (again) {
        requeue(item->trace);
      } else {
        finish(record);
      }
    }
  }

  std::optional<Item> next() {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty() || cancelled() || (options_.fail_fast && result_.first_failure)) return std::nullopt;
    Item item = std::move(waiting_.front());
    waiting_.pop_front();
    observer_.started(item.trace);
    return item;
  }

  void requeue(const fs::path& trace) {
    bool last = false;
    {
      const std::lock_guard lock(mutex_);
      last = waiting_.empty();
      waiting_.push_back({trace, true});
    }
    if (last) std::this_thread::sleep_for(kPauseBeforeRetry);
  }

  void finish(const TraceRecord& record) {
    const std::lock_guard lock(mutex_);
    ++result_.counts[static_cast<std::size_t>(record.status)];
    result_.lossy = result_.lossy || record.lossy();
    if (!result_.first_failure) result_.first_failure = record.code;
    observer_.finished(record);
  }

  TraceRecord process(const fs::path& trace, Slot& slot) {
    const BatchClock::time_point start = BatchClock::now();
    const std::optional<FileIdentity> before = trace_identity(trace);
    const Deadline deadline(options_.timeout, options_.cancel);
    TraceRecord record{.trace = trace, .index = {}};
    if (const std::optional<Error> error = catch_error([&] { build(record, deadline, slot); })) {
      note_failure(record, *error, before);
      if (deadline.expired() && error->code() == ErrorCode::kInterrupted && !cancelled()) note_timeout(record);
    }
    record.seconds = seconds_since(start);
    if (record.bytes == 0 && before) record.bytes = before->bytes;
    return record;
  }

  void note_failure(TraceRecord& record, const Error& error, const std::optional<FileIdentity>& before) const {
    record.error = error.what();
    record.index.clear();
    if (cancelled()) {
      record.status = TraceStatus::kSkipped;
      record.error = "interrupted";
      return;
    }
    record.status = TraceStatus::kFailed;
    record.code = error.code();
    if (error.code() == ErrorCode::kInput && trace_identity(record.trace) != before) {
      record.code = ErrorCode::kTransient;
      record.error = fmt::format("{}: the file changed while it was read: run again when it is complete",
                                 printable_path(record.trace));
    }
  }

  void note_timeout(TraceRecord& record) const {
    record.code = ErrorCode::kResource;
    record.error = fmt::format("{}: not done after {} s: try again with another --timeout",
                               printable_path(record.trace), std::chrono::duration<double>(options_.timeout).count());
  }

  void build(TraceRecord& record, const Deadline& deadline, Slot& slot) {
    IngestOptions options = options_;
    options.cancel = deadline.flag();
    require_trace(record.trace);
    for (const fs::path& candidate : candidates(record.trace)) {
      const std::optional<Index> valid = open_valid_index(record.trace, candidate, options);
      if (valid) return note_valid(record, *valid);
    }
    record.index =
        options.output.empty() ? new_index_path(record.trace, options.index_directory, options.cancel) : options.output;
    std::variant<Index, IngestResult> found =
        ensure_index(record.trace, record.index, options, Follower(*this, record, slot));
    if (auto* result = std::get_if<IngestResult>(&found)) {
      note_result(record, std::move(*result));
    } else {
      note_valid(record, std::get<Index>(found));
    }
  }

  void require_trace(const fs::path& trace) const {
    if (trace == "-" && options_.output.empty()) {
      throw Error(ErrorCode::kUsage, "standard input has no name: give the index one with --output");
    }
    if (is_own_file(trace) && file_kind(trace) == FileKind::kIndex) {
      throw Error(ErrorCode::kInput, fmt::format("{}: is an index already, not a trace", printable_path(trace)));
    }
  }

  [[nodiscard]] std::vector<fs::path> candidates(const fs::path& trace) const {
    if (!options_.output.empty()) return {options_.output};
    if (options_.index_directory.empty()) return index_candidates(trace, cache_directory());
    std::vector<fs::path> found = index_candidates(trace, options_.index_directory);
    std::erase_if(found, [&](const fs::path& index) { return index == sidecar_path(trace); });
    return found;
  }

  static void note_valid(TraceRecord& record, const Index& index) {
    const auto sum = [&](const char* sql) {
      return static_cast<std::uint64_t>(index.database().query_int64(sql).value_or(0));
    };
    record.bytes = static_cast<std::uint64_t>(index.meta_int64("source_size").value_or(0));
    record.events = static_cast<std::uint64_t>(index.meta_int64("events_read").value_or(0));
    record.issues = sum("SELECT sum(count) FROM issue WHERE severity <> 'info'");
    record.complete = index.complete();
    record.without_device = without_device(index);
    record.losses = sum("SELECT sum(count) FROM issue WHERE severity = 'data_loss'");
    record.index = index.path();
    record.status = TraceStatus::kValid;
  }

  static void note_result(TraceRecord& record, IngestResult result) {
    record.complete = result.complete;
    for (const Issue& issue : result.issues.issues()) {
      if (says_what_to_record(issue.kind)) record.without_device = issue.sample;
      const Severity severity = describe(issue.kind).severity;
      if (severity != Severity::kInfo) record.issues += issue.count;
      if (severity == Severity::kDataLoss) record.losses += issue.count;
    }
    record.status = record.lossy() ? TraceStatus::kSalvaged : TraceStatus::kBuilt;
    record.bytes = result.file_bytes;
    record.events = result.events_read;
    record.result = std::move(result);
  }

  IngestOptions options_;
  BatchObserver& observer_;
  unsigned jobs_ = 1;
  std::counting_semaphore<> slots_{0};
  std::mutex mutex_;  // all below, and calls of the observer
  std::deque<Item> waiting_;
  BatchResult result_;
};

}  // namespace

std::string_view to_string(TraceStatus status) {
  constexpr std::array<std::string_view, kTraceStatuses> kNames = {"built", "valid", "salvaged", "failed", "skipped"};
  return kNames[static_cast<std::size_t>(status)];
}

BatchResult run_batch(const TraceList& list, const IngestOptions& options, BatchObserver& observer) {
  return Batch(list, options, observer).run(list);
}

}  // namespace tracedb
