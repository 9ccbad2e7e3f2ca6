#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/files/input_file.h"
#include "base/parallel.h"
#include "base/scope_exit.h"
#include "ingest/ascend/tasks.h"
#include "ingest/formats.h"
#include "ingest/kineto/chunk_parser.h"
#include "ingest/read/json_chunks.h"

namespace tracedb {
namespace {

using BatchPointer = std::unique_ptr<EventBatch>;

class Readers {
 public:
  Readers(JsonChunks& chunks, const ByteSource& source, const IngestOptions& options, unsigned workers)
      : chunks_(chunks), source_(source), options_(options), queue_(2 * workers + 1), running_(workers) {}

  void work(unsigned worker) {
    ChunkParser parser(worker, options_.events);
    Chunk chunk;
    while (true) {
      std::uint64_t sequence = 0;
      {
        const std::lock_guard lock(mutex_);
        if (!chunks_.next(chunk)) break;
        sequence = next_++;
        consumed_ = source_.consumed();
      }
      BatchPointer batch = next_batch();
      parser.parse(chunk, *batch);
      batch->end = chunk.offset + chunk.elements().size();
      if (!queue_.push(sequence, std::move(batch))) return;
    }
    if (running_.fetch_sub(1) == 1) {
      const std::lock_guard lock(mutex_);
      queue_.finish(next_);
    }
  }

  void cancel() { queue_.cancel(); }
  std::optional<BatchPointer> next() { return queue_.pop(); }
  // Takes a batch back, to be filled again: no allocation in the steady state.
  void recycle(BatchPointer batch) {
    const std::lock_guard lock(pool_mutex_);
    pool_.push_back(std::move(batch));
  }
  [[nodiscard]] std::uint64_t consumed() const { return consumed_; }

 private:
  BatchPointer next_batch() {
    const std::lock_guard lock(pool_mutex_);
    if (pool_.empty()) return std::make_unique<EventBatch>();
    BatchPointer batch = std::move(pool_.back());
    pool_.pop_back();
    return batch;
  }

  JsonChunks& chunks_;
  const ByteSource& source_;
  const IngestOptions& options_;
  OrderedQueue<BatchPointer> queue_;
  std::mutex pool_mutex_;
  std::vector<BatchPointer> pool_;
  std::mutex mutex_;
  std::uint64_t next_ = 0;
  std::atomic<unsigned> running_;
  std::atomic<std::uint64_t> consumed_ = 0;
};

std::uint64_t events_in(const EventBatch& batch) {
  std::uint64_t count = 0;
  for (const EventCount& kind : batch.kinds) count += kind.read;
  return count;
}

unsigned worker_count(const IngestOptions& options) {
  // Beyond three parsers the single thread that takes their batches is the limit.
  constexpr unsigned kMostUseful = 3;
  if (options.threads > 0) return options.threads;
  return std::clamp(std::thread::hardware_concurrency(), 1U, kMostUseful);
}

// Reads `chunks` to the end into `store`.
void read_events(JsonChunks& chunks, const TraceInput& input, const IngestOptions& options, TraceStore& store) {
  const unsigned workers = worker_count(options);
  ChunkParser::prepare();
  Readers readers(chunks, input.source, options, workers);
  std::vector<std::unique_ptr<Task>> tasks;
  // Whatever ends this function early must wake the workers before their threads are joined.
  const ScopeExit guard([&] { readers.cancel(); });
  for (unsigned worker = 0; worker < workers; ++worker) {
    tasks.push_back(
        std::make_unique<Task>([&readers, worker] { readers.work(worker); }, [&readers] { readers.cancel(); }));
  }
  std::uint64_t events = 0;
  while (std::optional<BatchPointer> batch = readers.next()) {
    check_cancelled(options);
    events += events_in(**batch);
    store.add(**batch);
    readers.recycle(std::move(*batch));
    input.observer.progress({readers.consumed(), input.file_size, events, false});
  }
  for (const std::unique_ptr<Task>& task : tasks) task->join();
  store.finish();
  store.issues.merge(chunks.issues());
  if (chunks.oversized_events() > 0) {
    EventCount& count = store.kind(0, {});
    count.read += chunks.oversized_events();
    count.skipped[static_cast<std::size_t>(SkipReason::kOversized)] += chunks.oversized_events();
  }
}

// There is nothing in the file that makes it a trace.
void require_trace(const JsonChunks& chunks, const TraceStore& store, const std::filesystem::path& file) {
  std::uint64_t events = 0, without_phase = 0;
  for (const auto& [key, count] : store.kinds) {
    events += count.read;
    if (count.ph.empty()) without_phase += count.skipped[static_cast<std::size_t>(SkipReason::kUnsupportedPhase)];
  }
  if (!chunks.is_other_json() && (events == 0 || without_phase < events)) return;
  throw Error(ErrorCode::kInput,
              fmt::format("{}: JSON, but no trace: {}; give what the profiler exported", printable_path(file),
                          events > 0 ? "nothing in it has a phase (\"ph\"), as events have"
                                     : "there are no \"traceEvents\" in it"));
}

}  // namespace

void read_kineto(const TraceInput& input, const IngestOptions& options, TraceStore& store, TraceFacts& facts) {
  JsonChunks chunks(input.source, printable_path(input.file), options.chunk_size, {},
                    input.otherwise.empty() ? "not JSON" : input.otherwise);
  const ScopeExit note([&] { facts.bytes = chunks.bytes(); });  // also of what was read before a failure
  read_events(chunks, input, options, store);
  require_trace(chunks, store, input.file);
  if (place_tasks(store)) {
    facts.format = "ascend-trace-view";
    facts.vendor = "ascend";
  }
  facts.header = chunks.header();
  facts.complete = chunks.complete();
}

void read_aie(const TraceInput& input, const IngestOptions& options, TraceStore& store, TraceFacts& facts) {
  IngestOptions of_tiles = options;
  of_tiles.events.clock = Clock::kCycles;
  facts.time_unit = "cycle";
  facts.vendor = "aie";
  read_kineto(input, of_tiles, store, facts);
}

}  // namespace tracedb
