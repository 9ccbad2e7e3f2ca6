#include "sql/tables/array_column.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "base/unknown.h"

namespace tracedb {
namespace {

__extension__ using Wide = __int128;

double as_real(const ArrayValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return static_cast<double>(*number);
  return std::get<double>(value);
}

int type_order(const ArrayValue& value) {
  constexpr std::array<int, 4> kOrder = {0, 1, 1, 2};  // NULL, integer, real, text
  return kOrder.at(value.index());
}

template <class T>
LargeVector<T> gathered(std::span<const T> from, std::span<const std::uint32_t> rows) {
  LargeVector<T> to(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) to[i] = from[rows[i]];
  return to;
}

// A radix sort of 64 bits: the key above the row.
constexpr unsigned kRowBits = 32, kDigitBits = 11;

void sort_packed(LargeVector<std::uint64_t>& packed, unsigned key_bits) {
  LargeVector<std::uint64_t> other(packed.size());
  for (unsigned shift = kRowBits; shift < kRowBits + key_bits; shift += kDigitBits) {
    std::array<std::size_t, 1U << kDigitBits> starts{};
    const auto digit = [shift](std::uint64_t value) { return (value >> shift) & ((1U << kDigitBits) - 1); };
    for (const std::uint64_t value : packed) ++starts[digit(value)];
    std::size_t sum = 0;
    for (std::size_t& start : starts) sum += std::exchange(start, sum);
    for (const std::uint64_t value : packed) other[starts[digit(value)]++] = value;
    packed.swap(other);
  }
}

unsigned bits_of(const ArrayColumn& column) { return static_cast<unsigned>(std::bit_width(column.end_key() - 1)); }

std::uint64_t sort_key(const KeyOrder& by, std::size_t row) {
  const std::uint64_t key = by.column->key(row);
  return by.descending ? by.column->end_key() - 1 - key : key;
}

// A stable sort by the keys, put together, without their lowest `shift` bits and those that do not fit 32 after it.
void order_by_bits(LargeVector<std::uint32_t>& rows, std::span<const KeyOrder> columns, unsigned shift, unsigned bits) {
  LargeVector<std::uint64_t> packed(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) packed[i] = rows[i];
  unsigned at = kRowBits;
  for (std::size_t c = columns.size(); c-- > 0;) {
    const std::uint64_t mask = bits >= kRowBits ? 0xffffffffU : (std::uint64_t{1} << bits) - 1;
    for (std::size_t i = 0; i < rows.size(); ++i) packed[i] |= ((sort_key(columns[c], rows[i]) >> shift) & mask) << at;
    at += std::min(bits_of(*columns[c].column) - std::min(shift, bits_of(*columns[c].column)), bits);
  }
  sort_packed(packed, at - kRowBits);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::uint32_t>(packed[i]);
}

}  // namespace

bool is_before(const ArrayValue& a, const ArrayValue& b) {
  if (type_order(a) != type_order(b)) return type_order(a) < type_order(b);
  if (type_order(a) == 0) return false;
  if (type_order(a) == 2) return std::get<std::string>(a) < std::get<std::string>(b);
  if (a.index() == 1 && b.index() == 1) return std::get<std::int64_t>(a) < std::get<std::int64_t>(b);
  return as_real(a) < as_real(b);
}

ArrayColumn ArrayColumn::of_numbers(HeldArray<std::int64_t> numbers) {
  ArrayColumn column;
  column.ascending_ = std::ranges::is_sorted(numbers);
  std::int64_t least = std::numeric_limits<std::int64_t>::max(), most = kUnknownValue;
  for (const std::int64_t number : numbers) {
    most = std::max(most, number);
    if (number != kUnknownValue) least = std::min(least, number);
  }
  if (most != kUnknownValue) column.least_ = least, column.end_key_ = column.key_of_number(most) + 1;
  column.numbers_ = std::move(numbers);
  return column;
}

// Doubles tell apart the thousandths of no larger numbers.
ArrayColumn ArrayColumn::of_thousandths(std::span<const std::int64_t> numbers) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 53;
  const bool exact = std::ranges::all_of(numbers, [](std::int64_t number) {
    return number == kUnknownValue || (number >= -kLargest && number <= kLargest);
  });
  if (exact) {
    ArrayColumn column = of_numbers(numbers);
    column.kind_ = Kind::kThousandths;
    return column;
  }
  LargeVector<std::uint32_t> places(numbers.size());
  std::vector<ArrayValue> values(1);
  std::map<double, std::uint32_t> known;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == kUnknownValue) continue;
    const double value = thousandth(numbers[i]);
    const auto [entry, is_new] = known.emplace(value, static_cast<std::uint32_t>(values.size()));
    if (is_new) values.emplace_back(value);
    places[i] = entry->second;
  }
  return of_values(std::move(places), std::move(values));
}

ArrayColumn ArrayColumn::of_ids(HeldArray<std::uint32_t> ids) {
  ArrayColumn column;
  column.kind_ = Kind::kIds;
  column.ascending_ = std::ranges::is_sorted(ids);
  if (!ids.empty()) column.end_key_ = std::uint64_t{std::ranges::max(ids)} + 1;
  column.places_ = std::move(ids);
  return column;
}

ArrayColumn ArrayColumn::of_values(HeldArray<std::uint32_t> places, std::vector<ArrayValue> values) {
  ArrayColumn column;
  column.kind_ = Kind::kValues;
  column.places_ = std::move(places);
  column.values_ = std::move(values);
  column.rank_values();
  return column;
}

ArrayColumn ArrayColumn::of_rows(std::span<const std::uint32_t> rows) const {
  if (has_numbers()) {
    ArrayColumn column = of_numbers(gathered(numbers_, rows));
    column.kind_ = kind_;
    return column;
  }
  LargeVector<std::uint32_t> places = gathered(places_, rows);
  return kind_ == Kind::kIds ? of_ids(std::move(places)) : of_values(std::move(places), values_);
}

std::uint64_t ArrayColumn::key_of_number(std::int64_t number) const {
  if (number == kUnknownValue) return 0;
  return static_cast<std::uint64_t>(number) - static_cast<std::uint64_t>(least_) + 1;
}

void ArrayColumn::rank_values() {
  const std::size_t places = places_.empty() ? 1 : std::size_t{std::ranges::max(places_)} + 1;
  values_.resize(std::max(values_.size(), places));
  std::vector<std::uint32_t> order(values_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, [this](std::uint32_t a, std::uint32_t b) { return is_before(values_[a], values_[b]); });
  keys_.assign(values_.size(), 0);
  for (const std::uint32_t place : order) {
    const ArrayValue& value = values_[place];
    if (value.index() == 0) continue;
    if (distinct_.empty() || is_before(*distinct_.back(), value)) distinct_.push_back(&value);
    keys_[place] = static_cast<std::uint32_t>(distinct_.size());
  }
  end_key_ = distinct_.size() + 1;
}

ArrayColumn::Place ArrayColumn::place_of(const ArrayValue& value) const {
  if (kind_ == Kind::kValues) {
    const auto before = [](const ArrayValue* a, const ArrayValue* b) { return is_before(*a, *b); };
    const auto [lower, upper] = std::equal_range(distinct_.begin(), distinct_.end(), &value, before);
    return {static_cast<std::uint64_t>(lower - distinct_.begin()) + 1,
            static_cast<std::uint64_t>(upper - distinct_.begin()) + 1};
  }
  if (value.index() == 0) return {0, 1};
  if (value.index() == 3) return {end_key_, end_key_};  // texts come after numbers
  const auto clamped = [this](Wide key) {
    return static_cast<std::uint64_t>(std::clamp<Wide>(key, 1, static_cast<Wide>(end_key_)));
  };
  if (kind_ == Kind::kThousandths) return place_of_thousandth(value);
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    const Wide key = Wide{*number} - least_ + 1;
    return {clamped(key), clamped(key + 1)};
  }
  constexpr double kBeyond = 1e19;  // all integers of 64 bits
  const double real = std::clamp(std::get<double>(value), -kBeyond, kBeyond);
  return {clamped(static_cast<Wide>(std::ceil(real)) - least_ + 1),
          clamped(static_cast<Wide>(std::floor(real)) - least_ + 2)};
}

ArrayColumn::Place ArrayColumn::place_of_thousandth(const ArrayValue& value) const {
  const auto at = [&](std::uint64_t key) {
    return ArrayValue(thousandth(least_ + static_cast<std::int64_t>(key - 1)));
  };
  return {first_not(1, end_key_, [&](std::uint64_t key) { return is_before(at(key), value); }),
          first_not(1, end_key_, [&](std::uint64_t key) { return !is_before(value, at(key)); })};
}

void order_rows(LargeVector<std::uint32_t>& rows, std::span<const KeyOrder> columns) {
  while (!columns.empty()) {
    // The last columns together, as far as their keys fit 32 bits.
    std::size_t count = 0;
    unsigned bits = 0;
    while (count < columns.size() && bits + bits_of(*columns[columns.size() - 1 - count].column) <= kRowBits) {
      bits += bits_of(*columns[columns.size() - 1 - count].column);
      ++count;
    }
    if (count > 0) {
      order_by_bits(rows, columns.last(count), 0, kRowBits);
    } else {
      count = 1;
      order_by_bits(rows, columns.last(1), 0, kRowBits);
      order_by_bits(rows, columns.last(1), kRowBits, kRowBits);
    }
    columns = columns.first(columns.size() - count);
  }
}

LargeVector<std::uint32_t> first_in_order(std::size_t count, const std::function<std::uint32_t(std::size_t)>& row_at,
                                          std::span<const KeyOrder> columns, std::size_t most) {
  struct Place {
    std::uint64_t key;
    std::size_t at;
    std::uint32_t row;
  };
  const KeyOrder& first = columns.front();
  const auto is_earlier = [&](const Place& a, const Place& b) {
    if (a.key != b.key) return (a.key < b.key) != first.descending;
    for (const KeyOrder& next : columns.subspan(1)) {
      const std::uint64_t x = next.column->key(a.row), y = next.column->key(b.row);
      if (x != y) return (x < y) != next.descending;
    }
    return a.at < b.at;
  };
  std::vector<Place> heap;  // the last of them in front
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t row = row_at(i);
    const Place place{first.column->key(row), i, row};
    if (heap.size() == most) {
      if (!is_earlier(place, heap.front())) continue;
      std::ranges::pop_heap(heap, is_earlier);
      heap.pop_back();
    }
    heap.push_back(place);
    std::ranges::push_heap(heap, is_earlier);
  }
  std::ranges::sort_heap(heap, is_earlier);
  LargeVector<std::uint32_t> out;
  for (const Place& place : heap) out.push_back(place.row);
  return out;
}

}  // namespace tracedb
