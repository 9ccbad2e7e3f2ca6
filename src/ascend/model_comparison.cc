#include "ascend/model_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "base/error.h"
#include "base/failure.h"
#include "base/files/input_file.h"
#include "base/python/json.h"
#include "base/stream/csv_reader.h"
#include "base/text/characters.h"
#include "base/text/json_text.h"
#include "base/text/regular_expression.h"
#include "base/unknown.h"

namespace tracedb {
namespace {

constexpr std::string_view kNoSource = "[no measurement]";
constexpr std::string_view kNotModelled = "[not modelled]";

std::string joined_sources(const ModelTotal& total) {
  std::string out;
  for (const std::string& source : total.sources) {
    if (!source.empty()) out += (out.empty() ? "" : "+") + source;
  }
  return out;
}

// What a row is summed from.
struct Sums {
  ModelTotal model;
  ProfileTotal profile;
};

void add(const ModelTotal& more, ModelTotal& sum) {
  sum.hit_ns = saturating_add(sum.hit_ns, more.hit_ns);
  sum.miss_ns = saturating_add(sum.miss_ns, more.miss_ns);
  sum.hits += more.hits;
  sum.misses += more.misses;
  sum.estimated_ns = saturating_add(sum.estimated_ns, more.estimated_ns);
  sum.untimed += more.untimed;
  sum.sources.insert(more.sources.begin(), more.sources.end());
  for (const auto& [function, ns] : more.functions) {
    std::int64_t& own = sum.functions[function];
    own = saturating_add(own, ns);
  }
}

void add(const ProfileTotal& more, ProfileTotal& sum) {
  sum.ns = saturating_add(sum.ns, more.ns);
  sum.count += more.count;
}

using Groups = std::map<OperatorKey, Sums>;

Groups join(const ModelSide& model, const ProfileSide& profile) {
  Groups groups;
  for (const auto& [key, total] : model.totals) add(total, groups[key].model);
  for (const auto& [key, total] : profile.totals) add(total, groups[key].profile);
  return groups;
}

Groups by_source(const Groups& kernels) {
  Groups groups;
  for (const auto& [key, sums] : kernels) {
    std::string source = joined_sources(sums.model);
    if (source.empty()) source = sums.model.count() == 0 ? kNotModelled : kNoSource;
    Sums& group = groups[{std::move(source), {}}];
    add(sums.model, group.model);
    add(sums.profile, group.profile);
  }
  return groups;
}

ModelStatus status_of(const Sums& sums) {
  if (sums.model.count() == 0) return ModelStatus::kProfileOnly;
  if (sums.profile.count == 0) return ModelStatus::kModelOnly;
  if (sums.model.misses == 0) return ModelStatus::kHit;
  return sums.model.hits == 0 ? ModelStatus::kMiss : ModelStatus::kPartial;
}

std::optional<double> error(double model, double profile) {
  if (!(profile > 0)) return std::nullopt;
  return (model - profile) / profile * 100;
}

std::vector<std::string> longest_first(const std::map<std::string, std::int64_t>& functions) {
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [function, ns] : functions) order.emplace_back(-ns, function);
  std::ranges::sort(order);
  std::vector<std::string> out;
  for (auto& [ns, function] : order) out.push_back(std::move(function));
  return out;
}

ModelRow row_of(const OperatorKey& key, const Sums& sums, double passes) {
  ModelRow row;
  static_cast<ModelFigures&>(row) = sums.model;
  row.key = key;
  row.sources = joined_sources(sums.model);
  row.status = status_of(sums);
  row.model_ns = sums.model.ns();
  row.profile_ns = std::llround(static_cast<double>(sums.profile.ns) / passes);
  row.model_count = sums.model.count();
  row.profile_count = static_cast<double>(sums.profile.count) / passes;
  row.error_percent = error(static_cast<double>(row.model_ns), static_cast<double>(sums.profile.ns) / passes);
  row.count_error_percent = error(static_cast<double>(row.model_count), row.profile_count);
  row.functions = longest_first(sums.model.functions);
  return row;
}

// ---- the side of the model

constexpr std::int64_t kUnknownDuration = -1;

struct Process {
  std::optional<std::int64_t> pid;
  std::string name;
  std::size_t slices = 0;
};
using Processes = std::map<std::uint32_t, Process>;  // by id

struct Slice {
  std::uint32_t name;
  std::uint32_t process;
  std::int64_t ns;
};

Processes read_processes(const Index& index) {
  Processes out;
  Statement rows(index.database(), "SELECT id, pid, name FROM process ORDER BY id");
  while (rows.step()) {
    out[rows.id(0)] = {rows.integer(1), std::string(rows.text(2))};
  }
  return out;
}

// Where events with a duration are: those with a category that PyTorch's profiler uses have tables of their own. Those
// of devices do not say their process: they are of the only one.
struct SliceTable {
  std::string_view name, process;  // SQL
};
constexpr std::string_view kOfThread = "(SELECT process_id FROM thread t WHERE t.id = thread_id)";
constexpr std::string_view kOfDevice =
    "(SELECT p.id FROM stream s JOIN device d ON d.id = s.device_id JOIN process p ON p.pid = d.ordinal "
    "WHERE s.id = stream_id AND (SELECT count(*) FROM process) = 1)";
constexpr std::array kSliceTables = {SliceTable{"slice", "process_id"},   SliceTable{"cpu_op", kOfThread},
                                     SliceTable{"annotation", kOfThread}, SliceTable{"runtime_call", kOfThread},
                                     SliceTable{"kernel", kOfDevice},     SliceTable{"memory_op", kOfDevice}};

// By place in kSliceTables; slice i of each has id i + 1.
using Slices = std::array<std::vector<Slice>, kSliceTables.size()>;

Slices read_slices(const Index& index, Processes& processes) {
  Slices out;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto& [name, process] = kSliceTables.at(i);
    Statement rows(index.database(), fmt::format("SELECT name_id, {}, dur FROM {} ORDER BY id", process, name));
    while (rows.step()) {
      const std::int64_t ns = rows.is_null(2) || rows.int64(2) < 0 ? kUnknownDuration : rows.int64(2);
      out.at(i).push_back({rows.id(0), rows.is_null(1) ? 0 : rows.id(1), ns});
      ++processes[out.at(i).back().process].slices;
    }
  }
  processes.erase(0);  // of what is known of none
  return out;
}

std::string described(const Process& process) {
  const std::string pid = process.pid ? std::to_string(*process.pid) : "without a pid";
  return process.name.empty() ? pid : fmt::format("{} ({})", pid, process.name);
}

std::uint32_t model_process(const Index& index, const Processes& processes, const ModelSideOptions& options) {
  const RegularExpression pattern(options.process_pattern);
  if (!pattern.fault().empty()) throw Error(ErrorCode::kUsage, fmt::format("--model-process: {}", pattern.fault()));
  std::vector<std::uint32_t> fit, all;
  for (const auto& [id, process] : processes) {
    if (process.slices == 0) continue;
    all.push_back(id);
    const bool fits = options.pid ? process.pid == options.pid : pattern.is_in(process.name);
    if (fits) fit.push_back(id);
  }
  if (all.empty()) {
    throw Error(ErrorCode::kInput,
                fmt::format("{}: no slices: this is no trace of a performance model", printable_path(index.path())));
  }
  if (fit.size() == 1) return fit[0];
  if (fit.empty() && !options.pid && all.size() == 1) return all[0];
  std::string names;
  for (const std::uint32_t id : fit.empty() ? all : fit) {
    names += (names.empty() ? "" : ", ") + described(processes.at(id));
  }
  throw Error(
      ErrorCode::kInput,
      fmt::format("{}: {} the model: {}; choose with --model-process or --model-pid", printable_path(index.path()),
                  fit.empty() ? "no process is named as" : "several processes may be", names));
}

struct Part {
  std::string type;
  std::int64_t ns;
};

// nullopt: no list of pairs of a name and a duration in microseconds.
std::optional<std::vector<Part>> parts_in(const std::string& text) {
  using python::Kind;
  constexpr double kLongest = 1e15;  // microseconds
  const auto literal = python::parse_literal(text);
  if (!literal || !literal->is_sequence()) return std::nullopt;
  std::vector<Part> parts;
  for (const python::Value& pair : literal->items) {
    if (!pair.is_sequence() || pair.items.size() != 2 || pair.items[0].kind != Kind::kText) return std::nullopt;
    const python::Value& us = pair.items[1];
    if (us.kind != Kind::kFloat || !(us.number >= 0) || us.number > kLongest) return std::nullopt;
    parts.push_back({pair.items[0].text, std::llround(us.number * 1000)});
  }
  return parts;
}

// What args say that counts here.
struct Arguments {
  std::string kernel_type, source, shapes, parts;
};

Arguments arguments_of(std::string_view object, KeyBy key) {
  Arguments out;
  for (const auto& [name, value] : json_members(object)) {
    if (name == "kernel_type") out.kernel_type = text_of_json(value);
    if (name == "source") out.source = text_of_json(value);
    if (name == "sub_kernel_durations") out.parts = text_of_json(value);
    if (name == "simulation_shapes" && key == KeyBy::kTypeAndShapes) out.shapes = text_of_json(value);
  }
  if (trim_space(out.kernel_type) == "?") out.kernel_type.clear();
  return out;
}

struct Operator {
  std::string name;
  bool zero_cost = false;
  bool reduces = false;  // an all_reduce is part of it
  std::string miss_type;
};

class Reader {
 public:
  Reader(const Index& index, const OpMapping& mapping, KeyBy key) : index_(index), mapping_(mapping), key_(key) {}

  void add(const Slice& slice, const Arguments& arguments) {
    const Operator& op = operator_of(slice.name);
    const std::int64_t ns = std::max<std::int64_t>(slice.ns, 0);
    ++side_.events;
    side_.unknown_duration_events += slice.ns == kUnknownDuration ? 1 : 0;
    side_.zero_duration_events += slice.ns == 0 ? 1 : 0;
    if (op.zero_cost) {
      ++side_.zero_cost_events;
      side_.zero_cost_ns = saturating_add(side_.zero_cost_ns, ns);
    } else if (const std::vector<std::string>& names = names_of(arguments.kernel_type); !names.empty()) {
      add_hit(op, ns, arguments, names);
    } else {
      ModelTotal& total = touch({op.miss_type, shapes_of(arguments)}, op, ns);
      total.miss_ns = saturating_add(total.miss_ns, ns);
      ++total.misses;
      total.sources.insert("");
    }
  }

  void add_measured(std::int64_t ns) { side_.measured_ns = saturating_add(side_.measured_ns, ns); }
  [[nodiscard]] ModelSide take() { return std::move(side_); }

 private:
  const Operator& operator_of(std::uint32_t name) {
    const auto [entry, is_new] = operators_.try_emplace(name);
    Operator& op = entry->second;
    if (!is_new) return op;
    const std::string full =
        index_.database().query_text("SELECT value FROM string WHERE id = ?", std::int64_t{name}).value_or("[no name]");
    const OpMappingEntry* found = mapping_.find(full);
    op.name = short_op_name(full);
    op.zero_cost = found != nullptr && found->zero_cost;
    op.reduces = ascii_lower(full).find("all_reduce") != std::string::npos;
    op.miss_type = found == nullptr || found->kernel_type.empty() ? op.name : found->kernel_type;
    return op;
  }

  const std::vector<std::string>& names_of(const std::string& kernel_type) {
    const auto [entry, is_new] = names_.try_emplace(kernel_type);
    if (is_new) entry->second = kernel_types_in(kernel_type);
    return entry->second;
  }

  // nullptr: the event does not say.
  const std::vector<Part>* parts_of(const std::string& text) {
    if (text.empty()) return nullptr;
    const auto [entry, is_new] = parts_.try_emplace(text);
    if (is_new) entry->second = parts_in(text);
    if (!entry->second) ++side_.unreadable_parts;
    return entry->second && !entry->second->empty() ? &*entry->second : nullptr;
  }

  std::string shapes_of(const Arguments& arguments) {
    if (key_ == KeyBy::kType || arguments.shapes.empty()) return {};
    const auto [entry, is_new] = shapes_.try_emplace(arguments.shapes);
    if (is_new) entry->second = normalized_shapes(arguments.shapes);
    return entry->second;
  }

  ModelTotal& touch(const OperatorKey& key, const Operator& op, std::int64_t ns) {
    ModelTotal& total = side_.totals[key];
    std::int64_t& function = total.functions[op.name];
    function = saturating_add(function, ns);
    return total;
  }

  ModelTotal& hit(const OperatorKey& key, const Operator& op, std::int64_t ns, const std::string& source) {
    ModelTotal& total = touch(key, op, ns);
    total.hit_ns = saturating_add(total.hit_ns, ns);
    ++total.hits;
    total.sources.insert(source);
    return total;
  }

  void add_hit(const Operator& op, std::int64_t ns, const Arguments& arguments, const std::vector<std::string>& names) {
    const std::string shapes = shapes_of(arguments);
    if (const std::vector<Part>* parts = parts_of(arguments.parts)) {
      std::int64_t rest = ns;
      for (const Part& part : *parts) {
        hit({part.type, shapes}, op, part.ns, arguments.source);
        rest = saturating_add(rest, -part.ns);
      }
      side_.residual_ns = saturating_add(side_.residual_ns, rest);
      return;
    }
    const auto count = static_cast<std::int64_t>(names.size());
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t part = ns / count + (i < ns % count ? 1 : 0);  // the parts add up
      ModelTotal& total = hit({names[static_cast<std::size_t>(i)], shapes}, op, part, arguments.source);
      if (count > 1) total.estimated_ns = saturating_add(total.estimated_ns, part);
    }
    if (!op.reduces || std::ranges::find(names, kAllReduceKernel) != names.end()) return;
    ++hit({std::string(kAllReduceKernel), shapes}, op, 0, arguments.source).untimed;
  }

  const Index& index_;
  const OpMapping& mapping_;
  KeyBy key_;
  ModelSide side_;
  std::unordered_map<std::uint32_t, Operator> operators_;
  std::unordered_map<std::string, std::vector<std::string>> names_;
  std::unordered_map<std::string, std::optional<std::vector<Part>>> parts_;
  std::unordered_map<std::string, std::string> shapes_;
};

bool counts_for_m6(const Slice& slice, const Arguments& arguments) {
  return slice.ns > 0 && !arguments.kernel_type.empty() &&
         (arguments.source == "MEASURED" || arguments.source == "INTERPOLATED");
}

}  // namespace

std::string_view to_string(ModelStatus status) {
  constexpr std::string_view kNames[] = {"HIT", "MISS", "PARTIAL", "MODEL_ONLY", "PROFILE_ONLY"};
  return kNames[static_cast<std::size_t>(status)];
}

ModelComparison compare_model(const ModelSide& model, const ProfileSide& profile, double passes, ModelBy by) {
  passes *= static_cast<double>(std::max<std::int64_t>(profile.devices, 1));  // of one device
  Groups groups = join(model, profile);
  if (by == ModelBy::kSource) groups = by_source(groups);
  ModelComparison out;
  Sums all;
  for (const auto& [key, sums] : groups) {
    out.rows.push_back(row_of(key, sums, passes));
    // Rounded so that the rows add up to the rounded sum.
    const auto before = std::llround(static_cast<double>(all.profile.ns) / passes);
    add(sums.model, all.model);
    add(sums.profile, all.profile);
    out.rows.back().profile_ns = std::llround(static_cast<double>(all.profile.ns) / passes) - before;
  }
  out.total = row_of({}, all, passes);
  if (profile.busy_ns) out.busy_ns = static_cast<double>(*profile.busy_ns) / passes;
  if (all.profile.ns > 0) {
    out.m6 = static_cast<double>(model.measured_ns) / (static_cast<double>(all.profile.ns) / passes);
  }
  std::ranges::stable_sort(out.rows, [](const ModelRow& a, const ModelRow& b) {
    return std::max(a.model_ns, a.profile_ns) > std::max(b.model_ns, b.profile_ns);
  });
  return out;
}

std::vector<const ModelRow*> rows_beyond(const ModelComparison& comparison, double percent, double least_share) {
  const auto share = [](std::int64_t part, std::int64_t whole) {
    return whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0;
  };
  std::vector<const ModelRow*> out;
  const auto consider = [&](const ModelRow& row) {
    const double larger =
        std::max(share(row.model_ns, comparison.total.model_ns), share(row.profile_ns, comparison.total.profile_ns));
    const bool lacks_time = row.model_ns == 0 && row.profile_ns == 0;
    const bool is_off = row.error_percent ? std::abs(*row.error_percent) > percent : !lacks_time;
    if (is_off && larger >= least_share) out.push_back(&row);
  };
  for (const ModelRow& row : comparison.rows) consider(row);
  if (!comparison.rows.empty()) consider(comparison.total);
  return out;
}

ModelSide read_model_side(const Index& index, const OpMapping& mapping, const ModelSideOptions& options) {
  Processes processes = read_processes(index);
  const Slices slices = read_slices(index, processes);
  const std::uint32_t process = model_process(index, processes, options);
  Reader reader(index, mapping, options.key);
  std::array<std::vector<bool>, kSliceTables.size()> added;
  for (std::size_t i = 0; i < slices.size(); ++i) added.at(i).resize(slices.at(i).size());
  Statement rows(index.database(), "SELECT event_table, event_id, args FROM event_argument");
  while (rows.step()) {
    const auto table = static_cast<std::size_t>(std::ranges::find(kSliceTables, rows.text(0), &SliceTable::name) -
                                                kSliceTables.begin());
    const std::uint32_t id = rows.id(1);
    if (table == slices.size() || id == 0 || id > slices.at(table).size() || added.at(table)[id - 1]) continue;
    const Slice& slice = slices.at(table)[id - 1];
    const Arguments arguments = arguments_of(rows.text(2), options.key);
    added.at(table)[id - 1] = true;
    if (counts_for_m6(slice, arguments)) reader.add_measured(slice.ns);
    if (slice.process == process) reader.add(slice, arguments);
  }
  for (std::size_t table = 0; table < slices.size(); ++table) {
    for (std::size_t i = 0; i < slices.at(table).size(); ++i) {
      const Slice& slice = slices.at(table)[i];
      if (!added.at(table)[i] && slice.process == process) reader.add(slice, {});
    }
  }
  ModelSide side = reader.take();
  side.process = described(processes.at(process));
  for (std::size_t table = 0; table < slices.size(); ++table) {
    if (kSliceTables.at(table).process == kOfDevice)
      side.unknown_process_events += std::ranges::count(slices.at(table), 0U, &Slice::process);
  }
  return side;
}

std::string normalized_shapes(std::string_view text) {
  std::string bare(trim_space(text));
  std::erase(bare, ' ');
  std::erase(bare, '"');
  if (!bare.starts_with('[')) return bare;
  const auto literal = python::parse_literal(bare);
  if (!literal) return bare;
  std::string out;
  for (const python::Value& shape : literal->items) {
    if (&shape != literal->items.data()) out += ';';
    for (const python::Value& extent : shape.items) {
      out += (&extent == shape.items.data() ? "" : ",") + fmt::format("{:.0f}", extent.number);
    }
  }
  return out;
}

std::string text_of_json(std::string_view value) {
  if (value == "null") return {};
  if (!value.starts_with('"')) return std::string(value);
  const std::string_view inside = value.substr(1, value.size() - 2);
  if (inside.find('\\') == std::string_view::npos) return std::string(inside);
  std::string text(inside);
  // What is no JSON stays as it is.
  static_cast<void>(catch_error([&] { text = python::read_json(std::string(value), "").text; }));
  return text;
}

}  // namespace tracedb
