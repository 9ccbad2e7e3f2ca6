#include "index/column_codec.h"

#include <doctest/doctest.h>

#include <limits>
#include <random>
#include <vector>

namespace tracedb {
namespace {

using Values = std::vector<std::int64_t>;

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::vector<std::byte> packed(const Values& values, ColumnCoding coding) {
  std::vector<std::byte> block;
  for (std::size_t i = 0; i < values.size(); i += kFrameRows) {
    append_frame(block, coding, std::span(values).subspan(i, std::min(kFrameRows, values.size() - i)));
  }
  end_block(block);
  return block;
}

// As an allocation of its own, lest reading beyond it go unnoticed.
template <class T>
bool unpacks(const std::vector<std::byte>& block, std::size_t rows, std::vector<T>& values) {
  const std::vector<std::byte> exact(block.begin(), block.end());
  values.assign(rows, T{0});
  return unpack_block(exact, std::span<T>(values));
}

// Bytes it took; both codings, into 64 and 32 bits.
std::size_t round_trip(const Values& values, ColumnCoding coding) {
  const std::vector<std::byte> block = packed(values, coding);
  Values wide;
  REQUIRE(unpacks(block, values.size(), wide));
  CHECK(wide == values);
  std::vector<std::uint32_t> narrow;
  REQUIRE(unpacks(block, values.size(), narrow));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) wrong += narrow[i] == static_cast<std::uint32_t>(values[i]) ? 0 : 1;
  CHECK(wrong == 0);
  return block.size();
}

constexpr ColumnCoding kCodings[] = {ColumnCoding::kValues, ColumnCoding::kDifferences};

}  // namespace

TEST_CASE("what is packed comes back, for values of any size") {
  std::mt19937_64 chance(7);
  for (const ColumnCoding coding : kCodings) {
    for (unsigned width = 0; width <= 64; ++width) {
      for (const std::size_t rows : {1U, 2U, 63U, 1023U, 1024U, 1025U, 3000U}) {
        Values values(rows);
        const auto base = static_cast<std::int64_t>(chance());
        for (std::int64_t& value : values) {
          const std::uint64_t part = width == 0 ? 0 : chance() >> (64 - width);
          value = static_cast<std::int64_t>(static_cast<std::uint64_t>(base) + part);
          if (chance() % 97 == 0) value = chance() % 2 == 0 ? kLeast : static_cast<std::int64_t>(chance());
        }
        CAPTURE(width);
        CAPTURE(rows);
        round_trip(values, coding);
      }
    }
  }
}

TEST_CASE("extremes") {
  for (const ColumnCoding coding : kCodings) {
    round_trip({}, coding);
    for (const std::int64_t value : {kLeast, kMost, std::int64_t{0}, std::int64_t{-1}}) round_trip({value}, coding);
    round_trip({kLeast, kMost, kLeast, kMost, 0}, coding);
    Values alternating(5000);
    for (std::size_t i = 0; i < alternating.size(); ++i) alternating[i] = i % 2 == 0 ? kMost : kLeast;
    round_trip(alternating, coding);
    Values first_is_odd(2000, 5);
    first_is_odd[0] = kLeast;
    first_is_odd[1024] = kMost;
    round_trip(first_is_odd, coding);
  }
}

TEST_CASE("what says little takes little") {
  constexpr std::size_t kRows = 10 * kFrameRows, kFrameHeader = 20, kEnd = 8;
  Values constant(kRows, 123'456'789), steps(kRows), outliers(kRows, 7);
  for (std::size_t i = 0; i < kRows; ++i) steps[i] = static_cast<std::int64_t>(i) * 1000 - 5;
  CHECK(round_trip(constant, ColumnCoding::kValues) <= 10 * kFrameHeader + kEnd);
  CHECK(round_trip(constant, ColumnCoding::kDifferences) <= 10 * kFrameHeader + kEnd);
  CHECK(round_trip(steps, ColumnCoding::kDifferences) <= 10 * kFrameHeader + kEnd);
  CHECK(round_trip(Values(kRows, kLeast), ColumnCoding::kValues) <= 10 * kFrameHeader + kEnd);
  // A few odd ones cost ten bytes each, above and below the others alike.
  for (std::size_t i = 0; i < kRows; ++i) outliers[i] += static_cast<std::int64_t>(i % 2);
  for (std::size_t i = 100; i < kRows; i += 1000) outliers[i] = i % 2000 == 100 ? kLeast : kMost;
  CHECK(round_trip(outliers, ColumnCoding::kValues) <= 10 * (kFrameHeader + kFrameRows / 8 + 2 * 10) + kEnd);
}

TEST_CASE("a block of another number of rows is refused") {
  Values values(3000), out;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int64_t>(i * i);
  const std::vector<std::byte> block = packed(values, ColumnCoding::kValues);
  for (const std::size_t rows : {0U, 1U, 1024U, 2048U, 4096U, 100'000U}) CHECK_FALSE(unpacks(block, rows, out));
  CHECK_FALSE(unpacks({}, 0, out));
  CHECK_FALSE(unpacks({}, 1, out));
}

TEST_CASE("any damage is refused or gives other numbers, never a crash") {
  std::mt19937_64 chance(3);
  Values values(1500), out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<std::int64_t>(i * 50 + chance() % 32);
    if (chance() % 60 == 0) values[i] = static_cast<std::int64_t>(chance());
  }
  int refused = 0;
  for (const ColumnCoding coding : kCodings) {
    const std::vector<std::byte> block = packed(values, coding);
    for (std::size_t at = 0; at < block.size(); ++at) {
      for (const unsigned flip : {0x01U, 0x80U, 0xffU}) {
        std::vector<std::byte> damaged = block;
        damaged[at] ^= static_cast<std::byte>(flip);
        refused += unpacks(damaged, values.size(), out) ? 0 : 1;
      }
    }
    for (std::size_t size = 0; size < block.size(); ++size) {
      const std::vector<std::byte> cut(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(size));
      CHECK_FALSE(unpacks(cut, values.size(), out));
    }
  }
  CHECK(refused > 0);
}

}  // namespace tracedb
