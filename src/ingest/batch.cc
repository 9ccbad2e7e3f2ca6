#include "ingest/batch.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <semaphore>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/deadline.h"
#include "base/failure.h"
#include "base/input_file.h"
#include "base/parallel.h"
#include "index/index.h"
#include "index/locate.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kLeastMemory = std::size_t{8} << 20U;
constexpr auto kPauseBeforeRetry = std::chrono::milliseconds(500);

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Tells whether a file was touched: a reader of a file that is being replaced may see anything.
struct FileState {
  explicit FileState(const fs::path& path) {
    struct stat status {};
    if (path == "-" || ::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
    inode = status.st_ino;
    size = status.st_size;
    modified = {status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
    changed = {status.st_ctim.tv_sec, status.st_ctim.tv_nsec};
  }
  friend bool operator==(const FileState&, const FileState&) = default;

  ino_t inode = 0;
  off_t size = 0;
  std::array<long, 2> modified{}, changed{};
};

class Batch {
 public:
  Batch(const TraceList& list, const BatchOptions& options, BatchObserver& observer)
      : options_(options), observer_(observer) {
    for (const fs::path& trace : list.traces) waiting_.push_back({trace, false});
    const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t most = std::max<std::size_t>(1, waiting_.size());
    jobs_ = static_cast<unsigned>(std::min<std::size_t>(options.jobs > 0 ? options.jobs : cores, most));
    slots_.release(jobs_);
    IngestOptions& ingest = options_.ensure.ingest;
    // Alone, a trace gets as many workers as are of use to it.
    if (ingest.threads == 0 && jobs_ > 1) ingest.threads = std::clamp(cores / jobs_, 1U, 3U);
    if (jobs_ > 1) ingest.memory_bytes = std::max(kLeastMemory, ingest.memory_bytes / jobs_);
  }

  BatchResult run(const TraceList& list) {
    const Clock::time_point start = Clock::now();
    for (const TraceList::Note& note : list.skipped) finish({.trace = note.path, .index = {}, .error = note.reason});
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
    result_.interrupted = cancelled() && result_.count(TraceStatus::kSkipped) > list.skipped.size();
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
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;
    void release() {
      if (std::exchange(held_, false)) slots_.release();
    }

   private:
    std::counting_semaphore<>& slots_;
    bool held_ = true;
  };

  [[nodiscard]] bool cancelled() const {
    return options_.ensure.ingest.cancel != nullptr && options_.ensure.ingest.cancel->load();
  }

  void work_in_parallel() {
    std::vector<std::unique_ptr<Task>> tasks;
    static_cast<void>(failure_of([&] {
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
      const TraceRecord record = treat(item->trace, slot);
      slot.release();
      const bool again = record.code == ErrorCode::kTransient && !item->second_time && !cancelled();
      if (again) {
        put_off(item->trace);
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

  void put_off(const fs::path& trace) {
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

  TraceRecord treat(const fs::path& trace, Slot& slot) {
    const Clock::time_point start = Clock::now();
    const FileState before(trace);
    const Deadline deadline(options_.timeout, options_.ensure.ingest.cancel);
    TraceRecord record{.trace = trace, .index = {}};
    if (const std::optional<Error> error = failure_of([&] { build(record, deadline, slot); })) {
      note_failure(record, *error, before);
      if (deadline.expired() && error->code() == ErrorCode::kInterrupted && !cancelled()) note_timeout(record);
    }
    record.seconds = seconds_since(start);
    if (record.bytes == 0) record.bytes = static_cast<std::uint64_t>(before.size);
    return record;
  }

  void note_failure(TraceRecord& record, const Error& error, const FileState& before) const {
    record.error = error.what();
    record.index.clear();
    if (cancelled()) {
      record.status = TraceStatus::kSkipped;
      record.error = "interrupted";
      return;
    }
    record.status = TraceStatus::kFailed;
    record.code = error.code();
    if (error.code() == ErrorCode::kInput && FileState(record.trace) != before) {
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
    EnsureOptions options = options_.ensure;
    options.ingest.cancel = deadline.flag();
    options.ingest.before_sync = [&slot] { slot.release(); };
    options.ingest.progress = [&](const IngestProgress& progress) {
      const std::lock_guard lock(mutex_);
      observer_.progress(record.trace, progress);
    };
    options.on_wait = [&] {
      const std::lock_guard lock(mutex_);
      observer_.waiting(record.index);
    };
    require_trace(record.trace);
    std::vector<fs::path> unreadable;
    if (found_valid(record, options, unreadable)) return;
    record.index = options_.output.empty()
                       ? new_index_path(record.trace, options_.index_directory, options.ingest.cancel)
                       : options_.output;
    // A damaged index of ours is no obstacle: it is made anew.
    if (std::find(unreadable.begin(), unreadable.end(), record.index) != unreadable.end()) options.rebuild = true;
    std::optional<IngestResult> result = ensure_index(record.trace, record.index, options);
    // Valid a moment ago, it may have been cleared out since.
    if (!result && failure_of([&] { note_valid(record, record.index); })) {
      result = ensure_index(record.trace, record.index, options);
    }
    if (result) note_result(record, std::move(*result));
  }

  void require_trace(const fs::path& trace) const {
    if (trace == "-" && options_.output.empty()) {
      throw Error(ErrorCode::kUsage, "standard input has no name: give the index one with --output");
    }
    if (is_own_file(trace) && file_kind(trace) == FileKind::kIndex) {
      throw Error(ErrorCode::kInput, fmt::format("{}: is an index already, not a trace", printable_path(trace)));
    }
  }

  // `unreadable`: indexes that could not be checked to the end.
  bool found_valid(TraceRecord& record, const EnsureOptions& options, std::vector<fs::path>& unreadable) const {
    for (const fs::path& index : candidates(record.trace)) {
      bool valid = false;
      const auto check = [&] {
        valid = is_valid_index(record.trace, index, options);
        if (valid) note_valid(record, index);
      };
      if (failure_of(check)) {
        unreadable.push_back(index);
      } else if (valid) {
        return true;
      }
    }
    return false;
  }

  [[nodiscard]] std::vector<fs::path> candidates(const fs::path& trace) const {
    if (!options_.output.empty()) return {options_.output};
    if (options_.index_directory.empty()) return index_candidates(trace, cache_directory());
    std::vector<fs::path> found = index_candidates(trace, options_.index_directory);
    std::erase_if(found, [&](const fs::path& index) { return index == sidecar_path(trace); });
    return found;
  }

  static void note_valid(TraceRecord& record, const fs::path& path) {
    const Index index = Index::open(path);
    const auto sum = [&](const char* sql) {
      return static_cast<std::uint64_t>(index.database().query_int64(sql).value_or(0));
    };
    record.bytes = static_cast<std::uint64_t>(index.meta_int64("source_size").value_or(0));
    record.events = static_cast<std::uint64_t>(index.meta_int64("events_read").value_or(0));
    record.issues = sum("SELECT sum(count) FROM issue WHERE severity <> 'info'");
    record.complete = index.complete();
    record.losses = sum("SELECT sum(count) FROM issue WHERE severity = 'data_loss'");
    record.index = path;
    record.status = TraceStatus::kValid;
  }

  static void note_result(TraceRecord& record, IngestResult result) {
    record.complete = result.complete;
    for (const Issue& issue : result.issues.issues()) {
      const Severity severity = describe(issue.kind).severity;
      if (severity != Severity::kInfo) record.issues += issue.count;
      if (severity == Severity::kDataLoss) record.losses += issue.count;
    }
    record.status = record.lossy() ? TraceStatus::kSalvaged : TraceStatus::kBuilt;
    record.bytes = result.file_bytes;
    record.events = result.events_read;
    record.result = std::move(result);
  }

  BatchOptions options_;
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

BatchResult run_batch(const TraceList& list, const BatchOptions& options, BatchObserver& observer) {
  return Batch(list, options, observer).run(list);
}

}  // namespace tracedb
