// Row id by External id. The profiler hands these out one after the other, so they are kept in small dense pages: about
// four bytes an entry, instead of the forty of a node-based map. Sparse ids cost more but stay correct.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace tracedb {

class ExternalIdTable {
 public:
  void set(std::int64_t external_id, std::uint32_t row) { page(external_id)[slot(external_id)] = row; }

  [[nodiscard]] std::uint32_t find(std::int64_t external_id) const {  // 0: unknown
    const auto found = pages_.find(external_id >> kPageBits);
    return found == pages_.end() ? 0 : (*found->second)[slot(external_id)];
  }

 private:
  static constexpr unsigned kPageBits = 6;
  using Page = std::array<std::uint32_t, 1U << kPageBits>;
  static std::size_t slot(std::int64_t id) { return static_cast<std::size_t>(id) & ((1U << kPageBits) - 1); }

  Page& page(std::int64_t external_id) {
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
  Page* last_ = nullptr;
  std::int64_t last_number_ = 0;
};

}  // namespace tracedb
