#include "sql/tokens.h"

#include <algorithm>
#include <cctype>

namespace tracedb {
namespace {

bool is_word_part(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) != 0 || c == '_' || c == '$' || byte >= 0x80U;
}

bool is_comment(std::string_view rest) { return rest.starts_with("--") || rest.starts_with("/*"); }

std::size_t token_size(std::string_view rest) {
  const auto through = [rest](std::string_view end, std::size_t from) {
    const std::size_t at = rest.find(end, from);
    return at == std::string_view::npos ? rest.size() : at + end.size();
  };
  if (is_comment(rest)) return through(rest[0] == '-' ? "\n" : "*/", 2);
  if (rest[0] == '[') return through("]", 1);
  if (rest[0] == '\'' || rest[0] == '"' || rest[0] == '`') return through(rest.substr(0, 1), 1);
  const auto word = std::ranges::find_if_not(rest, is_word_part) - rest.begin();
  if (word > 0) return static_cast<std::size_t>(word);
  return rest.size() > 1 && (rest[1] == '=' || rest.starts_with("<>")) ? 2 : 1;
}

}  // namespace

std::vector<std::string_view> sql_tokens(std::string_view statement) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0, size = 0; at < statement.size(); at += size) {
    at = statement.find_first_not_of(" \t\r\n\f", at);
    if (at == std::string_view::npos) break;
    size = token_size(statement.substr(at));
    if (!is_comment(statement.substr(at))) out.push_back(statement.substr(at, size));
  }
  return out;
}

}  // namespace tracedb
