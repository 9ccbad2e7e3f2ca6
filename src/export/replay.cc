#include "export/replay.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/text/regular_expression.h"
#include "passes/work/operator_work.h"
#include "report/json_text.h"
#include "sql/scripts.h"

namespace tracedb {
namespace {

[[noreturn]] void refuse(const std::string& op, std::string_view why) {
  throw Error(ErrorCode::kUsage, fmt::format("--replay {}: {}", op, why));
}

// A text of valid JSON as a literal of Python: every escape that json_string() writes is one of Python's.
std::string literal(const Statement& row, int column) {
  return json_string(row.is_null(column) ? "null" : row.text(column));
}

}  // namespace

ReplaySets write_replay(std::ostream& out, Database& database, const std::string& op) {
  if (!RegularExpression("^[A-Za-z_][A-Za-z_0-9]*(::[A-Za-z_][A-Za-z_0-9]*)+$").is_in(op)) {
    refuse(op, "only operators of torch.ops, as aten::mm, run by themselves: this is no such name");
  }
  Statement calls(
      database,
      "SELECT count(*), s.dims, s.types, s.strides, s.concrete_inputs, "
      "coalesce(json_valid(s.dims) AND json_valid(s.types) AND json_valid(coalesce(s.strides, 'null')) "
      "AND json_valid(coalesce(s.concrete_inputs, 'null')), 0) "
      "FROM string t JOIN cpu_op o ON o.name_id = t.id LEFT JOIN op_shape s ON s.id = o.shape_id "
      "WHERE t.value = ? GROUP BY s.dims, s.types, s.strides, s.concrete_inputs ORDER BY 1 DESC, 2, 3, 4, 5",
      op);
  std::string cases;
  ReplaySets sets;
  while (calls.step()) {
    if (calls.int64(5) == 0) {
      ++sets.left_out;
      continue;
    }
    ++sets.written;
    cases += fmt::format("    ({}, {}, {}, {}, {}),\n", calls.int64(0), literal(calls, 1), literal(calls, 2),
                         literal(calls, 3), literal(calls, 4));
  }
  if (sets.written == 0 && sets.left_out == 0) {
    refuse(op, "the trace has no such operator (trace-query operators lists them)");
  }
  if (sets.written == 0) refuse(op, "no call of it has its shapes and types: record them with record_shapes=True");
  std::string program(script("programs/replay")), types;
  for (const ElementType& one : element_types()) {
    const std::string_view name = one.name.substr(one.name.starts_with("c10::") ? 5 : 0);
    types += fmt::format("    {}: {},\n", json_string(name), json_string(one.torch));
  }
  for (const auto& [place, text] : {std::pair<std::string_view, std::string>{"{operator}", json_string(op)},
                                    {"{types}", types},
                                    {"{cases}", cases}}) {
    program.replace(program.find(place), place.size(), text);
  }
  out << program;
  return sets;
}

}  // namespace tracedb
