#include "passes/layers/layer_sources.h"

#include <algorithm>
#include <utility>

#include "base/unknown.h"
#include "passes/layers/module_layers.h"
#include "passes/layers/numbered_layers.h"

namespace tracedb {
namespace {

StackUse stack_use(const Index& index, const Launched& launched) {
  StackUse use;
  const auto stack_of = launched.rows.ids("stack_id");
  const auto name = launched.traits == nullptr ? std::span<const std::uint32_t>() : launched.rows.ids("name_id");
  const auto stacks_there = static_cast<std::uint64_t>(
      std::max<std::int64_t>(index.database().query_int64("SELECT max(id) FROM stack").value_or(0), 0));
  for (std::size_t i = 0; i < stack_of.size(); ++i) {
    const std::uint32_t stack = stack_of[i];
    if (stack == 0 || stack > stacks_there) continue;
    if (stack >= use.time.size()) {
      use.time.resize(std::size_t{stack} * 2 + 1, 0);
      use.first_kernel.resize(use.time.size(), 0);
      if (launched.traits != nullptr) use.traits.resize(use.time.size(), 0);
    }
    const std::int64_t dur = duration_or_zero(launched.weight[i]);
    use.time[stack] += dur >> 8;  // shares are all that matters: no sum may overflow
    if (launched.traits != nullptr) use.traits[stack] |= traits_of(*launched.traits, name[i]);
    if (use.first_kernel[stack] == 0) use.first_kernel[stack] = static_cast<std::uint32_t>(i + 1);
  }
  return use;
}

bool has_modules(const Index& index) {
  return index.database()
             .query_int64("SELECT count(*) > 1 FROM string WHERE value >= 'nn.Module: ' AND value < 'nn.Module:!'")
             .value_or(0) != 0;
}

LayerStacks one_stack(std::span<const std::int32_t> layers) {
  std::int32_t most = -1;
  for (const std::int32_t layer : layers) most = std::max(most, layer);
  return {{"", 0, most + 1, 1}};
}

}  // namespace

std::string_view to_string(LayerSource source) {
  constexpr std::string_view kNames[] = {"none", "modules", "annotations", "operators", "capture", "rhythm"};
  return kNames[static_cast<std::size_t>(source)];
}

LayerSources::LayerSources(const Index& index, const Launched& launched, const CaptureLayers* captured)
    : index_(index), launched_(launched), captured_(captured) {}

const LayerHint* LayerSources::get(std::size_t place) {
  constexpr std::size_t kKinds = 3;
  while (place >= found_.size() && looked_ < kKinds) {
    if (looked_ == 0) add_named();
    if (looked_ == 1) add_operators();
    if (looked_ == 2) add_captured();
    ++looked_;
  }
  return place < found_.size() ? &found_[place] : nullptr;
}

void LayerSources::add_named() {
  ModuleLayers modules;
  if (has_modules(index_)) modules = module_layers(index_, stack_use(index_, launched_));
  if (!modules.stacks.empty()) {
    named_layers_ = std::move(modules.of_stack);
    found_.push_back({LayerSource::kModules, std::move(modules.text), launched_.rows.ids("stack_id"), named_layers_,
                      std::move(modules.stacks)});
    return;
  }
  named_layers_ = annotation_layers(index_);
  if (named_layers_.empty()) return;
  found_.push_back({LayerSource::kAnnotations, "numbered annotations", launched_.rows.ids("annotation_id"),
                    named_layers_, one_stack(named_layers_)});
}

void LayerSources::add_operators() {
  operator_layers_ = operator_layers(index_);
  if (operator_layers_.empty()) return;
  found_.push_back({LayerSource::kOperators, "numbered operators", launched_.rows.ids("cpu_op_id"), operator_layers_,
                    one_stack(operator_layers_)});
}

void LayerSources::add_captured() {
  if (captured_ == nullptr) return;
  const bool any =
      std::any_of(captured_->of_row.begin(), captured_->of_row.end(), [](std::int32_t layer) { return layer >= 0; });
  if (any) found_.push_back({LayerSource::kCapture, "the capture", {}, captured_->of_row, captured_->stacks});
}

}  // namespace tracedb
