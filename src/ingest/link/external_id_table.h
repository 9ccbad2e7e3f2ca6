// What is known of External ids. The profiler hands these out one after the other, so entries are kept in small dense
// pages: a row id takes about four bytes an entry, instead of the forty of a node-based map. Sparse ids cost more but
// stay correct.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace tracedb {

// Pages of entries by External id. `Page` holds kSize entries, at slot(id); it is made when one of its ids is set.
template <class Page>
class ExternalIdPages {
 public:
  static std::size_t slot(std::int64_t id) { return static_cast<std::size_t>(id) & (Page::kSize - 1); }

  [[nodiscard]] const Page* find(std::int64_t external_id) const {  // null: none of its ids was set
    const auto found = pages_.find(number_of(external_id));
    return found == pages_.end() ? nullptr : found->second.get();
  }

  Page& page_of(std::int64_t external_id) {
    const std::int64_t number = number_of(external_id);
    if (last_ == nullptr || number != last_number_) {
      std::unique_ptr<Page>& entry = pages_[number];
      if (!entry) entry = std::make_unique<Page>();
      last_ = entry.get();
      last_number_ = number;
    }
    return *last_;
  }

 private:
  static_assert((Page::kSize & (Page::kSize - 1)) == 0);
  // Rounds down, also below 0.
  static std::int64_t number_of(std::int64_t id) { return id >> std::countr_zero(Page::kSize); }

  std::unordered_map<std::int64_t, std::unique_ptr<Page>> pages_;
  Page* last_ = nullptr;
  std::int64_t last_number_ = 0;
};

// Row id by External id.
class ExternalIdTable {
 public:
  void set(std::int64_t external_id, std::uint32_t row) {
    pages_.page_of(external_id).rows[Pages::slot(external_id)] = row;
  }

  [[nodiscard]] std::uint32_t find(std::int64_t external_id) const {  // 0: unknown
    const Page* page = pages_.find(external_id);
    return page == nullptr ? 0 : page->rows[Pages::slot(external_id)];
  }

 private:
  struct Page {
    static constexpr std::size_t kSize = 64;
    std::array<std::uint32_t, kSize> rows{};
  };
  using Pages = ExternalIdPages<Page>;

  Pages pages_;
};

}  // namespace tracedb
