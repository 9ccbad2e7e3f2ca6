// Runtime calls by correlation, looked up while the kernels pass in time order. As correlations count up with time,
// neighbouring lookups want neighbouring calls: these lie in pages, all of them in memory where they fit, else in a
// nameless temporary file of which the recently used pages stay in memory. A lookup far from the last costs one read
// of a page; the result never depends on where the pages are. One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/temp_file.h"
#include "ingest/cpu_links.h"
#include "ingest/external_sorter.h"

namespace tracedb {

class LaunchTable {
 public:
  using Sorter = ExternalSorter<LaunchRecord, ByCorrelation>;

  // Takes all records of `launches` and releases it. options.buffer_bytes: memory for records.
  LaunchTable(Sorter& launches, const SpoolOptions& options) : page_count_(pages(launches.size())) {
    if (launches.size() * sizeof(LaunchRecord) > options.buffer_bytes) {
      file_ = std::make_unique<TempFile>(options.directory);
      cache_.resize(std::max<std::size_t>(options.buffer_bytes / (kPage * sizeof(LaunchRecord)), 2));
    }
    first_.reserve(page_count_);
    launches.start();
    for (const LaunchRecord* next = launches.peek(); next != nullptr;) {
      first_.push_back(next->correlation);
      for (std::size_t i = 0; i < kPage && next != nullptr; ++i, next = launches.peek()) {
        records_.push_back(*next);
        launches.pop();
      }
      if (file_) write_page();
    }
    launches.release();
  }

  // The calls under `correlation`, in order of time; empty if there are none. Valid until the next call.
  std::span<const LaunchRecord> find(std::int64_t correlation) {
    if (correlation == found_correlation_) return found_;
    found_correlation_ = correlation;
    found_.clear();
    for (std::size_t number = first_page_of(correlation); number < page_count_; ++number) {
      const std::span<const LaunchRecord> records = page(number);
      auto match =
          std::lower_bound(records.begin(), records.end(), correlation,
                           [](const LaunchRecord& record, std::int64_t wanted) { return record.correlation < wanted; });
      for (; match != records.end() && match->correlation == correlation; ++match) found_.push_back(*match);
      if (match != records.end()) break;
    }
    return found_;
  }

 private:
  static constexpr std::size_t kPage = 256;
  static constexpr std::size_t kNoPage = static_cast<std::size_t>(-1);
  struct CachedPage {
    std::size_t number = kNoPage;
    std::vector<LaunchRecord> records;
  };

  static std::size_t pages(std::uint64_t records) { return static_cast<std::size_t>((records + kPage - 1) / kPage); }

  void write_page() {
    file_->append(std::as_bytes(std::span(records_)));
    records_.clear();
  }

  // The calls under one correlation can begin at the end of a page and go on in those that start with it.
  std::size_t first_page_of(std::int64_t correlation) {
    const auto fits = [&](std::size_t number) {
      return first_[number] < correlation && (number + 1 == page_count_ || first_[number + 1] >= correlation);
    };
    if (last_page_ < page_count_ && fits(last_page_)) return last_page_;
    const auto after = std::lower_bound(first_.begin(), first_.end(), correlation);
    last_page_ = static_cast<std::size_t>(std::max<std::ptrdiff_t>(after - first_.begin() - 1, 0));
    return last_page_;
  }

  std::span<const LaunchRecord> page(std::size_t number) {
    if (!file_) {
      return std::span<const LaunchRecord>(records_)
          .subspan(number * kPage)
          .first(std::min(kPage, records_.size() - number * kPage));
    }
    CachedPage& cached = cache_[number % cache_.size()];
    if (cached.number != number) {
      const std::uint64_t offset = std::uint64_t{number} * kPage * sizeof(LaunchRecord);
      cached.records.resize(std::min<std::uint64_t>(kPage, (file_->size() - offset) / sizeof(LaunchRecord)));
      file_->read(offset, std::as_writable_bytes(std::span(cached.records)));
      cached.number = number;
    }
    return cached.records;
  }

  std::size_t page_count_;
  std::vector<std::int64_t> first_;  // correlation of each page's first record
  std::vector<LaunchRecord> records_;
  std::unique_ptr<TempFile> file_;
  std::vector<CachedPage> cache_;
  std::size_t last_page_ = 0;
  std::int64_t found_correlation_ = kUnset;
  std::vector<LaunchRecord> found_;
};

}  // namespace tracedb
