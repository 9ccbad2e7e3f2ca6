// What is known of External ids and correlations. The profiler hands these out one after the other, so entries are kept
// in small dense pages: a row id takes about four bytes an entry, instead of the forty of a node-based map. Sparse ids
// cost more but stay correct.
#pragma once

#include <array>
#include <bit>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <limits>
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

// The correlations of calls, and how many others device events have: of these the launch is lost.
class Correlations {
 public:
  void add_call(std::int64_t correlation) {
    Page& page = pages_.page_of(correlation);
    const std::size_t at = Pages::slot(correlation);
    if (page.device_events[at] && !page.calls[at]) --lost_;
    page.calls[at] = true;
  }
  void add_device_event(std::int64_t correlation) {
    Page& page = pages_.page_of(correlation);
    const std::size_t at = Pages::slot(correlation);
    if (!page.device_events[at] && !page.calls[at]) ++lost_;
    page.device_events[at] = true;
  }
  [[nodiscard]] bool has_call(std::int64_t correlation) const {
    const Page* page = pages_.find(correlation);
    return page != nullptr && page->calls[Pages::slot(correlation)];
  }
  [[nodiscard]] bool is_lost(std::int64_t correlation) const {
    const Page* page = pages_.find(correlation);
    return page != nullptr && page->device_events[Pages::slot(correlation)] && !has_call(correlation);
  }
  [[nodiscard]] std::uint64_t lost() const { return lost_; }

 private:
  struct Page {
    static constexpr std::size_t kSize = 512;
    std::bitset<kSize> calls, device_events;
  };
  using Pages = ExternalIdPages<Page>;

  Pages pages_;
  std::uint64_t lost_ = 0;
};

// Row and start of operators by External id, of the ids that one process has; about eight bytes an entry.
class OperatorTable {
 public:
  struct Entry {
    std::uint32_t row = 0;  // 0: unknown, or of several processes
    std::int64_t ts = 0;
  };

  // Of several operators of one process the last counts.
  void set(std::int64_t external_id, std::uint32_t process, std::uint32_t row, std::int64_t ts) {
    Page& page = pages_.page_of(external_id);
    const std::size_t at = Pages::slot(external_id);
    if (page.used == 0) {
      page.base = ts;
      page.process = process;
    }
    if (process != page.process) page.tell_apart();
    if (page.rows[at] == 0) {
      ++page.used;
    } else if (page.process_of(at) != process) {
      page.rows[at] = kSeveral;
    }
    if (page.rows[at] == kSeveral) return;
    if (page.processes) (*page.processes)[at] = process;
    std::int64_t after = 0;
    const bool far = __builtin_sub_overflow(ts, page.base, &after) || after <= kFar ||
                     after > std::numeric_limits<std::int32_t>::max();
    if (far) far_[external_id] = ts;
    page.rows[at] = row;
    page.after[at] = far ? kFar : static_cast<std::int32_t>(after);
  }

  [[nodiscard]] Entry find(std::int64_t external_id) const {
    const Page* page = pages_.find(external_id);
    if (page == nullptr) return {};
    const std::int32_t after = page->after[Pages::slot(external_id)];
    const std::uint32_t row = page->rows[Pages::slot(external_id)];
    if (row == 0 || row == kSeveral) return {};
    return {row, after == kFar ? far_.at(external_id) : page->base + after};
  }

 private:
  static constexpr std::int32_t kFar = std::numeric_limits<std::int32_t>::min();
  static constexpr std::uint32_t kSeveral = std::numeric_limits<std::uint32_t>::max();  // row of several processes
  struct Page {
    static constexpr std::size_t kSize = 64;
    std::int64_t base = 0;  // start of the row that was set first
    std::uint32_t used = 0;
    std::uint32_t process = 0;  // of the row that was set first
    std::array<std::uint32_t, kSize> rows{};
    std::array<std::int32_t, kSize> after{};                      // ns from the base; kFar: in far_
    std::unique_ptr<std::array<std::uint32_t, kSize>> processes;  // none: all are of `process`

    [[nodiscard]] std::uint32_t process_of(std::size_t at) const { return processes ? (*processes)[at] : process; }
    void tell_apart() {
      if (processes) return;
      processes = std::make_unique<std::array<std::uint32_t, kSize>>();
      processes->fill(process);
    }
  };
  using Pages = ExternalIdPages<Page>;

  Pages pages_;
  std::unordered_map<std::int64_t, std::int64_t> far_;  // start by External id
};

}  // namespace tracedb
