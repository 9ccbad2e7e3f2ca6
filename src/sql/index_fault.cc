#include "sql/index_fault.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/error.h"
#include "sql/schema_check.h"

namespace tracedb {
void fail_as_damaged(const std::filesystem::path& path, std::string_view why) {
  throw Error(ErrorCode::kInput, fmt::format("{}: the index is damaged ({}); build it again with trace-ingest --force",
                                             path.string(), why));
}

void fail_in_index(sqlite3* handle, const std::filesystem::path& path, int sqlite_code, std::string_view message,
                   std::string_view doing) {
  const bool impossible_value =
      (sqlite_code & 0xff) == SQLITE_TOOBIG || message == "integer overflow" || message == "malformed JSON";
  if (impossible_value) fail_as_damaged(path, fmt::format("an impossible value: {}", message));
  const std::string difference = schema_difference(handle);
  if (!difference.empty()) fail_as_damaged(path, fmt::format("{}: {}", difference, message));
  throw Error(ErrorCode::kResource,
              fmt::format("{}: internal error, please report it: {}: {}", path.string(), doing, message));
}

std::string doing_text(std::string_view what, std::string_view sql) {
  constexpr std::size_t kLongest = 200;
  std::string line;
  for (const char c : sql.substr(0, kLongest)) {
    const bool space = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!space || (!line.empty() && line.back() != ' ')) line += space ? ' ' : c;
  }
  return fmt::format("{} [{}{}]", what, line, sql.size() > kLongest ? " ..." : "");
}

}  // namespace tracedb
