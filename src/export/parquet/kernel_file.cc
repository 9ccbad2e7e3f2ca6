#include "export/parquet/kernel_file.h"

#ifndef TRACEDB_STATIC
#include <dlfcn.h>
#endif
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <span>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/files/input_file.h"
#include "base/files/partial_file.h"
#include "base/text/amounts.h"
#include "base/unknown.h"
#include "passes/sql/event_rows.h"
#include "sql/database.h"

namespace tracedb {
namespace {

// DuckDB, loaded when it is needed: programs are not linked to it, and nothing else needs it. Its C interface, as far
// as it is used here, declared as DuckDB documents it.
enum class DuckType : std::uint32_t { kBigint = 5, kUtinyint = 6, kUsmallint = 7, kUinteger = 8, kVarchar = 17 };

struct DuckResult {
  std::uint64_t column_count, row_count, rows_changed;
  void *columns, *error_message, *internal;
};

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

// The library that TRACEDB_DUCKDB names, else libduckdb.so where the system looks for libraries. It stays loaded.
struct Library {
  Library() {
    const char* named = std::getenv(kLibraryVariable);  // NOLINT(concurrency-mt-unsafe): nobody sets it
    name = named == nullptr || *named == '\0' ? "libduckdb.so" : named;
    handle = load_library(name.c_str());
    if (handle == nullptr) fail_to_load(name, kCannotLoad);
  }

  std::string name;
  void* handle;
};

const Library& duckdb_file() {
  static const Library kLibrary;
  return kLibrary;
}

// One of its functions, by the name without "duckdb_".
template <class Signature>
class DuckFunction;

template <class Result, class... Arguments>
class DuckFunction<Result(Arguments...)> {
 public:
  explicit DuckFunction(const char* name) {
    const Library& library = duckdb_file();
    const std::string symbol = std::string("duckdb_") + name;
    void* const address = find_symbol(library.handle, symbol.c_str());
    if (address == nullptr) fail_to_load(library.name, "has no function " + symbol);
    function_ = reinterpret_cast<Result (*)(Arguments...)>(address);
  }

  Result operator()(Arguments... arguments) const { return function_(arguments...); }

 private:
  Result (*function_)(Arguments...);
};

// A handle is a pointer, freed through its address.
struct DuckFunctions {
  DuckFunction<const char*()> library_version{"library_version"};
  DuckFunction<int(const char* path, void** database)> open{"open"};  // 0: success, as of all that return int
  DuckFunction<void(void** database)> close{"close"};
  DuckFunction<int(void* database, void** connection)> connect{"connect"};
  DuckFunction<void(void** connection)> disconnect{"disconnect"};
  DuckFunction<int(void* connection, const char* sql, DuckResult* result)> query{"query"};
  DuckFunction<const char*(DuckResult* result)> result_error{"result_error"};
  DuckFunction<void(DuckResult* result)> destroy_result{"destroy_result"};
  DuckFunction<std::int64_t(DuckResult* result, std::uint64_t column, std::uint64_t row)> value_int64{"value_int64"};
  DuckFunction<void*(DuckType type)> create_logical_type{"create_logical_type"};
  DuckFunction<void*(const char** members, std::uint64_t count)> create_enum_type{"create_enum_type"};
  // Of the places in its members that a vector has.
  DuckFunction<DuckType(void* type)> enum_internal_type{"enum_internal_type"};
  DuckFunction<void(void** type)> destroy_logical_type{"destroy_logical_type"};
  DuckFunction<void*()> create_table_function{"create_table_function"};
  DuckFunction<void(void** function)> destroy_table_function{"destroy_table_function"};
  DuckFunction<void(void* function, const char* name)> table_function_set_name{"table_function_set_name"};
  DuckFunction<void(void* function, void* info, void (*destroy)(void*))> table_function_set_extra_info{
      "table_function_set_extra_info"};
  DuckFunction<void(void* function, void (*bind)(void* info))> table_function_set_bind{"table_function_set_bind"};
  DuckFunction<void(void* function, void (*init)(void* info))> table_function_set_init{"table_function_set_init"};
  DuckFunction<void(void* function, void (*fill)(void* info, void* chunk))> table_function_set_function{
      "table_function_set_function"};
  DuckFunction<int(void* connection, void* function)> register_table_function{"register_table_function"};
  DuckFunction<void*(void* info)> bind_get_extra_info{"bind_get_extra_info"};
  DuckFunction<void(void* info, const char* name, void* type)> bind_add_result_column{"bind_add_result_column"};
  DuckFunction<void(void* info, void* data, void (*destroy)(void*))> bind_set_bind_data{"bind_set_bind_data"};
  DuckFunction<void(void* info, std::uint64_t threads)> init_set_max_threads{"init_set_max_threads"};
  DuckFunction<void*(void* info)> function_get_bind_data{"function_get_bind_data"};
  DuckFunction<std::uint64_t()> vector_size{"vector_size"};
  DuckFunction<void*(void* chunk, std::uint64_t column)> data_chunk_get_vector{"data_chunk_get_vector"};
  DuckFunction<void(void* chunk, std::uint64_t size)> data_chunk_set_size{"data_chunk_set_size"};
  DuckFunction<void*(void* vector)> vector_get_data{"vector_get_data"};
  DuckFunction<void(void* vector)> vector_ensure_validity_writable{"vector_ensure_validity_writable"};
  DuckFunction<std::uint64_t*(void* vector)> vector_get_validity{"vector_get_validity"};
  DuckFunction<void(void* vector, std::uint64_t index, const char* text, std::uint64_t length)>
      vector_assign_string_element_len{"vector_assign_string_element_len"};
};

// Error{kResource} where there is no library, or where it lacks a function: one line that says how to get it.
const DuckFunctions& duckdb_library() {
  static const DuckFunctions kFunctions;
  return kFunctions;
}

// A database in memory that asks nothing of the network.
class DuckDatabase {
 public:
  DuckDatabase() : duckdb_(duckdb_library()) {
    if (duckdb_.open(nullptr, &database_) != 0 || duckdb_.connect(database_, &connection_) != 0) {
      duckdb_.close(&database_);
      throw Error(ErrorCode::kResource, "DuckDB cannot make a database in memory");
    }
    query("SET autoinstall_known_extensions = false");
    query("SET autoload_known_extensions = false");
  }

  ~DuckDatabase() {
    duckdb_.disconnect(&connection_);
    duckdb_.close(&database_);
  }
  DuckDatabase& operator=(DuckDatabase&&) = delete;

  // First column of the first row, 0 where there is none. Error{kResource} with what DuckDB says.
  std::int64_t query(const std::string& sql) {
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

  [[nodiscard]] void* connection() const { return connection_; }

 private:
  const DuckFunctions& duckdb_;
  void *database_ = nullptr, *connection_ = nullptr;
};

namespace fs = std::filesystem;

constexpr const char* kFunction = "trace_kernels";

// Behind trace_id, rank, ts_ns and dur_ns: of the view kernels, and of the kernel's row in launch_config.
constexpr std::string_view kColumnsOfView[] = {"name",        "short_name", "op",   "device", "stream",
                                               "correlation", "kind",       "step", "phase",  "layer",
                                               "stack",       "layer_part", "role"};
constexpr std::string_view kColumnsOfLaunch[] = {"grid_x",  "grid_y",  "grid_z",    "block_x",
                                                 "block_y", "block_z", "registers", "shared_memory"};

// A column of the file: integers, or texts.
struct FileColumn {
  std::string_view name;
  bool is_text;
  ArrayColumn values;
  std::vector<std::string> texts = {};  // that occur in it, each once, by key - 1

  // kUnknownValue: NULL, as are texts among integers.
  [[nodiscard]] std::int64_t number(std::uint32_t row) const {
    if (values.has_numbers()) return values.numbers()[row];
    const auto* number = std::get_if<std::int64_t>(&values.values()[values.places()[row]]);
    return number == nullptr ? kUnknownValue : *number;
  }
  // The place of its text.
  [[nodiscard]] std::int64_t place(std::uint32_t row) const {
    const std::uint64_t key = values.key(row);
    return key == 0 ? kUnknownValue : static_cast<std::int64_t>(key) - 1;
  }
};

// The chosen kernels of a trace, in order of name, then time. The workload must outlive it.
class KernelColumns {
 public:
  explicit KernelColumns(Workload& workload) : workload_(workload), kernels_(workload) {
    add_trace();
    for (const std::string_view name : kColumnsOfView) add(name, KernelRows::is_text(name), kernels_.column(name));
    for (const std::string_view name : kColumnsOfLaunch) {
      const std::string sql = fmt::format("SELECT id, {} FROM launch_config", name);
      add(name, false, kernels_.looked_up("launch_config_id", sql));
    }
    choose_rows();
  }

  [[nodiscard]] const std::vector<FileColumn>& columns() const { return columns_; }
  [[nodiscard]] std::span<const std::uint32_t> rows() const { return rows_; }
  [[nodiscard]] std::int64_t time() const {  // ns, of all known durations
    const auto dur = kernels_.numbers("dur");
    return std::accumulate(rows_.begin(), rows_.end(), std::int64_t{0}, [&](std::int64_t sum, std::uint32_t row) {
      return saturating_add(sum, duration_or_zero(dur[row]));
    });
  }

 private:
  void add(std::string_view name, bool is_text, ArrayColumn values) {
    FileColumn& column = columns_.emplace_back(FileColumn{name, is_text, std::move(values)});
    if (!is_text) return;
    for (const ArrayValue* value : column.values.distinct()) {
      const auto* text = std::get_if<std::string>(value);
      column.texts.push_back(text == nullptr ? "" : *text);
    }
  }

  void add_trace() {
    const Index& index = workload_.index();
    const auto everywhere = [&](ArrayValue value) {
      return ArrayColumn::of_values(LargeVector<std::uint32_t>(kernels_.size()), {std::move(value)});
    };
    add("trace_id", true, everywhere(index.meta("source_hash").value_or("")));
    const auto rank = index.meta_int64("rank");
    add("rank", false, everywhere(rank ? ArrayValue(*rank) : ArrayValue()));
    const std::int64_t base = index.meta_int64("base_time_ns").value_or(0);
    LargeVector<std::int64_t> starts(kernels_.size());
    const auto ts = kernels_.numbers("ts");
    std::ranges::transform(ts, starts.begin(), [base](std::int64_t at) { return saturating_add(at, base); });
    add("ts_ns", false, ArrayColumn::of_numbers(std::move(starts)));
    add("dur_ns", false, kernels_.column("dur"));
  }

  void choose_rows() {
    const EventFilter filter = workload_.filter();
    for (std::uint32_t row = 0; row < kernels_.size(); ++row) {
      if (filter.keeps_kernel(row)) rows_.push_back(row);
    }
    const auto name = std::ranges::find_if(columns_, [](const FileColumn& column) { return column.name == "name"; });
    const KeyOrder by_name{&name->values};
    order_rows(rows_, std::span(&by_name, 1));
  }

  Workload& workload_;
  KernelRows kernels_;
  std::vector<FileColumn> columns_;
  LargeVector<std::uint32_t> rows_;  // of table kernel
};

// Gives DuckDB the rows, as many at a time as it asks for.
class KernelScan {
 public:
  explicit KernelScan(const KernelColumns& columns) : duckdb_(duckdb_library()), columns_(columns) {}

  void enter(DuckDatabase& database) {
    void* function = duckdb_.create_table_function();
    duckdb_.table_function_set_name(function, kFunction);
    duckdb_.table_function_set_extra_info(function, this, nullptr);
    duckdb_.table_function_set_bind(function, bind);
    duckdb_.table_function_set_init(function, [](void* info) { duckdb_library().init_set_max_threads(info, 1); });
    duckdb_.table_function_set_function(function, fill);
    const int failed = duckdb_.register_table_function(database.connection(), function);
    duckdb_.destroy_table_function(&function);
    if (failed != 0) throw Error(ErrorCode::kResource, "DuckDB takes no table function");
  }

 private:
  static void bind(void* info) {
    const DuckFunctions& duckdb = duckdb_library();
    auto* scan = static_cast<KernelScan*>(duckdb.bind_get_extra_info(info));
    scan->places_.clear();
    for (const FileColumn& column : scan->columns_.columns()) {
      void* type = scan->type_of(column);
      duckdb.bind_add_result_column(info, column.name.data(), type);
      duckdb.destroy_logical_type(&type);
    }
    duckdb.bind_set_bind_data(info, scan, nullptr);
  }

  // Few texts are members of a type, of which a row has the place: no text is copied, hashed or compared for a row. A
  // file has them as texts, and once for each group of rows.
  void* type_of(const FileColumn& column) {
    constexpr std::size_t kMostMembers = 4096;
    std::vector<const char*> members;
    bool few = column.is_text && !column.texts.empty() && column.texts.size() <= kMostMembers;
    for (std::size_t i = 0; few && i < column.texts.size(); ++i) {
      members.push_back(column.texts[i].c_str());
      few = column.texts[i].find('\0') == std::string::npos;
    }
    void* type = few ? duckdb_.create_enum_type(members.data(), members.size())
                     : duckdb_.create_logical_type(column.is_text ? DuckType::kVarchar : DuckType::kBigint);
    places_.push_back(few ? duckdb_.enum_internal_type(type) : column.is_text ? DuckType::kVarchar : DuckType::kBigint);
    return type;
  }

  static void fill(void* info, void* chunk) {
    static_cast<KernelScan*>(duckdb_library().function_get_bind_data(info))->fill_chunk(chunk);
  }

  void fill_chunk(void* chunk) {
    const std::size_t count = std::min<std::size_t>(duckdb_.vector_size(), columns_.rows().size() - next_);
    const std::span<const std::uint32_t> rows = columns_.rows().subspan(next_, count);
    for (std::size_t place = 0; place < columns_.columns().size(); ++place) {
      fill_vector(duckdb_.data_chunk_get_vector(chunk, place), columns_.columns()[place], places_[place], rows);
    }
    duckdb_.data_chunk_set_size(chunk, count);
    next_ += count;
  }

  void fill_vector(void* vector, const FileColumn& column, DuckType type, std::span<const std::uint32_t> rows) {
    void* data = duckdb_.vector_get_data(vector);
    if (type == DuckType::kBigint) {
      auto* const numbers = static_cast<std::int64_t*>(data);
      std::ranges::transform(rows, numbers, [&](std::uint32_t row) { return column.number(row); });
      mark_unknown(vector, {numbers, rows.size()});
      return;
    }
    values_.resize(rows.size());
    std::ranges::transform(rows, values_.begin(), [&](std::uint32_t row) { return column.place(row); });
    mark_unknown(vector, values_);
    switch (type) {
      case DuckType::kUtinyint:
        return copy_places(static_cast<std::uint8_t*>(data));
      case DuckType::kUsmallint:
        return copy_places(static_cast<std::uint16_t*>(data));
      case DuckType::kUinteger:
        return copy_places(static_cast<std::uint32_t*>(data));
      default:
        break;
    }
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (values_[i] == kUnknownValue) continue;
      const std::string& text = column.texts[static_cast<std::size_t>(values_[i])];
      duckdb_.vector_assign_string_element_len(vector, i, text.data(), text.size());
    }
  }

  template <class Place>
  void copy_places(Place* to) const {
    for (const std::int64_t value : values_) *to++ = static_cast<Place>(value);  // 0 where it is unknown
  }

  void mark_unknown(void* vector, std::span<const std::int64_t> values) const {
    if (std::ranges::find(values, kUnknownValue) == values.end()) return;
    duckdb_.vector_ensure_validity_writable(vector);
    std::uint64_t* const valid = duckdb_.vector_get_validity(vector);
    for (std::size_t i = 0; i < values.size(); ++i) {
      valid[i / 64] &= ~(std::uint64_t{values[i] == kUnknownValue} << (i % 64));
    }
  }

  const DuckFunctions& duckdb_;
  const KernelColumns& columns_;
  std::vector<DuckType> places_;      // by column: how a vector holds its values
  std::vector<std::int64_t> values_;  // of one vector
  std::size_t next_ = 0;
};

void require_same(const fs::path& path, const char* what, std::int64_t read, std::int64_t expected) {
  if (read == expected) return;
  throw Error(ErrorCode::kResource, fmt::format("{}: DuckDB wrote {} {} of {}; nothing was kept", printable_path(path),
                                                read, what, expected));
}

// The time of the file's rows in two halves, as no sum of DuckDB's overflows silently.
void verify_file(DuckDatabase& database, const fs::path& file, const fs::path& target, const KernelColumns& columns) {
  const std::string from = " FROM read_parquet(" + quoted_text(file.string()) + ")";
  require_same(target, "rows", database.query("SELECT count(*)" + from),
               static_cast<std::int64_t>(columns.rows().size()));
  require_same(target, "ns", database.query("SELECT CAST(coalesce(sum(dur_ns), 0) AS BIGINT)" + from), columns.time());
}

fs::path target_of(const fs::path& target, const std::string& night, const std::string& job, const Index& index) {
  if (target.extension() == ".parquet") return target;
  const std::string trace = path_word(index.meta("source_hash").value_or("unknown"));
  return target / ("night=" + path_word(night)) / ("job=" + path_word(job)) / (trace + ".parquet");
}

}  // namespace

std::string night_of(const Index& index) {
  constexpr std::size_t kDate = 10;  // the first characters of a moment
  const std::int64_t begin = index.meta_int64("base_time_ns").value_or(0);
  return begin < kFirstDate ? "unknown" : moment_text(begin).substr(0, kDate);
}

std::string path_word(const std::string& text) {
  constexpr std::size_t kLongest = 64;
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  std::string word = text.substr(0, kLongest);
  for (char& c : word) c = kPlain.find(c) == std::string_view::npos ? '_' : c;
  return word.empty() || word.find_first_not_of('.') == std::string::npos ? "unknown" : word;
}

KernelFile write_kernel_file(Workload& workload, const fs::path& target, const std::string& night,
                             const std::string& job) {
  DuckDatabase database;
  const KernelColumns columns(workload);
  KernelScan scan(columns);
  scan.enter(database);
  const fs::path path = target_of(target, night, job, workload.index());
  std::error_code error;
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  PartialFile partial(path);
  const std::int64_t rows = database.query(fmt::format(
      "COPY (SELECT * FROM {}()) TO {} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 122880, USE_TMP_FILE false)",
      kFunction, quoted_text(partial.path().string())));
  require_same(path, "rows", rows, static_cast<std::int64_t>(columns.rows().size()));
  verify_file(database, partial.path(), path, columns);
  partial.publish(std::nullopt);
  return {rows, path};
}

}  // namespace tracedb
