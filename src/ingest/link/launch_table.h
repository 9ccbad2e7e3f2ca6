// Runtime calls by correlation, with what was found around them, for the join with the kernels they launched.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "ingest/link/pass_finder.h"
#include "ingest/store/external_sorter.h"
#include "ingest/store/records.h"
#include "trace/event_names.h"

namespace tracedb {

// Records by key, looked up while kernels pass in time order: runtime calls by correlation, flows by id. As these
// numbers count up with time, neighbouring lookups want neighbouring records: they lie in pages, all of them in memory
// where they fit, else in a nameless temporary file of which the recently used pages stay in memory. A lookup far from
// the last costs a read or two of a page; the result never depends on where the pages are. One thread.

// key_of(record) must be found where the table is used, and order records as Less does.
template <class Record, class Less>
class PagedTable {
  using Sorter = ExternalSorter<Record, Less>;
  using Key = decltype(key_of(std::declval<const Record&>()));

 public:
  // Takes all records of `sorter` and releases it. options.buffer_bytes: memory for records.
  PagedTable(Sorter& sorter, const SpoolOptions& options) : size_(static_cast<std::size_t>(sorter.size())) {
    if (size_ * sizeof(Record) > options.buffer_bytes) {
      file_ = std::make_unique<RecordFile<Record>>(options.directory);
      cache_.resize(std::max<std::size_t>(options.buffer_bytes / (kPage * sizeof(Record)), 4));
    }
    sorter.start();
    for (const Record* next = sorter.peek(); next != nullptr;) {
      first_.push_back(key_of(*next));
      for (std::size_t i = 0; i < kPage && next != nullptr; ++i, next = sorter.peek()) {
        records_.push_back(*next);
        sorter.pop();
      }
      if (!file_) continue;
      file_->append(records_);
      records_.clear();
    }
    sorter.release();
  }

  [[nodiscard]] std::size_t size() const { return size_; }

  // Position of the first record not before `key`; size() if there is none.
  std::size_t lower_bound(const Key& key) {
    const std::size_t number = page_of(key);
    if (number >= first_.size()) return size_;
    const std::span<const Record> records = page(number);
    const auto found = std::ranges::lower_bound(records, key, {}, [](const Record& one) { return key_of(one); });
    return number * kPage + static_cast<std::size_t>(found - records.begin());
  }

  // Valid until the next look-up.
  const Record& at(std::size_t position) { return page(position / kPage)[position % kPage]; }

 private:
  static constexpr std::size_t kPage = 256;
  static constexpr std::size_t kNoPage = static_cast<std::size_t>(-1);
  struct CachedPage {
    std::size_t number = kNoPage;
    std::vector<Record> records;
  };

  // The last page that starts before `key`: what is not before it begins there or right behind.
  std::size_t page_of(const Key& key) {
    const auto fits = [&](std::size_t number) {
      return first_[number] < key && (number + 1 == first_.size() || first_[number + 1] >= key);
    };
    if (last_page_ < first_.size() && fits(last_page_)) return last_page_;
    const auto after = std::ranges::lower_bound(first_, key);
    last_page_ = static_cast<std::size_t>(std::max<std::ptrdiff_t>(after - first_.begin() - 1, 0));
    return last_page_;
  }

  std::span<const Record> page(std::size_t number) {
    const std::size_t first = number * kPage;
    if (!file_) return std::span<const Record>(records_).subspan(first, std::min(kPage, size_ - first));
    CachedPage& cached = cache_[number % cache_.size()];
    if (cached.number != number) {
      file_->read(number, cached.records);
      cached.number = number;
    }
    return cached.records;
  }

  std::size_t size_;
  std::vector<Key> first_;  // of each page
  std::vector<Record> records_;
  std::unique_ptr<RecordFile<Record>> file_;
  std::vector<CachedPage> cache_;
  std::size_t last_page_ = 0;
};

// What is known about the origin of a kernel or memory operation; ids, 0 where unknown.
struct Origin {
  std::uint32_t call = 0, cpu_op = 0, stack = 0, annotation = 0, step = 0;
  std::uint32_t graph_step = 0;  // step open on another thread of the process; only for graph launches without a step
  PassOrigin pass;
};

// A runtime call with what was found around it.
struct LaunchRecord {
  std::int64_t correlation, ts, external_id;
  std::uint32_t dur;  // ns; at most 2^32 - 1, 0 where unknown
  std::uint32_t process, thread;
  CallKind kind;
  Origin origin;
};

// How likely a call of this kind is the one that started the device's work; the likeliest comes first.
inline unsigned launch_rank(CallKind kind) {
  if (kind == CallKind::kOther) return 1;
  return kind == CallKind::kSync || kind == CallKind::kUnknown ? 2 : 0;
}

struct LaunchKey {
  std::int64_t correlation;
  std::uint32_t process;
  unsigned rank;
  std::int64_t ts;
  auto operator<=>(const LaunchKey&) const = default;
};

inline LaunchKey key_of(const LaunchRecord& record) {
  return {record.correlation, record.process, launch_rank(record.kind), record.ts};
}

struct ByLaunchKey {
  bool operator()(const LaunchRecord& a, const LaunchRecord& b) const { return key_of(a) < key_of(b); }
};

using LaunchSorter = ExternalSorter<LaunchRecord, ByLaunchKey>;

using LaunchTable = PagedTable<LaunchRecord, ByLaunchKey>;

}  // namespace tracedb
