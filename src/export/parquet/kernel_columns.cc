#include "export/parquet/kernel_columns.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "base/saturating.h"
#include "trace/event_kinds.h"

namespace tracedb {
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
