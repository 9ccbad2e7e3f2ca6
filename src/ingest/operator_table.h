// Row and start of operators by External id. The profiler hands these out one after the other, so they are kept in
// small dense pages: about eight bytes an entry, instead of the forty of a node-based map. Sparse ids cost more but
// stay correct.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <unordered_map>

namespace tracedb {

class OperatorTable {
 public:
  struct Entry {
    std::uint32_t row = 0;  // 0: unknown
    std::int64_t ts = 0;
  };

  void set(std::int64_t external_id, std::uint32_t row, std::int64_t ts) {
    Page& page = page_of(external_id);
    if (page.rows[slot(external_id)] == 0 && page.used++ == 0) page.base = ts;
    std::int64_t after = 0;
    const bool far = __builtin_sub_overflow(ts, page.base, &after) || after <= kFar ||
                     after > std::numeric_limits<std::int32_t>::max();
    if (far) far_[external_id] = ts;
    page.rows[slot(external_id)] = row;
    page.after[slot(external_id)] = far ? kFar : static_cast<std::int32_t>(after);
  }

  [[nodiscard]] Entry find(std::int64_t external_id) const {
    const auto found = pages_.find(external_id >> kPageBits);
    if (found == pages_.end()) return {};
    const Page& page = *found->second;
    const std::int32_t after = page.after[slot(external_id)];
    const std::uint32_t row = page.rows[slot(external_id)];
    return {row, row != 0 && after == kFar ? far_.at(external_id) : page.base + after};
  }

 private:
  static constexpr unsigned kPageBits = 6;
  static constexpr std::int32_t kFar = std::numeric_limits<std::int32_t>::min();
  struct Page {
    std::int64_t base = 0;  // start of the row that was set first
    std::uint32_t used = 0;
    std::array<std::uint32_t, 1U << kPageBits> rows{};
    std::array<std::int32_t, 1U << kPageBits> after{};  // ns from the base; kFar: in far_
  };
  static std::size_t slot(std::int64_t id) { return static_cast<std::size_t>(id) & ((1U << kPageBits) - 1); }

  Page& page_of(std::int64_t external_id) {
    const std::int64_t number = external_id >> kPageBits;
    if (last_ == nullptr || number != last_number_) {
      std::unique_ptr<Page>& entry = pages_[number];
      if (!entry) entry = std::make_unique<Page>();
      last_ = entry.get();
      last_number_ = number;
    }
    return *last_;
  }

  std::unordered_map<std::int64_t, std::unique_ptr<Page>> pages_;
  std::unordered_map<std::int64_t, std::int64_t> far_;  // start by External id
  Page* last_ = nullptr;
  std::int64_t last_number_ = 0;
};

}  // namespace tracedb
