#include "ingest/nsys/nvtx_name.h"

#include <algorithm>

#include "base/text/decimal.h"

namespace tracedb {
namespace {

// The value after `key` up to the next comma; empty: none.
std::string_view value_of(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + key.size());
  return rest.substr(0, rest.find(','));
}

}  // namespace

std::optional<NvtxOperator> parse_nvtx_operator(std::string_view text) {
  constexpr std::string_view kSizes = ", sizes = ";
  const std::size_t sequence = text.find(", seq = ");
  const std::size_t id = text.find(", op_id = ");
  const std::size_t end = std::min(sequence, id);
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  const std::string_view numbers = text.substr(end);
  NvtxOperator out{text.substr(0, end), parse_int64(value_of(numbers, ", seq = ")), {}};
  if (id != std::string_view::npos && !parse_int64(value_of(numbers, ", op_id = "))) return std::nullopt;
  const std::size_t sizes = numbers.find(kSizes);
  if (sizes == std::string_view::npos) return out;
  const std::string_view rest = numbers.substr(sizes + kSizes.size());
  out.sizes = rest.substr(0, rest.rfind(']') + 1);  // other lists may follow: ", input_op_ids = [...]"
  if (const std::size_t next = rest.find("]], "); next != std::string_view::npos) out.sizes = rest.substr(0, next + 2);
  return out;
}

std::string_view without_api_version(std::string_view name) {
  const std::size_t at = name.rfind("_v");
  if (at == std::string_view::npos || at == 0 || at + 2 == name.size()) return name;
  const std::string_view digits = name.substr(at + 2);
  const bool version = digits.find_first_not_of("0123456789") == std::string_view::npos && digits.size() >= 4;
  return version ? name.substr(0, at) : name;
}

}  // namespace tracedb
