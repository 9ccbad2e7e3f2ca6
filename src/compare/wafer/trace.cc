#include "compare/wafer/trace.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text/characters.h"
#include "base/text/decimal.h"
#include "base/text/split.h"
#include "passes/classify/classifier.h"
#include "passes/columns/event_columns.h"

namespace tracedb::wafer {
namespace {

std::string vendor_of(Platform platform) { return platform == Platform::kAmd ? "amd" : "nvidia"; }

Platform taken_for(Side side) { return side == Side::kFirst ? Platform::kAmd : Platform::kNvidia; }

// Names in the order of the index, which is that of their first appearance in the file.
struct ReadNames {
  std::vector<KernelName> names;
  std::unordered_map<std::uint32_t, std::uint32_t> position;  // by kernel_name.id
};

ReadNames read_names(const Index& index) {
  ReadNames out;
  Statement rows(index.database(), "SELECT id, name FROM kernel_name ORDER BY id");
  while (rows.step()) {
    out.position.emplace(rows.id(0), static_cast<std::uint32_t>(out.names.size()));
    KernelName name;
    name.text = rows.text(1);
    name.lower = ascii_lower(name.text);
    out.names.push_back(std::move(name));
  }
  return out;
}

void classify(std::vector<KernelName>& names, Platform own, Platform taken) {
  const RuleSet rules = load_rules("wafer");
  Classifier classifier(rules, vendor_of(own));
  for (KernelName& name : names) {
    const Classification result = classifier.classify(name.text);
    name.op = classifier.class_name(result.class_id);
    name.pattern = classifier.label(name.text, result.rule_id);
    name.side_op = name.op;
  }
  if (own == taken) return;
  Classifier as_side(rules, vendor_of(taken));
  for (KernelName& name : names) name.side_op = as_side.class_name(as_side.classify(name.text).class_id);
}

// An id without a name, of a damaged index, gets the empty one.
std::uint32_t position_of(std::uint32_t id, ReadNames& names) {
  const auto [found, is_new] = names.position.try_emplace(id, static_cast<std::uint32_t>(names.names.size()));
  if (is_new) names.names.emplace_back();
  return found->second;
}

std::vector<Kernel> read_kernels(const EventColumns& columns, ReadNames& names) {
  const auto ts = columns.int64s("ts");
  const auto dur = columns.int64s("dur");
  const auto correlation = columns.int64s("correlation");
  const auto name = columns.ids("name_id");
  std::vector<Kernel> kernels(columns.size());
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    kernels[i] = {ts[i], std::max<std::int64_t>(dur[i], 0), correlation[i], position_of(name[i], names)};
  }
  return kernels;
}

std::vector<Pass> read_passes(const Index& index) {
  std::vector<Pass> out;
  Statement rows(index.database(),
                 "SELECT annotation.ts, annotation.dur, string.value FROM annotation JOIN string ON "
                 "string.id = annotation.name_id WHERE annotation.kind = 'user' AND annotation.dur IS NOT NULL AND "
                 "substr(string.value, 1, length(?1)) = ?1 ORDER BY annotation.ts, annotation.id",
                 kPassPrefix);
  while (rows.step()) {
    const std::int64_t begin = rows.int64(0);
    out.push_back({begin, saturating_add(begin, rows.int64(1)), phase_of(rows.text(2))});
  }
  return out;
}

// The operator with the external id of the first kernel of each name; of several operators the last.
void read_cpu_ops(const Index& index, const EventColumns& kernels, Trace& trace) {
  const auto external = kernels.int64s("external_id");
  std::vector<bool> seen(trace.names.size());
  std::unordered_multimap<std::int64_t, std::uint32_t> wanted;  // external id: name
  for (std::size_t i = 0; i < trace.kernels.size(); ++i) {
    const std::uint32_t name = trace.kernels[i].name;
    if (!seen[name] && external[i] != kUnknownValue) wanted.emplace(external[i], name);
    seen[name] = true;
  }
  if (wanted.empty()) return;
  const EventColumns operators(index, "cpu_op", {"external_id", "name_id"});
  std::vector<std::uint32_t> found(trace.names.size(), 0);  // string.id
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const auto [begin, end] = wanted.equal_range(operators.int64s("external_id")[i]);
    for (auto match = begin; match != end; ++match) found[match->second] = operators.ids("name_id")[i];
  }
  TextById texts(index);
  for (std::size_t name = 0; name < found.size(); ++name) trace.names[name].cpu_op = texts.of(found[name]).value_or("");
}

constexpr double kGigabyte = 1024.0 * 1024 * 1024;
constexpr double kKilobyte = 1024;

// Texts of JSON that are no version.
constexpr std::array<std::string_view, 7> kFalse = {"null", "false", "0", "0.0", "\"\"", "[]", "{}"};

// A member of the first listed device; nothing where there is none.
std::optional<std::string> listed(const Index& index, const char* member) {
  return index.database().query_text(
      "SELECT CASE WHEN json_valid(value) THEN json_extract(value, '$[0].' || ?) END "
      "FROM meta WHERE key = 'trace.deviceProperties'",
      member);
}

std::int64_t listed_number(const Index& index, const char* member, std::int64_t otherwise) {
  return parse_integral(listed(index, member).value_or("")).value_or(otherwise);
}

// The format that the tool reads. In others, what their reader knows of the devices counts, and nothing is assumed.
bool is_kineto(const Index& index) { return index.meta("format").value_or("kineto") == "kineto"; }

// ---- layers and phases

constexpr std::int64_t kFewestKernels = 70;  // of a correlation that is a layer

bool is_marker(const std::string& lower, Architecture architecture) {
  if (architecture == Architecture::kTransformer) {
    return contains_any(lower, {"fmha", "attention", "flash"}) && contains_any(lower, {"context", "2d", "fmhasm100a"});
  }
  return architecture == Architecture::kSsm && contains_any(lower, {"selective_scan", "mamba", "ssd"});
}

std::vector<bool> markers(const Trace& trace) {
  const Architecture architecture = architecture_of(trace);
  std::vector<bool> is(trace.names.size());
  for (std::size_t i = 0; i < is.size(); ++i) is[i] = is_marker(trace.names[i].lower, architecture);
  return is;
}

LayerMap layers_by_markers(const Trace& trace) {
  const std::vector<bool> is = markers(trace);
  LayerMap layers;
  if (std::ranges::find(is, true) == is.end()) return layers;
  layers.reserve(trace.kernels.size());
  std::uint32_t begun = 0;
  std::size_t next = 0;  // kernels before it have been looked at for markers
  for (const Kernel& kernel : trace.kernels) {
    // Kernels with the start of a marker are in its layer even if they come before it.
    for (; next < trace.kernels.size() && trace.kernels[next].ts <= kernel.ts; ++next) {
      if (is[trace.kernels[next].name]) ++begun;
    }
    if (begun > 0 && kernel.correlation != kUnknownValue) layers[kernel.correlation] = begun - 1;
  }
  return layers;
}

struct Launch {
  std::int64_t kernels = 0;
  bool attention = false, gemm = false;
};

// What each name shows; of one kernel each.
std::vector<Launch> shown_by_names(const Trace& trace) {
  std::vector<Launch> shown;
  for (const KernelName& name : trace.names) {
    const bool gemm = contains_any(name.lower, {"cijk_", "nvjet", "wvsplitk", "gemm"});
    shown.push_back({1, contains_any(name.lower, {"attention", "fmha"}), gemm});
  }
  return shown;
}

LayerMap layers_by_correlation(const Trace& trace) {
  const std::vector<Launch> shown = shown_by_names(trace);
  std::unordered_map<std::int64_t, Launch> launches;
  for (const Kernel& kernel : trace.kernels) {
    if (kernel.correlation == kUnknownValue) continue;
    Launch& launch = launches[kernel.correlation];
    ++launch.kernels;
    launch.attention = launch.attention || shown[kernel.name].attention;
    launch.gemm = launch.gemm || shown[kernel.name].gemm;
  }
  std::vector<std::int64_t> found;
  for (const auto& [correlation, launch] : launches) {
    if (launch.kernels >= kFewestKernels && launch.attention && launch.gemm) found.push_back(correlation);
  }
  std::ranges::sort(found);
  LayerMap layers;
  for (std::size_t i = 0; i < found.size(); ++i) layers[found[i]] = static_cast<std::uint32_t>(i);
  return layers;
}

constexpr std::array<std::string_view, 4> kAttentionParts = {"fmha", "attention", "flash", "sdpa"};
constexpr std::array<std::string_view, 4> kSsmParts = {"selective_scan", "mamba", "ssd", "causal_conv"};
constexpr std::array<std::string_view, 4> kNames = {"unknown", "transformer", "ssm", "hybrid"};

bool any_name(const Trace& trace, std::span<const std::string_view> parts) {
  return std::ranges::any_of(trace.names, [&](const KernelName& name) { return contains_any(name.lower, parts); });
}

Architecture architecture_of(bool attention, bool ssm) {
  if (attention) return ssm ? Architecture::kHybrid : Architecture::kTransformer;
  return ssm ? Architecture::kSsm : Architecture::kUnknown;
}

std::int64_t number_in_parentheses(std::string_view part) {
  const std::size_t open = part.find('(');
  const std::size_t close = part.find(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return 0;
  return parse_int64(part.substr(open + 1, close - open - 1)).value_or(0);
}

}  // namespace

bool is_comparable(const Index& index) {
  constexpr std::array<std::string_view, 3> kVendors = {"amd", "nvidia", "unknown"};
  return is_kineto(index) || std::ranges::find(kVendors, index.meta("vendor").value_or("unknown")) != kVendors.end();
}

Trace read_trace(const Index& index, Side side) {
  Trace trace;
  trace.platform = platform_of(index);
  trace.device = read_device(index);
  ReadNames names = read_names(index);
  const EventColumns columns(index, "kernel", {"ts", "dur", "correlation", "name_id", "external_id"});
  trace.kernels = read_kernels(columns, names);
  trace.names = std::move(names.names);
  classify(trace.names, trace.platform, taken_for(side));
  read_cpu_ops(index, columns, trace);
  trace.passes = read_passes(index);
  assign_phases(trace);
  trace.has_python = index.database()
                         .query_int64("SELECT 1 FROM event_count WHERE category = 'python_function' AND read > 0")
                         .has_value();
  return trace;
}

Platform platform_of(const Index& index) {
  const std::string version = index.meta("trace.roctracer_version").value_or("null");
  const bool has_version = std::ranges::find(kFalse, version) == kFalse.end();
  const bool says_amd = has_version || listed_number(index, "warpSize", 0) == 64;
  return says_amd || (!is_kineto(index) && index.meta("vendor") == "amd") ? Platform::kAmd : Platform::kNvidia;
}

Device read_device(const Index& index) {
  const bool is_amd = platform_of(index) == Platform::kAmd;
  const char* unnamed = is_amd && is_kineto(index) ? "MI300X" : "Unknown GPU";
  Device device;
  if (is_amd && !is_kineto(index)) device.warp_size = 64;
  device.name = listed(index, "name").value_or(unnamed);
  device.compute_capability =
      listed(index, "computeMajor").value_or("0") + '.' + listed(index, "computeMinor").value_or("0");
  device.total_memory_gb = static_cast<double>(listed_number(index, "totalGlobalMem", 0)) / kGigabyte;
  device.sm_count = listed_number(index, "numSms", 0);
  device.warp_size = listed_number(index, "warpSize", device.warp_size);
  device.max_threads_per_block = listed_number(index, "maxThreadsPerBlock", 0);
  device.shared_mem_per_block_kb = static_cast<double>(listed_number(index, "sharedMemPerBlock", 0)) / kKilobyte;
  return device;
}

LayerMap find_layers(const Trace& trace) {
  LayerMap layers = layers_by_markers(trace);
  return !layers.empty() ? std::move(layers) : layers_by_correlation(trace);
}

Architecture architecture_of(const Trace& trace) {
  return architecture_of(any_name(trace, kAttentionParts), any_name(trace, kSsmParts));
}

Architecture architecture_of(const Trace& first, const Trace& second) {
  return architecture_of(any_name(first, kAttentionParts) || any_name(second, kAttentionParts),
                         any_name(first, kSsmParts) || any_name(second, kSsmParts));
}

std::string_view to_string(Architecture architecture) { return kNames[static_cast<std::size_t>(architecture)]; }

std::int64_t token_count(std::string_view annotation) {
  const std::vector<std::string_view> parts = split_text(annotation, '_');
  const auto context = std::ranges::find(parts, "context");
  return parts.end() - context > 1 ? number_in_parentheses(*(context + 1)) : 0;
}

Phase phase_of(std::string_view annotation) {
  const bool no_generation = annotation.find("generation_0") != std::string_view::npos;
  return no_generation && token_count(annotation) > 0 ? Phase::kPrefill : Phase::kDecode;
}

void assign_phases(Trace& trace) {
  std::size_t begun = 0;
  for (Kernel& kernel : trace.kernels) {
    while (begun < trace.passes.size() && trace.passes[begun].begin <= kernel.ts) ++begun;
    const bool inside = begun > 0 && kernel.ts <= trace.passes[begun - 1].end;
    kernel.phase = inside ? trace.passes[begun - 1].phase : Phase::kDecode;
  }
}

std::string_view to_string(Phase phase) { return phase == Phase::kPrefill ? "prefill" : "decode"; }

}  // namespace tracedb::wafer
