#include "export/replay.h"

#include <fmt/format.h>

#include "base/error.h"
#include "report/json_text.h"
#include "sql/scripts.h"

namespace tracedb {
namespace {

[[noreturn]] void refuse(const std::string& op, std::string_view why) {
  throw Error(ErrorCode::kUsage, fmt::format("--replay {}: {}", op, why));
}

// A JSON text as a literal of Python: every escape of the one is one of the other.
std::string literal(std::string_view json) { return json_string(json.empty() ? "null" : json); }

void put(std::string& text, std::string_view place, std::string_view what) {
  text.replace(text.find(place), place.size(), what);
}

}  // namespace

std::int64_t write_replay(std::ostream& out, Database& database, const std::string& op) {
  Statement calls(
      database,
      "SELECT count(*), s.dims, s.types, s.strides, s.concrete_inputs "
      "FROM string t JOIN cpu_op o ON o.name_id = t.id LEFT JOIN op_shape s ON s.id = o.shape_id "
      "WHERE t.value = ? GROUP BY s.dims, s.types, s.strides, s.concrete_inputs ORDER BY 1 DESC, 2, 3, 4, 5");
  calls.bind(1, op);
  std::string cases;
  std::int64_t sets = 0;
  bool any = false;
  while (calls.step()) {
    any = true;
    if (calls.is_null(1) || calls.is_null(2)) continue;
    ++sets;
    cases +=
        fmt::format("    ({}, {}, {}, {}, {}),\n", calls.int64(0), literal(calls.text(1)), literal(calls.text(2)),
                    literal(calls.is_null(3) ? "" : calls.text(3)), literal(calls.is_null(4) ? "" : calls.text(4)));
  }
  if (!any) refuse(op, "the trace has no such operator (trace-query operators lists them)");
  if (sets == 0) refuse(op, "no call of it has its shapes and types: record them with record_shapes=True");
  if (op.find("::") == std::string::npos) {
    refuse(op, "only operators of torch.ops, as aten::mm, run by themselves: this name has no namespace");
  }
  std::string text(script("programs/replay"));
  put(text, "{operator}", literal(json_string(op)));
  put(text, "{cases}", cases);
  out << text;
  return sets;
}

}  // namespace tracedb
