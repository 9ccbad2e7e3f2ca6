#include "export/parquet/duckdb_library.h"

#ifndef TRACEDB_STATIC
#include <dlfcn.h>
#endif
#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "base/error.h"

namespace tracedb {
namespace {

constexpr const char* kLibraryVariable = "TRACEDB_DUCKDB";
#ifdef TRACEDB_STATIC  // Such a program has no dynamic linker.
constexpr std::string_view kCannotLoad = "cannot be loaded by a program that is linked statically";
constexpr std::string_view kHowToGetIt =
    "parquet needs trace-query of the package for Debian, or one that you built; --format tsv needs nothing";
void* load_library(const char*) { return nullptr; }
void* find_symbol(void*, const char*) { return nullptr; }
#else
constexpr std::string_view kCannotLoad = "cannot be loaded";
constexpr std::string_view kHowToGetIt =
    "parquet is written by libduckdb.so: get it from https://duckdb.org/install (C/C++) or from the npm package "
    "@duckdb/node-bindings-linux-x64, and set TRACEDB_DUCKDB to the file; --format tsv needs nothing";
void* load_library(const char* name) { return ::dlopen(name, RTLD_NOW | RTLD_LOCAL); }
void* find_symbol(void* library, const char* name) { return ::dlsym(library, name); }
#endif

[[noreturn]] void fail_to_load(const std::string& name, std::string_view reason) {
  throw Error(ErrorCode::kResource, fmt::format("{}: {}; {}", name, reason, kHowToGetIt));
}

class Loader {
 public:
  Loader() {
    const char* named = std::getenv(kLibraryVariable);  // NOLINT(concurrency-mt-unsafe): nobody sets it
    name_ = named == nullptr || *named == '\0' ? "libduckdb.so" : named;
    handle_ = load_library(name_.c_str());
    if (handle_ == nullptr) fail_to_load(name_, kCannotLoad);
  }

  // A name without "duckdb_", the function, and so on.
  template <class Function, class... Rest>
  void find(const char* name, Function& function, Rest&... rest) const {
    const std::string symbol = std::string("duckdb_") + name;
    void* const address = find_symbol(handle_, symbol.c_str());
    if (address == nullptr) fail_to_load(name_, "has no function " + symbol);
    function = reinterpret_cast<Function>(address);
    if constexpr (sizeof...(rest) > 0) find(rest...);
  }

 private:
  std::string name_;
  void* handle_;
};

DuckFunctions load() {
  const Loader library;
  DuckFunctions found{};
  library.find("library_version", found.library_version, "open", found.open, "close", found.close, "connect",
               found.connect, "disconnect", found.disconnect, "query", found.query, "result_error", found.result_error,
               "destroy_result", found.destroy_result, "value_int64", found.value_int64, "create_logical_type",
               found.create_logical_type, "create_enum_type", found.create_enum_type, "enum_internal_type",
               found.enum_internal_type, "destroy_logical_type", found.destroy_logical_type, "create_table_function",
               found.create_table_function, "destroy_table_function", found.destroy_table_function,
               "table_function_set_name", found.table_function_set_name, "table_function_set_extra_info",
               found.table_function_set_extra_info, "table_function_set_bind", found.table_function_set_bind,
               "table_function_set_init", found.table_function_set_init, "table_function_set_function",
               found.table_function_set_function, "register_table_function", found.register_table_function,
               "bind_get_extra_info", found.bind_get_extra_info, "bind_add_result_column", found.bind_add_result_column,
               "bind_set_bind_data", found.bind_set_bind_data, "init_set_max_threads", found.init_set_max_threads,
               "function_get_bind_data", found.function_get_bind_data, "vector_size", found.vector_size,
               "data_chunk_get_vector", found.data_chunk_get_vector, "data_chunk_set_size", found.data_chunk_set_size,
               "vector_get_data", found.vector_get_data, "vector_ensure_validity_writable",
               found.vector_ensure_validity_writable, "vector_get_validity", found.vector_get_validity,
               "vector_assign_string_element_len", found.vector_assign_string_element_len);
  return found;
}

}  // namespace

const DuckFunctions& duckdb_library() {
  static const DuckFunctions kFunctions = load();
  return kFunctions;
}

DuckDatabase::DuckDatabase() : duckdb_(duckdb_library()) {
  if (duckdb_.open(nullptr, &database_) != 0 || duckdb_.connect(database_, &connection_) != 0) {
    duckdb_.close(&database_);
    throw Error(ErrorCode::kResource, "DuckDB cannot make a database in memory");
  }
  query("SET autoinstall_known_extensions = false");
  query("SET autoload_known_extensions = false");
}

DuckDatabase::~DuckDatabase() {
  duckdb_.disconnect(&connection_);
  duckdb_.close(&database_);
}

std::int64_t DuckDatabase::query(const std::string& sql) {
  DuckResult result{};
  const bool failed = duckdb_.query(connection_, sql.c_str(), &result) != 0;
  const char* said = failed ? duckdb_.result_error(&result) : nullptr;
  std::string reason = said == nullptr ? "" : said;
  for (char& c : reason) c = c == '\n' ? ' ' : c;
  const std::int64_t value = failed ? 0 : duckdb_.value_int64(&result, 0, 0);
  duckdb_.destroy_result(&result);
  if (failed) throw Error(ErrorCode::kResource, fmt::format("DuckDB {}: {}", duckdb_.library_version(), reason));
  return value;
}

std::string duckdb_text(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

}  // namespace tracedb
