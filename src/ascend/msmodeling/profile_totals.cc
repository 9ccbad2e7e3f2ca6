#include "ascend/msmodeling/profile_totals.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/python/failure.h"
#include "base/python/number.h"
#include "base/python/text.h"
#include "base/stream/csv_reader.h"

namespace tracedb::msmodeling {
namespace {

constexpr std::size_t kLongestField = 131072;  // characters, of Python's csv module

// What row.get(name, otherwise) gives; nullopt: None, which a row has where it is too short.
class DictRow {
 public:
  DictRow(const CsvHeader& header, const CsvRecord& record) : header_(header), record_(record) {}

  [[nodiscard]] std::optional<std::string_view> get(std::string_view name, std::string_view otherwise) const {
    const auto column = header_.find({name});
    return column ? record_.field(*column) : std::optional(otherwise);
  }

  // row.get(name, otherwise).strip()
  [[nodiscard]] std::string_view stripped(std::string_view name, std::string_view otherwise) const {
    const auto text = get(name, otherwise);
    if (!text) throw python::failure("AttributeError", "'NoneType' object has no attribute 'strip'");
    return python::strip(*text);
  }

  // float(row.get(name, 0))
  [[nodiscard]] double number(std::string_view name) const {
    const auto text = get(name, "0");
    if (!text) {
      throw python::failure("TypeError", "float() argument must be a string or a real number, not 'NoneType'");
    }
    if (const auto value = python::to_float(*text)) return *value;
    throw python::failure("ValueError", "could not convert string to float: " + python::repr(*text));
  }

 private:
  const CsvHeader& header_;
  const CsvRecord& record_;
};

// int(float(text)), a double for want of limits; 0 where that is a ValueError.
double start_key(std::string_view text) {
  const auto start = python::to_float(text);
  if (!start || std::isnan(*start)) return 0;
  if (std::isinf(*start)) throw python::failure("OverflowError", "cannot convert float infinity to integer");
  return std::trunc(*start) + 0.0;  // one zero
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

void check_fields(const CsvRecord& record) {
  for (const std::string_view field : record.fields) {
    if (field.size() <= kLongestField) continue;
    std::size_t characters = 0;
    for (std::size_t at = 0; at < field.size(); ++characters) python::next_code_point(field, at);
    if (characters <= kLongestField) continue;
    throw python::failure("_csv.Error", fmt::format("field larger than field limit ({})", kLongestField));
  }
}

}  // namespace

ProfileTotals read_profile(const std::string& path) {
  const std::string text = python::read_text(path);
  const auto source = memory_byte_source(text);
  CsvReader reader(*source, {.byte_order_mark = ByteOrderMark::kKeep, .unclosed_quote = UnclosedQuote::kEndsWithFile});
  CsvRecord record;
  ProfileTotals totals;
  if (!reader.next(record)) return totals;
  check_fields(record);
  const CsvHeader header(record.fields);
  Collectives collectives;
  while (reader.next(record)) {
    check_fields(record);
    if (record.fields.empty()) continue;
    const DictRow row(header, record);
    const std::string_view type = row.stripped("Type", "");
    if (type.empty()) continue;
    const double us = row.number("Duration(us)");
    if (type.starts_with("hcom_")) {
      collectives.add(start_key(row.stripped("Start Time(us)", "0")), type, us);
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
