// The functions of SQLite that src/sql calls, for a program that loaded us as an extension: each goes to that program's
// SQLite, through the table of functions it gave us. Linked into the extension only; the programs have the library's.
// golden.sqlite_extension fails if a function is missing here, which would come from libsqlite3.so, a second SQLite.
#include <fmt/format.h>

#include <atomic>
#include <cstdarg>

#define SQLITE_CORE 1  // sqlite3ext.h then makes no macros of the functions' names
#include <sqlite3ext.h>

#include "base/error.h"
#include "sql/host/host_sqlite.h"

namespace tracedb {
namespace {

std::atomic<const sqlite3_api_routines*> routines_of_host = nullptr;

const sqlite3_api_routines* host() { return routines_of_host.load(std::memory_order_relaxed); }

}  // namespace

void use_host_sqlite(const sqlite3_api_routines* routines) {
  constexpr int kOldest = 3'040'000;  // what the statements of the passes are written for
  if (routines->libversion_number() < kOldest) {
    throw Error(ErrorCode::kUsage,
                fmt::format("tracedb needs SQLite 3.40 or later; this program has {}", routines->libversion()));
  }
  const sqlite3_api_routines* known = nullptr;
  if (!routines_of_host.compare_exchange_strong(known, routines) && known != routines) {
    throw Error(
        ErrorCode::kUsage,
        "this process has two copies of SQLite, and tracedb was loaded into the other one first: use one of them");
  }
}

int fail_loading(const sqlite3_api_routines* routines, char** message, std::string_view text) {
  if (message != nullptr) *message = routines->mprintf("%.*s", static_cast<int>(text.size()), text.data());
  return SQLITE_ERROR;
}

}  // namespace tracedb

using tracedb::host;
using Context = sqlite3_context;
using Statement = sqlite3_stmt;
using Value = sqlite3_value;
using Index = sqlite3_index_info;
using Size = sqlite3_uint64;
using Text = const char*;
using Free = void (*)(void*);
using Call = void (*)(Context*, int, Value**);
using End = void (*)(Context*);

extern "C" {

// FORWARD(result, name without sqlite3_, parameters, arguments...)
#define FORWARD(result, name, parameters, ...) \
  result sqlite3_##name parameters { return host()->name(__VA_ARGS__); }

// Connections
FORWARD(int, open_v2, (Text name, sqlite3** db, int flags, Text vfs), name, db, flags, vfs)
FORWARD(int, close_v2, (sqlite3 * db), db)
FORWARD(int, exec, (sqlite3 * db, Text sql, sqlite3_callback call, void* own, char** error), db, sql, call, own, error)
FORWARD(Text, errmsg, (sqlite3 * db), db)
FORWARD(int, error_offset, (sqlite3 * db), db)
FORWARD(int, extended_errcode, (sqlite3 * db), db)
FORWARD(Text, errstr, (int code), code)
FORWARD(int, limit, (sqlite3 * db, int id, int limit), db, id, limit)
FORWARD(int, db_release_memory, (sqlite3 * db), db)
FORWARD(sqlite3_int64, hard_heap_limit64, (sqlite3_int64 bytes), bytes)
FORWARD(void, progress_handler, (sqlite3 * db, int steps, int (*call)(void*), void* own), db, steps, call, own)
FORWARD(int, set_authorizer, (sqlite3 * db, int (*call)(void*, int, Text, Text, Text, Text), void* own), db, call, own)
FORWARD(int, file_control, (sqlite3 * db, Text schema, int what, void* argument), db, schema, what, argument)
FORWARD(Text, db_filename, (sqlite3 * db, Text schema), db, schema)
void sqlite3_interrupt(sqlite3* db) { host()->interruptx(db); }

// For options that take a switch and report it; those of src/sql do.
int sqlite3_db_config(sqlite3* db, int option, ...) {
  std::va_list arguments;
  va_start(arguments, option);
  const int wanted = va_arg(arguments, int);
  int* reported = va_arg(arguments, int*);
  va_end(arguments);
  return host()->db_config(db, option, wanted, reported);
}

// Statements
FORWARD(int, prepare_v2, (sqlite3 * db, Text sql, int size, Statement** to, Text* rest), db, sql, size, to, rest)
FORWARD(int, prepare_v3, (sqlite3 * db, Text sql, int size, unsigned flags, Statement** to, Text* rest), db, sql, size,
        flags, to, rest)
FORWARD(int, step, (Statement * s), s)
FORWARD(int, reset, (Statement * s), s)
FORWARD(int, finalize, (Statement * s), s)
FORWARD(Text, sql, (Statement * s), s)
FORWARD(char*, expanded_sql, (Statement * s), s)
FORWARD(int, stmt_isexplain, (Statement * s), s)
FORWARD(int, stmt_readonly, (Statement * s), s)
FORWARD(int, bind_blob64, (Statement * s, int at, const void* data, Size n, Free free), s, at, data, n, free)
FORWARD(int, bind_double, (Statement * s, int at, double value), s, at, value)
FORWARD(int, bind_int64, (Statement * s, int at, sqlite3_int64 value), s, at, value)
FORWARD(int, bind_null, (Statement * s, int at), s, at)
FORWARD(int, bind_text64, (Statement * s, int at, Text text, Size n, Free free, unsigned char code), s, at, text, n,
        free, code)
FORWARD(int, bind_value, (Statement * s, int at, const Value* value), s, at, value)
FORWARD(int, bind_parameter_count, (Statement * s), s)
FORWARD(int, bind_parameter_index, (Statement * s, Text name), s, name)
FORWARD(Text, bind_parameter_name, (Statement * s, int at), s, at)
FORWARD(int, clear_bindings, (Statement * s), s)
FORWARD(int, column_count, (Statement * s), s)
FORWARD(Text, column_name, (Statement * s, int at), s, at)
FORWARD(int, column_type, (Statement * s, int at), s, at)
FORWARD(const void*, column_blob, (Statement * s, int at), s, at)
FORWARD(int, column_bytes, (Statement * s, int at), s, at)
FORWARD(double, column_double, (Statement * s, int at), s, at)
FORWARD(sqlite3_int64, column_int64, (Statement * s, int at), s, at)
FORWARD(const unsigned char*, column_text, (Statement * s, int at), s, at)
FORWARD(Value*, column_value, (Statement * s, int at), s, at)

// Functions: arguments and results
FORWARD(int, create_function_v2,
        (sqlite3 * db, Text name, int n, int flags, void* own, Call call, Call step, End end, Free free), db, name, n,
        flags, own, call, step, end, free)
FORWARD(int, create_window_function,
        (sqlite3 * db, Text name, int n, int flags, void* own, Call step, End end, End value, Call inverse, Free free),
        db, name, n, flags, own, step, end, value, inverse, free)
FORWARD(void*, user_data, (Context * c), c)
FORWARD(void*, aggregate_context, (Context * c, int size), c, size)
FORWARD(void*, get_auxdata, (Context * c, int argument), c, argument)
FORWARD(void, set_auxdata, (Context * c, int argument, void* data, Free free), c, argument, data, free)
FORWARD(int, value_type, (Value * v), v)
FORWARD(int, value_numeric_type, (Value * v), v)
FORWARD(const void*, value_blob, (Value * v), v)
FORWARD(int, value_bytes, (Value * v), v)
FORWARD(double, value_double, (Value * v), v)
FORWARD(sqlite3_int64, value_int64, (Value * v), v)
FORWARD(const unsigned char*, value_text, (Value * v), v)
FORWARD(void, result_blob64, (Context * c, const void* data, Size n, Free free), c, data, n, free)
FORWARD(void, result_double, (Context * c, double value), c, value)
FORWARD(void, result_error, (Context * c, Text text, int size), c, text, size)
FORWARD(void, result_error_nomem, (Context * c), c)
FORWARD(void, result_error_toobig, (Context * c), c)
FORWARD(void, result_int, (Context * c, int value), c, value)
FORWARD(void, result_int64, (Context * c, sqlite3_int64 value), c, value)
FORWARD(void, result_null, (Context * c), c)
FORWARD(void, result_text64, (Context * c, Text text, Size n, Free free, unsigned char code), c, text, n, free, code)
FORWARD(void, result_value, (Context * c, Value* value), c, value)

// Virtual tables
FORWARD(int, create_module_v2, (sqlite3 * db, Text name, const sqlite3_module* module, void* own, Free free), db, name,
        module, own, free)
FORWARD(int, declare_vtab, (sqlite3 * db, Text sql), db, sql)
FORWARD(Text, vtab_collation, (Index * index, int constraint), index, constraint)
FORWARD(int, vtab_distinct, (Index * index), index)
FORWARD(int, vtab_in, (Index * index, int constraint, int wanted), index, constraint, wanted)
FORWARD(int, vtab_in_first, (Value * list, Value** to), list, to)
FORWARD(int, vtab_in_next, (Value * list, Value** to), list, to)
FORWARD(int, vtab_rhs_value, (Index * index, int constraint, Value** to), index, constraint, to)
// For options without an argument; those of src/sql have none.
int sqlite3_vtab_config(sqlite3* db, int option, ...) { return host()->vtab_config(db, option); }

// Memory and text
FORWARD(void, free, (void* memory), memory)
FORWARD(int, stricmp, (Text one, Text other), one, other)
char* sqlite3_mprintf(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  char* text = host()->vmprintf(format, arguments);
  va_end(arguments);
  return text;
}

#undef FORWARD
}
