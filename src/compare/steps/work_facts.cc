#include "compare/steps/work_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace tracedb {
namespace {

constexpr double kSameWork = 1.25;  // most by which the work may differ: padding
constexpr double kInCommon = 0.2;   // of the work on either side: least by which it is the same

using Shapes = std::map<std::string, double>;  // work of a step by operands

// "LlamaForCausalLM" -> "llama"
std::string family_of(std::string name) {
  name.resize(std::min({name.size(), name.find("For"), name.find("Model")}));
  std::erase(name, '_');
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name;
}

std::string model_text(const WorkFacts& facts) {
  const std::string number = facts.layers > 0 ? fmt::format("{} layers", facts.layers) : "";
  if (facts.model.empty()) return number;
  return facts.model + (number.empty() ? "" : ", ") + number;
}

double sum(const Shapes& shapes) {
  double all = 0;
  for (const auto& [operands, work] : shapes) all += work;
  return all;
}

// The part of the work whose operands the other side has too.
double in_common(const Shapes& own, const Shapes& other) {
  double both = 0;
  for (const auto& [operands, work] : own) both += other.contains(operands) ? work : 0;
  return both / sum(own);
}

const std::string& most(const Shapes& shapes) {
  return std::ranges::max_element(shapes, {}, [](const auto& one) { return one.second; })->first;
}

// Whether the ratio of two works is that of the load, or of ranks that share it, or lies between. Convolutions are not
// shared.
bool is_explained(double ratio, bool shared, const WorkFacts& a, const WorkFacts& b) {
  double low = 1 / kSameWork, high = kSameWork;
  const auto add = [&](double baseline, double candidate) {
    if (baseline <= 0 || candidate <= 0) return;
    low *= std::min(1.0, candidate / baseline);
    high *= std::max(1.0, candidate / baseline);
  };
  const auto load = a.tokens > 0 && b.tokens > 0 ? &WorkFacts::tokens : &WorkFacts::requests;
  add(a.*load, b.*load);
  if (shared) add(b.ranks, a.ranks);
  return ratio >= low && ratio <= high;
}

// Of models with other numbers of layers.
WorkDifference other_layers(const std::string& models, bool one_name) {
  if (!one_name) return {"other model: " + models};
  return {"other number of layers: " + models + ": another size, or a trace that is cut off"};
}

}  // namespace

WorkFacts work_facts(const ComparedTrace& trace, const GroupSide& group) {
  const auto each = [&](double sum) { return sum / static_cast<double>(group.device_steps.size()); };
  WorkFacts out;
  out.model = trace.recorded_work.model;
  for (const char* wrapper : {"DataParallel", "OptimizedModule", "GraphModule", "Norm"}) {
    if (out.model.find(wrapper) != std::string::npos) out.model.clear();
  }
  out.architecture = trace.recorded_work.architecture;
  for (const PhaseLayers& phase : trace.layers.phases) {
    if (phase.kind != group.kind) continue;
    out.layers = static_cast<std::int64_t>(phase.layers);
    out.by_rhythm = phase.sources == std::vector{LayerSource::kRhythm};
    break;
  }
  out.tokens = each(static_cast<double>(group.tokens));
  out.requests = each(static_cast<double>(group.requests));
  out.ranks = std::max(1.0, std::atof(trace.description.world_size.c_str()));
  for (const std::uint32_t step : group.device_steps) {
    for (const std::uint32_t i : trace.recorded_work.by_step[step]) {
      const RecordedShape& shape = trace.recorded_work.shapes[i];
      out.shapes[std::string(shape.kind)][shape.operands] += each(shape.work);
    }
  }
  return out;
}

WorkDifference work_difference(const WorkFacts& a, const WorkFacts& b) {
  const std::string models = fmt::format("{}, against {}", model_text(a), model_text(b));
  const WorkDifference other_model = {"other model: " + models};
  const bool both_layers = a.layers > 0 && b.layers > 0;
  const std::string name_a = family_of(a.model), name_b = family_of(b.model);
  const bool both_names = !name_a.empty() && !name_b.empty();
  const bool other_name = both_names && !name_a.starts_with(name_b) && !name_b.starts_with(name_a);
  const bool one_name = both_names && !other_name;
  if (both_layers && a.layers != b.layers && a.by_rhythm == b.by_rhythm) return other_layers(models, one_name);
  if (!one_name && !a.architecture.empty() && !b.architecture.empty() && a.architecture != b.architecture)
    return other_name ? other_model
                      : WorkDifference{fmt::format("other architecture, by its kernels: {}, against {}", a.architecture,
                                                   b.architecture)};
  // Attention by products of its own, on one side alone, is the same work.
  const bool attention = a.shapes.contains("attention") || b.shapes.contains("attention");
  bool compared = false;
  for (const auto& [kind, own_a] : a.shapes) {
    const auto found = b.shapes.find(kind);
    const bool left_out = attention && kind == "batched product";
    if (left_out || found == b.shapes.end() || sum(own_a) <= 0 || sum(found->second) <= 0) continue;
    compared = true;
    const Shapes& own_b = found->second;
    if (std::max(in_common(own_a, own_b), in_common(own_b, own_a)) >= kInCommon) continue;
    if (other_name) return other_model;
    if (is_explained(sum(own_b) / sum(own_a), kind != "convolution", a, b)) continue;
    return {fmt::format("{} of {} instead of {}", kind, most(own_b), most(own_a))};
  }
  const bool alike_layers = both_layers && a.layers == b.layers;
  return other_name && !compared && !alike_layers ? other_model : WorkDifference{};
}

}  // namespace tracedb
