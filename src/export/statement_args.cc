#include "export/statement_args.h"

#include <string>

namespace tracedb {

void add_number(JsonMembers& args, std::string_view key, const Statement& row, int column) {
  if (row.is_null(column)) return;
  if (row.type(column) == ValueType::kInteger) {
    args.number(key, row.int64(column));
    return;
  }
  const std::string_view text = row.text(column);
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  const bool is_number = !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos &&
                         (digits.size() == 1 || digits.front() != '0');
  is_number ? args.json(key, text) : args.text(key, text);
}

void add_real(JsonMembers& args, std::string_view key, const Statement& row, int column) {
  if (!row.is_null(column)) args.real(key, row.real(column));
}

void add_text(JsonMembers& args, std::string_view key, const Statement& row, int column) {
  if (!row.is_null(column)) args.text(key, row.text(column));
}

void add_json(JsonMembers& args, std::string_view key, const Statement& row, int column) {
  if (!row.is_null(column)) args.json(key, row.text(column));
}

void add_triple(JsonMembers& args, std::string_view key, const Statement& row, int first_column) {
  std::string list;
  for (int i = 0; i < 3 && !row.is_null(first_column + i); ++i) {
    list += (i == 0 ? "" : ",") + std::to_string(row.int64(first_column + i));
  }
  if (!list.empty()) args.json(key, "[" + list + "]");
}

}  // namespace tracedb
