// A column of a table that C++ holds as an array, for column_table.h. Every value has a key: equal values have the
// same, and keys are in the order that SQLite sorts the values in. NULL has key 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/large_vector.h"
#include "sql/tables/row_batch.h"

namespace tracedb {

using ArrayValue = SqlValue;  // no blob

// An array of its own, or a span of what must outlive it.
template <class T>
struct HeldArray : std::span<const T> {
  HeldArray() = default;
  HeldArray(std::span<const T> values) : std::span<const T>(values) {}
  HeldArray(LargeVector<T> values) : std::span<const T>(values), own(std::move(values)) {}  // which stay where they are

  LargeVector<T> own;
};

class ArrayColumn {
 public:
  static ArrayColumn of_numbers(HeldArray<std::int64_t> numbers);            // kUnknownValue: NULL
  static ArrayColumn of_thousandths(std::span<const std::int64_t> numbers);  // each / 1000.0
  static ArrayColumn of_ids(HeldArray<std::uint32_t> ids);                   // 0: NULL
  // Row i has values[places[i]]; places behind the last value are NULL.
  static ArrayColumn of_values(HeldArray<std::uint32_t> places, std::vector<ArrayValue> values);
  ArrayColumn(ArrayColumn&&) = default;  // and no copy: distinct() points to its own values()
  ArrayColumn& operator=(ArrayColumn&&) = default;

  [[nodiscard]] ArrayColumn of_rows(std::span<const std::uint32_t> rows) const;  // of this column, in that order

  enum class Kind { kNumbers, kThousandths, kIds, kValues };
  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] std::span<const std::int64_t> numbers() const { return numbers_; }
  [[nodiscard]] std::span<const std::uint32_t> places() const { return places_; }  // or ids
  [[nodiscard]] const std::vector<ArrayValue>& values() const { return values_; }
  [[nodiscard]] std::span<const ArrayValue* const> distinct() const { return distinct_; }  // of values(), by key - 1
  [[nodiscard]] bool has_numbers() const { return kind_ == Kind::kNumbers || kind_ == Kind::kThousandths; }
  [[nodiscard]] std::size_t size() const { return has_numbers() ? numbers_.size() : places_.size(); }

  [[nodiscard]] std::uint64_t key(std::size_t row) const {
    if (kind_ == Kind::kIds) return places_[row];
    if (kind_ == Kind::kValues) return keys_[places_[row]];
    return key_of_number(numbers_[row]);
  }
  [[nodiscard]] std::uint64_t end_key() const { return end_key_; }  // larger than every key
  [[nodiscard]] bool is_ascending() const { return ascending_; }    // no key is smaller than that of the row before

  // The smallest key whose value is at least `value`, and the smallest whose value is larger.
  struct Place {
    std::uint64_t lower, upper;
  };
  [[nodiscard]] Place place_of(const ArrayValue& value) const;

 private:
  ArrayColumn() = default;
  [[nodiscard]] std::uint64_t key_of_number(std::int64_t number) const;
  void rank_values();
  [[nodiscard]] Place place_of_thousandth(const ArrayValue& value) const;

  Kind kind_ = Kind::kNumbers;
  HeldArray<std::int64_t> numbers_;
  HeldArray<std::uint32_t> places_;
  std::vector<ArrayValue> values_;
  std::vector<std::uint32_t> keys_;          // by place
  std::vector<const ArrayValue*> distinct_;  // by key - 1
  std::int64_t least_ = 1;
  std::uint64_t end_key_ = 1;
  bool ascending_ = false;
};

inline double thousandth(std::int64_t number) { return static_cast<double>(number) / 1000.0; }

// Whether SQLite sorts `a` before `b`: NULL, numbers, texts by their bytes.
bool is_before(const ArrayValue& a, const ArrayValue& b);

// The first number from `low` on that is not `before` a place; `end` where all are.
template <class Before>
std::uint64_t first_not(std::uint64_t low, std::uint64_t end, Before before) {
  while (low < end) {
    const std::uint64_t middle = low + (end - low) / 2;
    before(middle) ? void(low = middle + 1) : void(end = middle);
  }
  return low;
}

// Orders `rows` by the keys of columns, the first of them first; rows with equal keys stay as they are.
struct KeyOrder {
  const ArrayColumn* column;
  bool descending = false;
};
void order_rows(LargeVector<std::uint32_t>& rows, std::span<const KeyOrder> columns);

// The first `most` rows in that order of `count` rows, the i-th of which is row_at(i), without ordering the others.
LargeVector<std::uint32_t> first_in_order(std::size_t count, const std::function<std::uint32_t(std::size_t)>& row_at,
                                          std::span<const KeyOrder> columns, std::size_t most);

}  // namespace tracedb
