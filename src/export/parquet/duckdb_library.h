// DuckDB, loaded when it is needed: programs are not linked to it, and nothing else needs it. Its C interface, as far
// as it is used here, declared as DuckDB documents it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace tracedb {

enum class DuckType : std::uint32_t { kBigint = 5, kUtinyint = 6, kUsmallint = 7, kUinteger = 8, kVarchar = 17 };

struct DuckResult {
  std::uint64_t column_count, row_count, rows_changed;
  void *columns, *error_message, *internal;
};

// The functions by their names without "duckdb_"; a handle is a pointer, freed through its address.
struct DuckFunctions {
  const char* (*library_version)();
  int (*open)(const char* path, void** database);  // 0: success, as of all that return int
  void (*close)(void** database);
  int (*connect)(void* database, void** connection);
  void (*disconnect)(void** connection);
  int (*query)(void* connection, const char* sql, DuckResult* result);
  const char* (*result_error)(DuckResult* result);
  void (*destroy_result)(DuckResult* result);
  std::int64_t (*value_int64)(DuckResult* result, std::uint64_t column, std::uint64_t row);
  void* (*create_logical_type)(DuckType type);
  void* (*create_enum_type)(const char** members, std::uint64_t count);
  DuckType (*enum_internal_type)(void* type);  // of the places in its members that a vector has
  void (*destroy_logical_type)(void** type);
  void* (*create_table_function)();
  void (*destroy_table_function)(void** function);
  void (*table_function_set_name)(void* function, const char* name);
  void (*table_function_set_extra_info)(void* function, void* info, void (*destroy)(void*));
  void (*table_function_set_bind)(void* function, void (*bind)(void* info));
  void (*table_function_set_init)(void* function, void (*init)(void* info));
  void (*table_function_set_function)(void* function, void (*fill)(void* info, void* chunk));
  int (*register_table_function)(void* connection, void* function);
  void* (*bind_get_extra_info)(void* info);
  void (*bind_add_result_column)(void* info, const char* name, void* type);
  void (*bind_set_bind_data)(void* info, void* data, void (*destroy)(void*));
  void (*init_set_max_threads)(void* info, std::uint64_t threads);
  void* (*function_get_bind_data)(void* info);
  std::uint64_t (*vector_size)();
  void* (*data_chunk_get_vector)(void* chunk, std::uint64_t column);
  void (*data_chunk_set_size)(void* chunk, std::uint64_t size);
  void* (*vector_get_data)(void* vector);
  void (*vector_ensure_validity_writable)(void* vector);
  std::uint64_t* (*vector_get_validity)(void* vector);
  void (*vector_assign_string_element_len)(void* vector, std::uint64_t index, const char* text, std::uint64_t length);
};

// The library that TRACEDB_DUCKDB names, else libduckdb.so where the system looks for libraries. It stays loaded.
// Error{kResource} where there is none, or where it lacks a function: one line that says how to get it.
const DuckFunctions& duckdb_library();

// A database in memory that asks nothing of the network.
class DuckDatabase {
 public:
  DuckDatabase();
  ~DuckDatabase();
  DuckDatabase(const DuckDatabase&) = delete;
  DuckDatabase& operator=(const DuckDatabase&) = delete;

  // First column of the first row, 0 where there is none. Error{kResource} with what DuckDB says.
  std::int64_t query(const std::string& sql);
  [[nodiscard]] void* connection() const { return connection_; }

 private:
  const DuckFunctions& duckdb_;
  void *database_ = nullptr, *connection_ = nullptr;
};

std::string duckdb_text(const std::string& text);  // 'a''b'

}  // namespace tracedb
