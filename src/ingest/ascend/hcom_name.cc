#include "ingest/ascend/hcom_name.h"

#include "base/text/decimal.h"

namespace tracedb {

std::optional<HcomName> parse_hcom_name(std::string_view name) {
  constexpr std::string_view kPrefix = "hcom_";
  const std::size_t separator = name.find("__");
  if (!is_hcom(name) || separator == std::string_view::npos || separator <= kPrefix.size()) return std::nullopt;
  HcomName out;
  out.type = name.substr(0, separator + 1);
  out.operation = name.substr(kPrefix.size(), separator - kPrefix.size());
  const std::string_view rest = name.substr(separator + 2);
  const std::size_t group_end = rest.find('_');
  if (group_end == std::string_view::npos) return std::nullopt;
  out.group = rest.substr(0, group_end);
  const std::string_view behind = rest.substr(group_end + 1);
  const auto sequence = parse_int64(behind.substr(0, behind.find('_')));
  if (!sequence || *sequence < 0) return std::nullopt;
  out.sequence = *sequence;
  return out;
}

}  // namespace tracedb
