#include "ascend/msmodeling/profile_totals.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/input_file.h"
#include "base/stream/byte_source.h"
#include "base/stream/csv_reader.h"
#include "base/text/decimal.h"
#include "base/text/utf8.h"

namespace tracedb::msmodeling {
namespace {

class TableRow {
 public:
  TableRow(const std::string& path, const CsvHeader& header, const CsvRecord& record)
      : path_(path), header_(header), record_(record) {}

  // Without white space; `otherwise` where the table has no such column.
  [[nodiscard]] std::string_view text(std::string_view name, std::string_view otherwise) const {
    const auto column = header_.find({name});
    const auto text = column ? record_.field(*column) : std::optional(otherwise);
    if (!text) refuse(fmt::format("no cell for the column '{}'", name));
    return trim_space(*text);
  }

  [[nodiscard]] double number(std::string_view name) const {
    const std::string_view cell = text(name, "0");
    const auto value = parse_double(cell);
    if (!value) refuse(fmt::format("{} '{}' is no number", name, valid_utf8(cell).text));
    return *value;
  }

  [[noreturn]] void refuse(std::string_view what) const {
    throw Error(ErrorCode::kInput, fmt::format("{}, line {}: {}", printable_path(path_), record_.line, what));
  }

 private:
  const std::string& path_;
  const CsvHeader& header_;
  const CsvRecord& record_;
};

// int(float(text)), a double for want of limits; 0 where it is no number.
double start_key(std::string_view text) {
  return std::trunc(parse_double(text).value_or(0)) + 0.0;  // one zero
}

class Collectives {
 public:
  void add(double start, std::string_view type, double us) {
    const auto [entry, is_new] = by_start_[start].try_emplace(std::string(type), groups_.size());
    if (is_new) groups_.emplace_back(type, 0);
    double& longest = groups_[entry->second].second;
    if (us > longest) longest = us;
  }

  void add_to(ProfileTotals& totals) const {
    for (const auto& [type, us] : groups_) {
      ProfileTotal& total = totals[type];
      total.us += us;
      ++total.count;
    }
  }

 private:
  std::unordered_map<double, std::unordered_map<std::string, std::size_t>> by_start_;
  std::vector<std::pair<std::string, double>> groups_;  // in the order of their first rows
};

}  // namespace

ProfileTotals read_profile(const std::string& path) {
  const auto source = open_byte_source(path);
  CsvReader reader(*source, {.byte_order_mark = ByteOrderMark::kKeep, .unclosed_quote = UnclosedQuote::kEndsWithFile});
  CsvRecord record;
  ProfileTotals totals;
  if (!reader.next(record)) return totals;
  const CsvHeader header(record.fields);
  Collectives collectives;
  while (reader.next(record)) {
    if (record.fields.empty()) continue;
    const TableRow row(path, header, record);
    const std::string_view type = row.text("Type", "");
    if (type.empty()) continue;
    if (valid_utf8(type).replaced > 0) row.refuse("the type is no UTF-8");
    const double us = row.number("Duration(us)");
    if (type.starts_with("hcom_")) {
      collectives.add(start_key(row.text("Start Time(us)", "0")), type, us);
    } else if (!type.ends_with("AicpuKernel")) {
      ProfileTotal& total = totals[std::string(type)];
      total.us += us;
      ++total.count;
    }
  }
  collectives.add_to(totals);
  return totals;
}

}  // namespace tracedb::msmodeling
