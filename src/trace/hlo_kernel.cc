#include "trace/hlo_kernel.h"

namespace tracedb {
namespace {

constexpr std::string_view kAtSign = " @ ", kIsSign = " = ";

// Takes what is before `separator` off `text`; all of it where there is none.
std::string_view take(std::string_view& text, std::string_view separator) {
  const std::size_t end = text.find(separator);
  const std::string_view taken = text.substr(0, end);
  text = end == std::string_view::npos ? std::string_view() : text.substr(end + separator.size());
  return taken;
}

}  // namespace

std::string hlo_kernel_text(const HloKernel& kernel) {
  std::string out(kernel.kernel);
  out.append(kAtSign).append(kernel.module).append("/").append(kernel.op);
  if (kernel.opcode.empty()) return out;
  out.append(kIsSign).append(kernel.opcode);
  if (!kernel.target.empty()) out.append(":").append(kernel.target);
  if (!kernel.shape.empty()) out.append(" ").append(kernel.shape);
  return out;
}

std::optional<HloKernel> parse_hlo_kernel(std::string_view text) {
  const std::size_t at = text.rfind(kAtSign);
  if (at == std::string_view::npos) return std::nullopt;
  HloKernel out;
  out.kernel = text.substr(0, at);
  std::string_view rest = text.substr(at + kAtSign.size());
  std::string_view place = take(rest, kIsSign);
  const std::size_t slash = place.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  out.module = place.substr(0, slash);
  out.op = place.substr(slash + 1);
  std::string_view code = take(rest, " ");
  out.opcode = take(code, ":");
  out.target = code;
  out.shape = rest;
  return out;
}

}  // namespace tracedb
