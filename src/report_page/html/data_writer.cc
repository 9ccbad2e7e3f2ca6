#include "report_page/html/data_writer.h"

#include <fmt/format.h>

#include <cmath>

#include "report_page/html/safe_text.h"

namespace tracedb {

void DataWriter::separate() {
  if (!first_) out_ += ',';
  first_ = false;
}

DataWriter& DataWriter::open(char bracket) {
  separate();
  out_ += bracket;
  first_ = true;
  return *this;
}

DataWriter& DataWriter::close(char bracket) {
  out_ += bracket;
  first_ = false;
  return *this;
}

DataWriter& DataWriter::key(std::string_view name) {
  text(name);
  out_ += ':';
  first_ = true;
  return *this;
}

DataWriter& DataWriter::text(std::string_view value) { return json(data_string(value)); }

DataWriter& DataWriter::number(std::int64_t value) { return json(std::to_string(value)); }

DataWriter& DataWriter::real(double value) { return std::isfinite(value) ? json(fmt::format("{}", value)) : null(); }

DataWriter& DataWriter::null() { return json("null"); }

DataWriter& DataWriter::json(std::string_view value) {
  separate();
  out_ += value;
  return *this;
}

DataWriter& DataWriter::list(std::string_view name, const std::vector<std::string>& texts) {
  key(name).open('[');
  for (const std::string& one : texts) text(one);
  return close(']');
}

std::int64_t NameList::index_of(const std::string& name) {
  constexpr std::size_t kMostBytes = 80'000;
  const std::string others = "[others]";
  if (const auto found = index_.find(name); found != index_.end()) return found->second;
  bytes_ += data_string(name).size();
  if (bytes_ > kMostBytes && name != others) return index_of(others);
  names_.push_back(name);
  return index_[name] = static_cast<std::int64_t>(names_.size()) - 1;
}

}  // namespace tracedb
