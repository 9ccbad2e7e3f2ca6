// Reads whole columns of a rowid table into memory, straight from the leaf pages of the file: a million kernels take
// some ten milliseconds, and half a second or more through SQL.
//
// For our own tables only, in databases opened kReadOnly: rowids 1, 2, 3 ... without gaps (row i is element i - 1),
// rows that fit their page, integers, NULL, and texts from a known list. Indexes are replaced, never changed, so
// nothing needs to be locked. Everything read is checked against the page it is on: a damaged file gives Error{kInput}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/large_vector.h"
#include "sql/database.h"

namespace tracedb {

// How a column is read.
enum class ScanType {
  kNumber,  // 64 bits; what is no integer as kUnknown
  kReal,    // a double bit for bit (std::bit_cast); what is no number as kUnknown
  kId,      // 32-bit id. Not a number: 0. Larger than any table of the file can be: the file is damaged.
  kChoice,  // a text out of a list, as its place in it + 1; others as 0
};

struct ScanColumn {
  std::string_view name;
  ScanType type = ScanType::kNumber;
  std::span<const std::string_view> choices = {};
};

// Not initialised before it is filled (base/large_vector.h).
template <class T>
class ColumnArray {
 public:
  ColumnArray() = default;
  explicit ColumnArray(std::size_t size) : values_(static_cast<T*>(large_memory(size * sizeof(T)))), size_(size) {}
  [[nodiscard]] std::span<const T> span() const { return {values_.get(), size_}; }
  [[nodiscard]] std::span<T> values() { return {values_.get(), size_}; }
  [[nodiscard]] T* data() { return values_.get(); }

 private:
  struct Free {
    void operator()(void* memory) const { std::free(memory); }  // NOLINT
  };
  std::unique_ptr<T[], Free> values_;
  std::size_t size_ = 0;
};

struct ColumnValues {
  ColumnArray<std::int64_t> numbers;  // kNumber, kReal
  ColumnArray<std::uint32_t> ids;     // kId, kChoice
};

struct ScannedColumns {
  std::size_t rows = 0;
  std::vector<ColumnValues> columns;  // one for each that was asked for
};

// Error{kInput} where the rows of a table are together more than `left` bytes, which they are taken from: what the file
// holds, for all tables. Pages that many rows share would cost as much to read as if each row had its own.
void require_own_pages(Database& database, std::string_view table, std::uint64_t& left);

// Each column once. Uses a second thread for large tables. Throws std::logic_error if the table has no such column.
ScannedColumns scan_columns(Database& database, std::string_view table, std::span<const ScanColumn> columns);

}  // namespace tracedb
