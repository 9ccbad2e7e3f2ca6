// A request to the server of pages: however its bytes are cut, it is the same request or the same refusal; what is
// taken has a plain path below the token and parameters without NUL.
#include <algorithm>
#include <string>
#include <string_view>

#include "fuzz_input.h"
#include "trace_query/commands/serve/http_request.h"

namespace tracedb {
namespace {

constexpr std::string_view kToken = "0123456789abcdef0123456789abcdef";

struct Outcome {
  int status = -1;  // negative: not whole yet
  std::string path;
  std::vector<std::pair<std::string, std::string>> params;
  bool operator==(const Outcome&) const = default;
};

Outcome outcome(std::string_view bytes, std::size_t piece) {
  HttpParser parser;
  std::string waiting;
  while (!bytes.empty() && !parser.is_done() && parser.refused() == HttpStatus::unknown) {
    waiting += bytes.substr(0, piece);
    bytes.remove_prefix(std::min(piece, bytes.size()));
    const std::size_t taken = parser.put(waiting);
    require(taken <= waiting.size(), "no more is taken than came");
    waiting.erase(0, taken);
  }
  if (parser.refused() != HttpStatus::unknown) return {static_cast<int>(parser.refused()), {}, {}};
  if (!parser.is_done()) return {};
  HttpRequest request;
  const int status = static_cast<int>(parser.read(kToken, request));
  if (status != 0) return {status, {}, {}};
  return {0, request.path, request.params};
}

}  // namespace
}  // namespace tracedb

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {  // NOLINT
  tracedb::FuzzInput input(data, size);
  const std::size_t piece = input.byte() + std::size_t{1};
  const tracedb::Outcome whole = tracedb::outcome(input.rest(), input.rest().size() + 1);
  const tracedb::Outcome cut = tracedb::outcome(input.rest(), piece);
  const bool both_refuse = whole.status >= 400 && cut.status >= 400;  // for another reason, where a limit is met first
  tracedb::require(both_refuse || whole == cut, "pieces change nothing");
  if (whole.status != 0) return 0;
  tracedb::require(whole.path.find("..") == std::string::npos && whole.path.find('%') == std::string::npos,
                   "a plain path");
  for (const auto& [name, value] : whole.params)
    tracedb::require((name + value).find('\0') == std::string::npos, "no NUL");
  return 0;
}
