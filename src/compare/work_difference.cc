#include "compare/work_difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>

namespace tracedb {
namespace {

constexpr double kSameWork = 1.25;  // most by which the work may differ: padding
constexpr double kInCommon = 0.2;   // of the work on either side: least by which it is the same

using Shapes = std::map<std::string, double>;  // work of a step by operands

struct Side {
  const ComparedTrace& trace;
  const GroupSide& group;

  [[nodiscard]] double each(double sum) const { return sum / static_cast<double>(group.device_steps.size()); }
  [[nodiscard]] double ranks() const { return std::max(1.0, std::atof(trace.description.world_size.c_str())); }

  [[nodiscard]] std::map<std::string_view, Shapes> shapes() const {
    std::map<std::string_view, Shapes> out;
    for (const std::uint32_t step : group.device_steps) {
      for (const std::uint32_t i : trace.recorded_work.by_step[step]) {
        const RecordedShape& shape = trace.recorded_work.shapes[i];
        out[shape.kind][shape.operands] += each(shape.work);
      }
    }
    return out;
  }

  [[nodiscard]] PhaseLayers layers() const {
    const auto& phases = trace.layers.phases;
    const auto own =
        std::find_if(phases.begin(), phases.end(), [&](const auto& one) { return one.kind == group.kind; });
    return own == phases.end() ? PhaseLayers{} : *own;
  }

  // "LlamaForCausalLM" -> "llama"; "": not recorded, or only what is around the model.
  [[nodiscard]] std::string family() const {
    std::string name = trace.recorded_work.model;
    for (const char* wrapper : {"DataParallel", "OptimizedModule", "GraphModule", "Norm"}) {
      if (name.find(wrapper) != std::string::npos) return "";
    }
    name.resize(std::min({name.size(), name.find("For"), name.find("Model")}));
    std::erase(name, '_');
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    return name;
  }

  [[nodiscard]] std::string model() const {
    const std::size_t count = layers().layers;
    const std::string number = count > 0 ? fmt::format("{} layers", count) : "";
    if (family().empty()) return number;
    return trace.recorded_work.model + (number.empty() ? "" : ", ") + number;
  }
};

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
  const auto less = [](const auto& x, const auto& y) { return x.second < y.second; };
  return std::max_element(shapes.begin(), shapes.end(), less)->first;
}

// Whether the ratio of two works is that of the load, or of ranks that share it, or lies between. Convolutions are not
// shared.
bool is_explained(double ratio, bool shared, const Side& a, const Side& b) {
  double low = 1 / kSameWork, high = kSameWork;
  const auto add = [&](double baseline, double candidate) {
    if (baseline <= 0 || candidate <= 0) return;
    low *= std::min(1.0, candidate / baseline);
    high *= std::max(1.0, candidate / baseline);
  };
  const auto tokens = &GroupSide::tokens, requests = &GroupSide::requests;
  const auto load = a.group.tokens > 0 && b.group.tokens > 0 ? tokens : requests;
  add(a.each(static_cast<double>(a.group.*load)), b.each(static_cast<double>(b.group.*load)));
  if (shared) add(b.ranks(), a.ranks());
  return ratio >= low && ratio <= high;
}

}  // namespace

WorkDifference work_difference(const ComparedTrace& baseline, const ComparedTrace& candidate, const StepGroup& group) {
  const Side a{baseline, group.baseline}, b{candidate, group.candidate};
  const WorkDifference other_model = {fmt::format("other model: {}, against {}", a.model(), b.model())};
  const PhaseLayers layers_a = a.layers(), layers_b = b.layers();
  const bool both_layers = layers_a.layers > 0 && layers_b.layers > 0;
  const auto by_rhythm = [](const PhaseLayers& phase) { return phase.sources == std::vector{LayerSource::kRhythm}; };
  if (both_layers && layers_a.layers != layers_b.layers && by_rhythm(layers_a) == by_rhythm(layers_b))
    return other_model;

  const std::string name_a = a.family(), name_b = b.family();
  const bool other_name =
      !name_a.empty() && !name_b.empty() && !name_a.starts_with(name_b) && !name_b.starts_with(name_a);
  std::map<std::string_view, Shapes> shapes_a = a.shapes(), shapes_b = b.shapes();
  // Attention by products of its own, on one side alone, is the same work.
  if (shapes_a.contains("attention") || shapes_b.contains("attention")) shapes_a.erase("batched product");
  bool compared = false;
  for (const auto& [kind, own_a] : shapes_a) {
    const auto found = shapes_b.find(kind);
    if (found == shapes_b.end() || sum(own_a) <= 0 || sum(found->second) <= 0) continue;
    compared = true;
    const Shapes& own_b = found->second;
    if (std::max(in_common(own_a, own_b), in_common(own_b, own_a)) >= kInCommon) continue;
    if (other_name) return other_model;
    if (is_explained(sum(own_b) / sum(own_a), kind != "convolution", a, b)) continue;
    return {fmt::format("{} of {} instead of {}", kind, most(own_b), most(own_a))};
  }
  const bool alike_layers = both_layers && layers_a.layers == layers_b.layers;
  return other_name && !compared && !alike_layers ? other_model : WorkDifference{};
}

}  // namespace tracedb
