#include "export/parquet/kernel_file.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <numeric>
#include <span>
#include <system_error>
#include <unordered_map>

#include "base/error.h"
#include "base/files/input_file.h"
#include "base/files/partial_file.h"
#include "base/unknown.h"
#include "export/parquet/duckdb_library.h"
#include "trace/event_names.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr const char* kFunction = "trace_kernels";

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
    for (const KernelColumn& column : scan->columns_.columns()) {
      void* type = scan->type_of(column);
      duckdb.bind_add_result_column(info, column.name, type);
      duckdb.destroy_logical_type(&type);
    }
    duckdb.bind_set_bind_data(info, scan, nullptr);
  }

  // Few texts are members of a type, of which a row has the place: no text is copied, hashed or compared for a row. A
  // file has them as texts, and once for each group of rows.
  void* type_of(const KernelColumn& column) {
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
    const std::size_t count = std::min<std::size_t>(duckdb_.vector_size(), columns_.rows() - next_);
    const std::span<const std::uint32_t> rows = columns_.rows(next_, count);
    for (std::size_t place = 0; place < columns_.columns().size(); ++place) {
      fill_vector(duckdb_.data_chunk_get_vector(chunk, place), columns_.columns()[place], places_[place], rows);
    }
    duckdb_.data_chunk_set_size(chunk, count);
    next_ += count;
  }

  void fill_vector(void* vector, const KernelColumn& column, DuckType type, std::span<const std::uint32_t> rows) {
    void* data = duckdb_.vector_get_data(vector);
    if (type == DuckType::kBigint) {
      column.fill(rows, static_cast<std::int64_t*>(data));
      mark_unknown(vector, {static_cast<std::int64_t*>(data), rows.size()});
      return;
    }
    values_.resize(rows.size());
    column.fill(rows, values_.data());
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
    if (std::find(values.begin(), values.end(), kUnknownValue) == values.end()) return;
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
  const std::string from = " FROM read_parquet(" + duckdb_text(file.string()) + ")";
  require_same(target, "rows", database.query("SELECT count(*)" + from), static_cast<std::int64_t>(columns.rows()));
  require_same(target, "ns", database.query("SELECT CAST(coalesce(sum(dur_ns), 0) AS BIGINT)" + from), columns.time());
}

fs::path target_of(const fs::path& target, const std::string& night, const std::string& job, const Index& index) {
  if (target.extension() == ".parquet") return target;
  const std::string trace = path_word(index.meta("source_hash").value_or("unknown"));
  return target / ("night=" + path_word(night)) / ("job=" + path_word(job)) / (trace + ".parquet");
}

}  // namespace

std::string night_of(const Index& index) {
  const std::time_t seconds = index.meta_int64("base_time_ns").value_or(0) / kNsPerSecond;
  constexpr std::time_t kEarliest = 978'307'200;  // 2001-01-01: what is earlier counts from somewhere else
  std::tm date{};
  if (seconds < kEarliest || ::gmtime_r(&seconds, &date) == nullptr) return "unknown";
  return fmt::format("{:%Y-%m-%d}", date);
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
      kFunction, duckdb_text(partial.path().string())));
  require_same(path, "rows", rows, static_cast<std::int64_t>(columns.rows()));
  verify_file(database, partial.path(), path, columns);
  partial.publish(std::nullopt);
  return {rows, path};
}

namespace {

std::int64_t number_or_unknown(const Statement& rows, int column) {
  return rows.type(column) == ValueType::kInteger ? rows.int64(column) : kUnknownValue;
}

// By id, from rows of id and value.
std::vector<std::int64_t> numbers_by_id(Database& database, const char* sql) {
  std::vector<std::int64_t> out(1, kUnknownValue);
  Statement rows(database, sql);
  while (rows.step()) {
    const std::size_t id = rows.id(0);
    if (id >= out.size()) out.resize(id + 1, kUnknownValue);
    out[id] = number_or_unknown(rows, 1);
  }
  return out;
}

std::vector<std::string> texts_by_id(Database& database, const char* sql) {
  std::vector<std::string> out(1);
  Statement rows(database, sql);
  while (rows.step()) {
    const std::size_t id = rows.id(0);
    if (id >= out.size()) out.resize(id + 1);
    out[id] = rows.text(1);
  }
  return out;
}

// A column of numbers that are looked up by an id of the kernel.
auto looked_up(std::span<const std::uint32_t> ids, std::vector<std::int64_t> values) {
  return [ids, values = std::move(values)](std::uint32_t row) {
    return ids[row] < values.size() ? values[ids[row]] : kUnknownValue;
  };
}

// A loop over the rows within the one call.
template <class Value>
auto for_rows(Value value) {
  return [value = std::move(value)](std::span<const std::uint32_t> rows, std::int64_t* values) {
    for (const std::uint32_t row : rows) *values++ = value(row);
  };
}

// Leaves each text once; the result has where each of them went.
std::vector<std::int64_t> make_distinct(std::vector<std::string>& texts) {
  std::unordered_map<std::string, std::int64_t> known;
  std::vector<std::int64_t> places;
  std::vector<std::string> distinct;
  for (std::string& text : texts) {
    const auto [entry, is_new] = known.emplace(text, static_cast<std::int64_t>(distinct.size()));
    if (is_new) distinct.push_back(std::move(text));
    places.push_back(entry->second);
  }
  texts = std::move(distinct);
  return places;
}

// A place in a list by an id; 0: unknown.
auto place_of(std::span<const std::uint32_t> ids, std::size_t size) {
  return [ids, size](std::uint32_t row) {
    return ids[row] == 0 || ids[row] >= size ? kUnknownValue : std::int64_t{ids[row]};
  };
}

}  // namespace

KernelColumns::KernelColumns(Workload& workload) : workload_(workload) {
  add_times();
  add_names();
  add_places();
  add_passes();
  add_launch_configs();
}

std::int64_t KernelColumns::time() const {
  const auto dur = workload_.events().kernels.int64s("dur");
  return std::accumulate(rows_.begin(), rows_.end(), std::int64_t{0}, [&](std::int64_t sum, std::uint32_t row) {
    return saturating_add(sum, duration_or_zero(dur[row]));
  });
}

template <class Value>
void KernelColumns::add_numbers(const char* name, Value value) {
  columns_.push_back({name, for_rows(std::move(value))});
}

// `place` gives a row its place in `texts`, kUnknownValue: none.
template <class Place>
void KernelColumns::add_texts(const char* name, Place place, std::vector<std::string> texts) {
  std::vector<std::int64_t> distinct = make_distinct(texts);
  const auto text = [place = std::move(place), distinct = std::move(distinct)](std::uint32_t row) {
    const std::int64_t value = place(row);
    return value == kUnknownValue ? value : distinct[static_cast<std::size_t>(value)];
  };
  columns_.push_back({name, for_rows(text), true, std::move(texts)});
}

// Counting sort by name keeps the order of time.
void KernelColumns::choose_rows(const std::vector<std::uint32_t>& rank_of_name) {
  const EventFilter filter = workload_.filter();
  const auto name = workload_.events().kernels.ids("name_id");
  const auto rank = [&](std::uint32_t row) { return name[row] < rank_of_name.size() ? rank_of_name[name[row]] : 0; };
  std::vector<std::size_t> begin(rank_of_name.size() + 1);
  for (std::uint32_t row = 0; row < name.size(); ++row) begin[rank(row) + 1] += filter.keeps_kernel(row) ? 1 : 0;
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  rows_.resize(begin.back());
  for (std::uint32_t row = 0; row < name.size(); ++row) {
    if (filter.keeps_kernel(row)) rows_[begin[rank(row)]++] = row;
  }
}

void KernelColumns::add_times() {
  const EventColumns& kernels = workload_.events().kernels;
  const Index& index = workload_.index();
  const std::int64_t base = index.meta_int64("base_time_ns").value_or(0);
  const std::int64_t rank = index.meta_int64("rank").value_or(kUnknownValue);
  const auto first_text = [](std::uint32_t) { return std::int64_t{0}; };
  add_texts("trace_id", first_text, {index.meta("source_hash").value_or("")});
  add_numbers("rank", [rank](std::uint32_t) { return rank; });
  add_numbers("ts_ns", [ts = kernels.int64s("ts"), base](std::uint32_t row) { return saturating_add(ts[row], base); });
  add_numbers("dur_ns", [dur = kernels.int64s("dur")](std::uint32_t row) { return dur[row]; });
}

void KernelColumns::add_names() {
  Database& database = workload_.index().database();
  const auto ids = workload_.events().kernels.ids("name_id");
  std::vector<std::string> names = texts_by_id(database, "SELECT id, name FROM kernel_name");
  std::vector<std::uint32_t> by_name(names.size()), rank(names.size());
  std::iota(by_name.begin(), by_name.end(), 0U);
  std::sort(by_name.begin(), by_name.end(), [&](std::uint32_t a, std::uint32_t b) { return names[a] < names[b]; });
  for (std::uint32_t place = 0; place < by_name.size(); ++place) rank[by_name[place]] = place;
  choose_rows(rank);
  std::vector<std::string> short_names = texts_by_id(database, "SELECT id, short_name FROM kernel_name");
  std::vector<std::string> classes(names.size());
  for (std::uint32_t id = 0; id < names.size(); ++id) classes[id] = workload_.classes().class_of(id);
  const std::size_t size = std::min(names.size(), short_names.size());
  add_texts("name", place_of(ids, size), std::move(names));
  add_texts("short_name", place_of(ids, size), std::move(short_names));
  add_texts("op", place_of(ids, size), std::move(classes));
}

void KernelColumns::add_places() {
  Database& database = workload_.index().database();
  const EventColumns& kernels = workload_.events().kernels;
  const auto stream = kernels.ids("stream_id");
  add_numbers("device", looked_up(stream, numbers_by_id(database,
                                                        "SELECT s.id, d.ordinal FROM stream s JOIN device d ON d.id = "
                                                        "s.device_id")));
  add_numbers("stream", looked_up(stream, numbers_by_id(database, "SELECT id, number FROM stream")));
  add_numbers("correlation", [values = kernels.int64s("correlation")](std::uint32_t row) {
    return values[row] < kLeastNumber ? kUnknownValue : values[row];
  });
  std::vector<std::string> kinds(1);
  kinds.insert(kinds.end(), kKernelKindNames.begin(), kKernelKindNames.end());
  add_texts("kind", place_of(kernels.ids("kind"), kinds.size()), kinds);
}

void KernelColumns::add_passes() {
  const StepSet& steps = workload_.steps();
  const LayerSet& layers = workload_.layers();
  const KernelRoles& all_roles = workload_.roles();
  const auto step = [&steps](std::uint32_t row) {
    const std::uint32_t place = steps.of_kernel.empty() ? 0 : steps.of_kernel[row];
    return place == 0 ? kUnknownValue : std::int64_t{place} - 1;
  };
  std::vector<std::string> phases, stacks, names;
  for (const StepFacts& facts : steps.steps) phases.emplace_back(to_string(facts.info.kind));
  add_numbers("step", step);
  add_texts("phase", step, std::move(phases));
  const auto layer_of = [&layers](std::uint32_t row) {
    return layers.of_kernel.empty() ? kNoLayer : layers.of_kernel[row];
  };
  add_numbers("layer", [&layers, layer_of](std::uint32_t row) {
    const LayerStack* stack = stack_of(layer_of(row), layers.stacks);
    return stack == nullptr ? kUnknownValue : std::int64_t{layer_of(row)} - stack->first;
  });
  const auto stack_place = [&layers, layer_of](std::uint32_t row) {
    const LayerStack* stack = stack_of(layer_of(row), layers.stacks);
    return stack == nullptr ? kUnknownValue : std::int64_t{stack - layers.stacks.data()};
  };
  for (const LayerStack& stack : layers.stacks) stacks.push_back(stack.name);
  add_texts("stack", stack_place, std::move(stacks));
  const auto part = [layer_of](std::uint32_t row) {
    const std::int32_t layer = layer_of(row);
    return layer == kNoLayer ? kUnknownValue : std::int64_t{layer == kHead ? 0 : layer == kTail ? 2 : 1};
  };
  add_texts("layer_part", part, {"head", "layer", "tail"});
  for (const RoleInfo& role : roles()) names.emplace_back(role.name);
  const auto role_of = [&all_roles](std::uint32_t row) {
    const Role role = all_roles.of(row).role;
    return role == Role::kNone ? kUnknownValue : static_cast<std::int64_t>(role);
  };
  add_texts("role", role_of, std::move(names));
}

void KernelColumns::add_launch_configs() {
  constexpr const char* kNames[] = {"grid_x",  "grid_y",  "grid_z",    "block_x",
                                    "block_y", "block_z", "registers", "shared_memory"};
  const auto ids = workload_.events().kernels.ids("launch_config_id");
  for (const char* name : kNames) {
    const std::string sql = std::string("SELECT id, ") + name + " FROM launch_config";
    add_numbers(name, looked_up(ids, numbers_by_id(workload_.index().database(), sql.c_str())));
  }
}

}  // namespace tracedb
