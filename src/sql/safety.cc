#include "sql/safety.h"

#include <sqlite3.h>
#include <strings.h>

#include <algorithm>
#include <string_view>

#include "sql/bounded_printf.h"

namespace tracedb {
namespace {

bool is_one_of(const char* name, std::initializer_list<const char*> names) {
  return name != nullptr &&
         std::any_of(names.begin(), names.end(), [name](const char* other) { return strcasecmp(name, other) == 0; });
}

// PRAGMAs that only tell. Those in the second list would also set something if given a value.
bool is_harmless_pragma(const char* name, const char* value) {
  if (is_one_of(name,
                {"table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "database_list",
                 "function_list", "module_list", "collation_list", "compile_options", "foreign_key_list"})) {
    return true;
  }
  return value == nullptr && is_one_of(name, {"user_version", "application_id", "schema_version", "page_size",
                                              "page_count", "freelist_count", "encoding", "data_version"});
}

int authorize(void*, int action, const char* first, const char* second, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return is_one_of(second, {"load_extension", "fts3_tokenizer", "rtreecheck", "writefile", "readfile", "edit",
                                "zeroblob", "randomblob"})
                 ? SQLITE_DENY
                 : SQLITE_OK;
    case SQLITE_PRAGMA:
      return is_harmless_pragma(first, second) ? SQLITE_OK : SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

// Table-valued functions declare their columns on first use, by a CREATE TABLE that the authorizer would refuse.
constexpr const char* kTableFunctions =
    "SELECT 1 FROM json_each('[]'); SELECT 1 FROM json_tree('[]'); SELECT 1 FROM pragma_table_info('meta');"
    "SELECT 1 FROM pragma_table_xinfo('meta'); SELECT 1 FROM pragma_table_list('meta');"
    "SELECT 1 FROM pragma_index_list('meta'); SELECT 1 FROM pragma_index_info('meta');"
    "SELECT 1 FROM pragma_function_list; SELECT 1 FROM pragma_module_list; SELECT 1 FROM pragma_database_list; SELECT "
    "1 FROM pragma_compile_options";

}  // namespace

void harden(Database& database) {
  sqlite3* handle = database.handle();
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, kLongestValue);
  database.execute(
      "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA query_only=ON; PRAGMA mmap_size=0;"
      "PRAGMA cache_size=-65536");
}

SqlGuard::SqlGuard(Database& database, const SqlLimits& limits) : database_(database) {
  sqlite3* handle = database.handle();
  database.execute(kTableFunctions);
  register_bounded_printf(database, limits.value_bytes);
  sqlite3_hard_heap_limit64(limits.heap_bytes);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, limits.value_bytes);
  sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
  sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, 200);
  sqlite3_limit(handle, SQLITE_LIMIT_COMPOUND_SELECT, 200);
  sqlite3_limit(handle, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_limit(handle, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
  sqlite3_set_authorizer(handle, authorize, nullptr);
}

SqlGuard::~SqlGuard() {
  sqlite3_set_authorizer(database_.handle(), nullptr, nullptr);
  sqlite3_hard_heap_limit64(0);
}

}  // namespace tracedb
