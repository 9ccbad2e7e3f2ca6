// Sorts any number of fixed-size records within a fixed amount of memory: full buffers are sorted and spilled to a
// nameless temporary file, reading merges the spilled runs. Stable: equal records come out in the order they went in,
// whatever the buffer size. One thread.
//
// Traces are nearly sorted (each thread's events come in time order), so the sorted pieces of a buffer are merged,
// and the merge stays with a run as long as that run holds the smallest record.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/files/file_descriptor.h"
#include "ingest/store/record_file.h"

namespace tracedb {

struct SpoolOptions {
  std::filesystem::path directory;  // for spilled runs
  std::size_t buffer_bytes = std::size_t{16} << 20U;
};

template <class Record, class Less>
class ExternalSorter {
 public:
  explicit ExternalSorter(SpoolOptions options)
      : options_(std::move(options)), capacity_(std::max<std::size_t>(options_.buffer_bytes / sizeof(Record), 16)) {}

  void push(const Record& record) {
    if (buffer_.size() == capacity_) spill();
    if (buffer_.size() == buffer_.capacity())
      buffer_.reserve(std::min(capacity_, std::max(kFirst, 2 * buffer_.size())));
    buffer_.push_back(record);
    ++size_;
  }

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] std::uint64_t spilled_bytes() const { return file_ ? file_->bytes() : 0; }

  // Ends writing and starts reading from the smallest record; may be called again to read once more.
  void start() {
    if (!runs_.empty() && !buffer_.empty()) spill();
    if (runs_.empty()) {
      if (!sorted_) sort_buffer();
      sorted_ = true;
      next_ = 0;
      return;
    }
    buffer_ = std::vector<Record>();  // {} would be an empty list, which keeps the memory
    heap_.clear();
    for (Run& run : runs_) {
      run.next_block = run.first_block;
      if (load(run)) heap_.push_back(&run);
    }
    std::make_heap(heap_.begin(), heap_.end(), After{});
  }

  // The smallest record not popped yet; nullptr at the end. Valid until pop().
  [[nodiscard]] const Record* peek() const {
    if (runs_.empty()) return next_ < buffer_.size() ? &buffer_[next_] : nullptr;
    return heap_.empty() ? nullptr : &heap_.front()->head();
  }

  void pop() {
    if (runs_.empty()) {
      ++next_;
      return;
    }
    Run& run = *heap_.front();
    if (++run.position == run.block.size() && !load(run)) {
      std::pop_heap(heap_.begin(), heap_.end(), After{});
      heap_.pop_back();
      return;
    }
    if (!still_first()) {
      std::pop_heap(heap_.begin(), heap_.end(), After{});
      std::push_heap(heap_.begin(), heap_.end(), After{});
    }
  }

  // Calls visit(record) for each, from the smallest on.
  template <class Visit>
  void for_each(Visit visit) {
    start();
    for (; const Record* record = peek(); pop()) visit(*record);
  }
  // The same for the last time.
  template <class Visit>
  void drain(Visit visit) {
    for_each(visit);
    release();
  }

  void release() {  // gives the memory back
    buffer_ = std::vector<Record>();
    heap_ = std::vector<Run*>();
    runs_ = std::vector<Run>();
    file_.reset();
  }

 private:
  static constexpr std::size_t kFirst = 256;
  static constexpr std::size_t kBlock = 256;  // records
  static constexpr std::size_t kMostPieces = 64;

  struct Run {
    std::size_t number = 0;
    std::size_t first_block = 0, end_block = 0;
    std::size_t next_block = 0;
    std::size_t position = 0;
    std::vector<Record> block = {};
    [[nodiscard]] const Record& head() const { return block[position]; }
  };
  // Orders the heap: true if `a` comes out after `b`.
  struct After {
    bool operator()(const Run* a, const Run* b) const {
      if (Less{}(b->head(), a->head())) return true;
      return !Less{}(a->head(), b->head()) && a->number > b->number;
    }
  };

  // Few sorted pieces, as of a few threads one after the other, are merged: fewer passes than a sort takes.
  void sort_buffer() {
    std::vector bounds = {buffer_.begin()};
    while (bounds.back() != buffer_.end() && bounds.size() <= kMostPieces)
      bounds.push_back(std::is_sorted_until(bounds.back(), buffer_.end(), Less{}));
    if (bounds.back() != buffer_.end()) {
      std::ranges::stable_sort(buffer_, Less{});
      return;
    }
    const std::size_t last = bounds.size() - 1;
    for (std::size_t width = 1; width < last; width *= 2) {
      for (std::size_t i = 0; i + width < last; i += 2 * width)
        std::inplace_merge(bounds[i], bounds[i + width], bounds[std::min(i + 2 * width, last)], Less{});
    }
  }

  void spill() {
    sort_buffer();
    if (!file_) file_ = std::make_unique<RecordFile<Record>>(options_.directory);
    const std::size_t first = file_->blocks();
    for (std::span<const Record> rest = buffer_; !rest.empty(); rest = rest.subspan(std::min(kBlock, rest.size())))
      file_->append(rest.first(std::min(kBlock, rest.size())));
    runs_.push_back({.number = runs_.size(), .first_block = first, .end_block = file_->blocks()});
    buffer_.clear();
  }

  bool load(Run& run) {
    run.position = 0;
    if (run.next_block == run.end_block) return false;
    file_->read(run.next_block++, run.block);
    return true;
  }

  [[nodiscard]] bool still_first() const {
    const After after;
    return !(heap_.size() > 1 && after(heap_[0], heap_[1])) && !(heap_.size() > 2 && after(heap_[0], heap_[2]));
  }

  SpoolOptions options_;
  std::size_t capacity_;
  std::vector<Record> buffer_;
  bool sorted_ = false;
  std::size_t next_ = 0;
  std::uint64_t size_ = 0;
  std::unique_ptr<RecordFile<Record>> file_;
  std::vector<Run> runs_;
  std::vector<Run*> heap_;
};

// By start, the longer one first so that an interval comes before those it encloses.
struct ByTime {
  template <class Record>
  bool operator()(const Record& a, const Record& b) const {
    return a.ts != b.ts ? a.ts < b.ts : a.dur > b.dur;
  }
};

struct ByTimestamp {
  template <class Record>
  bool operator()(const Record& a, const Record& b) const {
    return a.ts < b.ts;
  }
};

// Any number of texts in a fixed amount of memory: written one after the other, then read once in the same order. Text
// that exceeds the buffer goes to a nameless temporary file. One thread.
class TextSpool {
 public:
  explicit TextSpool(std::filesystem::path directory) : directory_(std::move(directory)) {}

  void push(std::string_view text);
  [[nodiscard]] std::uint32_t size() const { return size_; }

  void start();                            // ends writing
  std::optional<std::string_view> next();  // valid until the next call; nullopt at the end
  void release();                          // gives memory and file back

 private:
  static constexpr std::size_t kBuffer = std::size_t{256} << 10U;

  void spill();
  std::string_view take(std::size_t bytes);

  std::filesystem::path directory_;
  std::unique_ptr<TempFile> file_;
  std::string buffer_;        // of what was written last, or is read next
  std::size_t position_ = 0;  // in the buffer
  std::uint64_t file_position_ = 0;
  std::uint32_t size_ = 0, read_ = 0;
};

}  // namespace tracedb
