#include "compare/trace/joint_stacks.h"

#include <algorithm>
#include <optional>
#include <tuple>

namespace tracedb {
namespace {

// "stack 2" is a number within its own model only.
bool is_numbered(const std::string& name) { return name.starts_with("stack "); }

class Joiner {
 public:
  // The position of each stack of a model among all.
  std::vector<std::size_t> add(const LayerStacks& model) {
    std::vector<std::optional<std::size_t>> position(model.size());
    taken_.assign(all_.size(), false);
    if (model.size() == 1 && all_.size() == 1) take(position[0], 0);
    const auto pair = [&](auto fits) {
      for (std::size_t i = 0; i < model.size(); ++i) {
        for (std::size_t k = 0; k < all_.size() && !position[i]; ++k) {
          if (!taken_[k] && fits(all_[k], model[i])) take(position[i], k);
        }
      }
    };
    pair([](const LayerStack& a, const LayerStack& b) { return a.name == b.name && !is_numbered(a.name); });
    pair([](const LayerStack& a, const LayerStack& b) { return a.count == b.count; });
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < model.size(); ++i) {
      out.push_back(position[i].value_or(all_.size()));
      if (!position[i]) {
        all_.push_back(model[i]);
        position_.push_back(i);
      } else {
        unite(all_[*position[i]], model[i]);
        position_[*position[i]] = std::min(position_[*position[i]], i);
      }
    }
    return out;
  }

  LayerStacks finish() {
    std::int32_t next = 0;
    for (LayerStack& stack : all_) {
      stack.first = next;
      next += stack.count;
    }
    number_unnamed();
    return std::move(all_);
  }

 private:
  void take(std::optional<std::size_t>& position, std::size_t stack) {
    position = stack;
    taken_[stack] = true;
  }

  // In an order that does not depend on which model came first, so that a comparison mirrors.
  void number_unnamed() {
    std::vector<std::size_t> unnamed;
    for (std::size_t k = 0; k < all_.size(); ++k) {
      if (is_numbered(all_[k].name)) unnamed.push_back(k);
    }
    const auto rank = [&](std::size_t k) { return std::tuple(position_[k], all_[k].count, all_[k].passes); };
    std::stable_sort(unnamed.begin(), unnamed.end(), [&](std::size_t x, std::size_t y) { return rank(x) < rank(y); });
    for (std::size_t i = 0; i < unnamed.size(); ++i) all_[unnamed[i]].name = "stack " + std::to_string(i + 1);
  }

  // Of two names the same one whichever side comes first, so that a comparison mirrors.
  static void unite(LayerStack& to, const LayerStack& from) {
    to.count = std::max(to.count, from.count);
    to.passes = std::max(to.passes, from.passes);
    const bool better = is_numbered(to.name) == is_numbered(from.name) ? from.name < to.name : is_numbered(to.name);
    if (better) to.name = from.name;
  }

  LayerStacks all_;
  std::vector<std::size_t> position_;  // by position in all_: the first one in a model
  std::vector<bool> taken_;            // by position in all_: by a stack of the model at hand
};

}  // namespace

JointStacks join_stacks(const std::vector<LayerStacks>& models) {
  Joiner joiner;
  std::vector<std::vector<std::size_t>> positions;
  positions.reserve(models.size());
  for (const LayerStacks& model : models) positions.push_back(joiner.add(model));
  JointStacks out{joiner.finish(), {}};
  for (const std::vector<std::size_t>& of_model : positions) {
    std::vector<std::int32_t>& first = out.first.emplace_back();
    for (const std::size_t position : of_model) first.push_back(out.stacks[position].first);
  }
  return out;
}

std::vector<LayerSet> join_layers(std::vector<LayerSet> traces) {
  std::vector<LayerStacks> models;
  models.reserve(traces.size());
  for (const LayerSet& layers : traces) models.push_back(layers.stacks);
  const JointStacks joint = join_stacks(models);
  for (std::size_t t = 0; t < traces.size(); ++t) {
    std::vector<std::int32_t> shift;  // by layer
    for (std::size_t i = 0; i < models[t].size(); ++i) {
      shift.insert(shift.end(), static_cast<std::size_t>(models[t][i].count), joint.first[t][i] - models[t][i].first);
    }
    const bool moves = std::any_of(shift.begin(), shift.end(), [](std::int32_t by) { return by != 0; });
    for (std::int32_t& layer : traces[t].of_kernel) {
      if (!moves) break;
      if (layer >= 0 && static_cast<std::size_t>(layer) < shift.size()) layer += shift[static_cast<std::size_t>(layer)];
    }
    traces[t].stacks = joint.stacks;
  }
  return traces;
}

}  // namespace tracedb
