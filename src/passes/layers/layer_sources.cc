#include "passes/layers/layer_sources.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/text/characters.h"
#include "base/unknown.h"
#include "passes/layers/module_layers.h"

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

// Layers of strings that may be names of operators, by id. Few strings have a number behind one of the words, so most
// traces end here.
std::unordered_map<std::uint32_t, std::int32_t> numbered_strings(const Index& index) {
  std::unordered_map<std::uint32_t, std::int32_t> layers;
  Statement rows(index.database(), "SELECT id, value FROM string");
  while (rows.step()) {
    const std::string_view value = rows.text(1);
    if (value.find_first_of("0123456789") == std::string_view::npos || value.starts_with("nn.Module: ")) continue;
    if (const auto layer = layer_number(value)) layers.emplace(rows.id(0), *layer);
  }
  return layers;
}

// Numbers of something else are few, or anything: a size, an address, the place in a list of kernels.
bool look_like_layers(const std::vector<std::int32_t>& layers) {
  std::vector<bool> seen;
  for (const std::int32_t layer : layers) {
    if (layer >= 0) for_id(seen, static_cast<std::size_t>(layer)) = true;
  }
  const auto count = static_cast<std::size_t>(std::ranges::count(seen, true));
  constexpr std::size_t kOneMissingOf = 10;
  return count > 1 && (seen.size() - count) * kOneMissingOf <= count + kOneMissingOf;
}

struct LoopBody {
  std::string loop;  // "jit(train_step)/main/while/body/decoder/layers": where the loop stands, and what says it is one
  bool backward = false;
};

// Of names of operators, those in the body of one loop below a scope that is named for layers: loops are also over
// tokens, microbatches and time. Of a loop in a loop, whose iterations repeat, none.
std::unordered_map<std::uint32_t, LoopBody> loop_bodies(const Index& index) {
  constexpr std::string_view kBody = "/while/body/", kBackward = "transpose(";
  std::unordered_map<std::uint32_t, LoopBody> out;
  Statement rows(index.database(), "SELECT id, value FROM string WHERE value GLOB '*/while/body/*'");
  while (rows.step()) {
    const std::string_view name = rows.text(1);
    const std::size_t at = name.find(kBody);
    if (name.find(kBody, at + 1) != std::string_view::npos) continue;
    const std::string text = ascii_lower(name);
    const std::size_t word = std::min(text.find("layer", at), text.find("block", at));
    if (word == std::string::npos) continue;
    std::string loop(name.substr(0, std::min(name.find('/', word), name.size())));
    const bool backward = loop.find(kBackward) != std::string::npos;
    for (const std::string_view wrapper : {kBackward, std::string_view("jvp("), std::string_view(")")}) {
      for (std::size_t found = loop.find(wrapper); found != std::string::npos; found = loop.find(wrapper))
        loop.erase(found, wrapper.size());
    }
    out[rows.id(0)] = {std::move(loop), backward};
  }
  return out;
}

// Of kernels of the loop in one run of its program on one stream: the rows of each name, in order of time.
using RowsByName = std::map<std::uint32_t, std::vector<std::size_t>>;

// How often most names of a pass ran; 0: there are none, or some ran less often, so that it may be a multiple.
std::size_t iterations_of(const RowsByName& by_name, std::span<const LoopBody* const> body_of, bool backward) {
  std::map<std::size_t, std::size_t> names_by_times;
  for (const auto& [name, rows] : by_name) {
    if (body_of[rows.front()]->backward == backward) ++names_by_times[rows.size()];
  }
  const auto most = std::ranges::max_element(names_by_times, {}, [](const auto& one) { return one.second; });
  return most == names_by_times.begin() && most != names_by_times.end() ? most->first : 0;
}

// A backward pass of another number of iterations was not recorded as a whole.
void number_iterations(const RowsByName& by_name, std::span<const LoopBody* const> body_of,
                       std::span<std::int32_t> layers) {
  const std::size_t times = iterations_of(by_name, body_of, false);
  if (times < 2) return;
  const bool is_whole = iterations_of(by_name, body_of, true) == times;
  for (const auto& [name, rows] : by_name) {
    const bool backward = body_of[rows.front()]->backward;
    if (rows.size() % times != 0 || (backward && !is_whole)) continue;
    const std::size_t together = rows.size() / times;  // kernels of one operation
    for (std::size_t k = 0; k < rows.size(); ++k)
      layers[rows[k]] = static_cast<std::int32_t>(backward ? times - 1 - k / together : k / together);
  }
}

// By row of `kernels`, of XLA: which iteration of the loop it is that most of them lie in, in each run of a program: a
// scan over layers, whose backward pass begins with the last one. -1: of none, or of one whose iterations cannot be
// told. Empty where there is no loop.
std::vector<std::int32_t> loop_layers(const Index& index, const EventColumns& kernels) {
  const std::unordered_map<std::uint32_t, LoopBody> bodies = loop_bodies(index);
  if (bodies.empty()) return {};
  const EventColumns operators(index, "cpu_op", {"name_id"});
  const auto operator_names = operators.ids("name_id");
  const auto names = kernels.ids("name_id"), of_operator = kernels.ids("cpu_op_id"), steps = kernels.ids("step_id"),
             annotations = kernels.ids("annotation_id"), streams = kernels.ids("stream_id");
  std::map<std::string_view, std::size_t> kernels_of;
  std::vector<const LoopBody*> body_of(kernels.size());
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (of_operator[i] == 0 || of_operator[i] > operators.size() || (steps[i] | annotations[i]) == 0) continue;
    const auto found = bodies.find(operator_names[of_operator[i] - 1]);
    if (found == bodies.end()) continue;
    body_of[i] = &found->second;
    ++kernels_of[found->second.loop];
  }
  if (kernels_of.empty()) return {};
  const std::string_view loop =
      std::ranges::max_element(kernels_of, {}, [](const auto& one) { return one.second; })->first;

  // By step, annotation and stream: devices run the program side by side.
  std::map<std::array<std::uint32_t, 3>, RowsByName> runs;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (body_of[i] == nullptr || body_of[i]->loop != loop) continue;
    runs[{steps[i], annotations[i], streams[i]}][names[i]].push_back(i);
  }
  std::vector<std::int32_t> out(kernels.size(), -1);
  for (const auto& [run, by_name] : runs) number_iterations(by_name, body_of, out);
  if (std::ranges::all_of(out, [](std::int32_t layer) { return layer < 0; })) out.clear();
  return out;
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
  if (!operator_layers_.empty()) {
    found_.push_back({LayerSource::kOperators, "numbered operators", launched_.rows.ids("cpu_op_id"), operator_layers_,
                      one_stack(operator_layers_)});
    return;
  }
  if (launched_.traits == nullptr) return;
  loop_layers_ = loop_layers(index_, launched_.rows);
  if (loop_layers_.empty()) return;
  found_.push_back({LayerSource::kOperators, "iterations of a loop", {}, loop_layers_, one_stack(loop_layers_)});
}

void LayerSources::add_captured() {
  if (captured_ == nullptr) return;
  const bool any = std::ranges::any_of(captured_->of_row, [](std::int32_t layer) { return layer >= 0; });
  if (any) found_.push_back({LayerSource::kCapture, "the capture", {}, captured_->of_row, captured_->stacks});
}

std::optional<std::int32_t> layer_number(std::string_view name) {
  if (name.starts_with("FSDP::")) return std::nullopt;  // gathers for a layer, ahead of it
  const std::string text = ascii_lower(name);
  for (const std::string_view word : {"layers", "layer", "blocks", "block", ".h"}) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      std::size_t begin = at + word.size();
      if (begin < text.size() && std::string_view("._ #:[/").find(text[begin]) != std::string_view::npos) ++begin;
      std::int32_t number = 0;
      const auto end = std::from_chars(text.data() + begin, text.data() + text.size(), number);
      const bool ends =
          end.ptr == text.data() + text.size() || std::string_view("._ #:]/)").find(*end.ptr) != std::string_view::npos;
      constexpr std::int32_t kMostNumber = 10000;
      if (end.ec == std::errc{} && ends && number >= 0 && number < kMostNumber) return number;
    }
  }
  return std::nullopt;
}

std::vector<std::int32_t> annotation_layers(const Index& index) {
  const EventColumns annotations(index, "annotation", {"name_id", "parent_id"});
  const auto names = annotations.ids("name_id");
  const auto parents = annotations.ids("parent_id");
  std::vector<std::int32_t> of_name;  // -2: not looked at
  TextById text(index);
  std::vector<std::int32_t> out(annotations.size() + 1, -1);
  bool any = false;
  for (std::size_t i = 0; i < annotations.size(); ++i) {
    std::int32_t& layer = for_id(of_name, names[i], -2);
    if (layer == -2) layer = layer_number(text.of(names[i]).value_or("")).value_or(-1);
    any = any || layer >= 0;
    out[i + 1] = layer >= 0 ? layer : parents[i] <= i ? out[parents[i]] : -1;
  }
  if (!any) out.clear();
  return out;
}

std::vector<std::int32_t> operator_layers(const Index& index) {
  const auto layers = numbered_strings(index);
  if (layers.empty()) return {};
  const EventColumns operators(index, "cpu_op", {"name_id", "parent_id"});
  const auto names = operators.ids("name_id");
  const auto parents = operators.ids("parent_id");
  std::vector<std::int32_t> out(operators.size() + 1, -1);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::int32_t outer = parents[i] <= i ? out[parents[i]] : -1;
    const auto own = outer >= 0 ? layers.end() : layers.find(names[i]);
    out[i + 1] = own != layers.end() ? own->second : outer;
  }
  if (!look_like_layers(out)) out.clear();
  return out;
}

}  // namespace tracedb
