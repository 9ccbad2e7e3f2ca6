#include "passes/roles/kernel_roles.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text/characters.h"
#include "passes/layers/module_layers.h"
#include "passes/steps/step_stats.h"

namespace tracedb {
namespace {

Mark mark_of_class(std::string_view name, Traits traits) {
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if ((traits & kAttentionTrait) != 0) return Mark::kMixer;
  if ((traits & kSsmTrait) != 0) return Mark::kSsm;
  if ((traits & kMoeTrait) != 0) {
    return has("moe_gemm") ? Mark::kExperts : has("moe_finalize") ? Mark::kCombine : Mark::kRouting;
  }
  const std::pair<Traits, Mark> by_trait[] = {{kGemmTrait, Mark::kProduct},
                                              {kCommunicationTrait, Mark::kComm},
                                              {traits_of_class("rotary"), Mark::kRope},
                                              {traits_of_class("kv_cache"), Mark::kKvCache},
                                              {kNormTrait, Mark::kNorm},
                                              {kActivationTrait, Mark::kActivation},
                                              {kEmbeddingTrait, Mark::kEmbedding},
                                              {kSamplingTrait, Mark::kSampling},
                                              {kSoftmaxTrait, Mark::kSoftmax},
                                              {traits_of_class("reduce"), Mark::kReduce},
                                              {traits_of_class("sort"), Mark::kReduce},
                                              {kElementwiseTrait, Mark::kElementwise}};
  for (const auto& [bit, mark] : by_trait) {
    if ((traits & bit) != 0) return mark;
  }
  return Mark::kOther;
}

// By name id.
std::vector<MarkedKernel> marks_of_names(const KernelClasses& classes, const RuleSet& rules) {
  std::set<std::string_view> companions;
  for (const ClassRelation& relation : rules.companions) companions.insert(relation.first);
  std::vector<MarkedKernel> out(std::size_t{classes.end()} + 1);
  for (std::uint32_t id = 1; id < classes.end(); ++id) {
    const Traits traits = traits_of(classes.traits(), id);
    MarkedKernel& own = out[id];
    own.name = id;
    own.mark = mark_of_class(classes.class_of(id), traits);
    own.normalises = own.mark == Mark::kComm && (traits & kNormTrait) != 0;
    if (own.mark != Mark::kMixer && companions.contains(classes.of(id).rule)) own.mark = Mark::kCompanion;
  }
  return out;
}

// By stack id. Empty where the layers do not come from modules.
std::vector<ModuleMark> marks_of_stacks(const Index& index, const LayerSet& layers) {
  const bool named = std::ranges::any_of(layers.phases, [](const PhaseLayers& phase) {
    return std::ranges::find(phase.sources, LayerSource::kModules) != phase.sources.end();
  });
  if (!named) return {};
  const Modules modules = read_modules(index);
  const ModuleTrie trie(index, modules);
  const auto mark = [&](std::uint32_t module) {
    std::vector<std::string_view> path;
    for (std::uint32_t at = module; at != 0; at = trie.around(at)) {
      path.push_back(modules.kinds[modules.by_frame.at(trie.frame(at)).kind]);
    }
    std::ranges::reverse(path);
    return mark_of_modules(path);
  };
  std::vector<ModuleMark> out(trie.size());
  for (std::uint32_t stack = 1; stack < trie.size(); ++stack) {
    const std::uint32_t module = trie.module_at(stack);
    if (module != 0) out[stack] = module == stack ? mark(module) : out[module];
  }
  return out;
}

// The kernels of a step on one device, cut into layers.
class RoleFinder {
 public:
  RoleFinder(const Index& index, const EventTables& events, const StepSet& steps, const LayerSet& layers,
             const KernelClasses& classes, const RuleSet& rules)
      : steps_(steps),
        layers_(layers),
        names_(events.kernels.ids("name_id")),
        streams_(events.kernels.ids("stream_id")),
        devices_(events.device_of_stream),
        marks_(marks_of_names(classes, rules)),
        modules_(marks_of_stacks(index, layers)) {
    if (!modules_.empty()) stacks_ = events.kernels.ids("stack_id");
    out_.of_kernel.resize(names_.size());
  }

  KernelRoles run() {
    const std::span<const std::uint32_t> rows = layers_.by_step;
    for_each_run(
        rows.size(), [&](std::size_t a, std::size_t b) { return is_same_part(rows[a], rows[b]); },
        [&](std::size_t begin, std::size_t end) { find(rows.subspan(begin, end - begin)); });
    return std::move(out_);
  }

 private:
  using Rows = std::vector<std::uint32_t>;
  struct Layer {
    std::int32_t number = 0;
    Rows rows;
  };

  [[nodiscard]] bool is_same_part(std::uint32_t a, std::uint32_t b) const {
    return steps_.of_kernel[a] == steps_.of_kernel[b] && devices_.of(streams_[a]) == devices_.of(streams_[b]);
  }

  [[nodiscard]] MarkedKernel marked_row(std::uint32_t row) const {
    const std::uint32_t name = names_[row];
    const MarkedKernel& own = marks_[name < marks_.size() ? name : 0];
    if (stacks_.empty()) return own;
    return marked(own, stacks_[row] < modules_.size() ? modules_[stacks_[row]] : ModuleMark());
  }

  [[nodiscard]] bool has_order(std::uint32_t row) const {
    const std::uint32_t step = steps_.of_kernel[row];
    if (step == 0) return steps_.steps.empty();
    return steps_.steps[step - 1].info.kind != StepKind::kTrain;
  }

  void find(std::span<const std::uint32_t> rows) {
    for (const std::uint32_t row : rows) out_.of_kernel[row] = role_of_mark(marked_row(row));
    if (layers_.layers == 0 || !has_order(rows.front())) return;
    cut(rows);
    if (used_ == 0) return;
    const std::int32_t first = pieces_[0].number;
    bool is_language = false;
    for (const std::uint32_t row : rows) {
      const Role role = out_.of_kernel[row].role;
      is_language = is_language || role == Role::kEmbedding || role == Role::kKvCache || role == Role::kSampling;
    }
    for (std::size_t at = 0; at < used_; ++at) {
      mark(pieces_[at].rows);
      write(pieces_[at].rows, roles_of_layer(marked_, pieces_[at].number == first));
    }
    mark(head_);
    write(head_, roles_of_head(marked_));
    mark(tail_);
    write(tail_, roles_of_tail(marked_, is_language));
  }

  // The stream with most mixers, else with most kernels.
  [[nodiscard]] std::uint32_t main_stream(std::span<const std::uint32_t> rows) {
    counts_.assign(counts_.size(), 0);
    constexpr std::uint64_t kMixer = std::uint64_t{1} << 32;
    for (const std::uint32_t row : rows) {
      const Mark mark = marks_[names_[row] < marks_.size() ? names_[row] : 0].mark;
      for_id(counts_, streams_[row]) += mark == Mark::kMixer || mark == Mark::kSsm ? kMixer : 1;
    }
    return static_cast<std::uint32_t>(std::ranges::max_element(counts_) - counts_.begin());
  }

  // A layer may be run several times: the main stream tells when the next run begins.
  void cut(std::span<const std::uint32_t> rows) {
    const std::uint32_t stream = main_stream(rows);
    used_ = 0;
    head_.clear();
    tail_.clear();
    latest_.clear();
    std::int32_t open = kNoLayer;
    for (const std::uint32_t row : rows) {
      const std::int32_t layer = layers_.of_kernel[row];
      const bool is_main = streams_[row] == stream;
      if (!is_main && marked_row(row).mark != Mark::kComm) continue;
      if (layer == kHead) head_.push_back(row);
      if (layer == kTail) tail_.push_back(row);
      if (layer < 0) continue;
      std::size_t& latest = for_id(latest_, static_cast<std::size_t>(layer), SIZE_MAX);
      if (is_main && layer != open) {
        if (used_ == pieces_.size()) pieces_.emplace_back();
        pieces_[used_].number = open = layer;
        pieces_[used_].rows.clear();
        latest = used_++;
      }
      if (latest != SIZE_MAX) pieces_[latest].rows.push_back(row);
    }
  }

  void mark(const Rows& rows) {
    marked_.clear();
    for (const std::uint32_t row : rows) marked_.push_back(marked_row(row));
  }
  void write(const Rows& rows, std::span<const KernelRole> roles) {
    for (std::size_t i = 0; i < rows.size(); ++i) out_.of_kernel[rows[i]] = roles[i];
  }

  const StepSet& steps_;
  const LayerSet& layers_;
  std::span<const std::uint32_t> names_, streams_, stacks_;
  const DenseDevices devices_;
  const std::vector<MarkedKernel> marks_;
  const std::vector<ModuleMark> modules_;  // by stack
  std::vector<Layer> pieces_;              // of the part at hand, in order; the first `used_`
  std::size_t used_ = 0;
  Rows head_, tail_;
  std::vector<std::size_t> latest_;    // by layer: its latest piece
  std::vector<std::uint64_t> counts_;  // by stream
  std::vector<MarkedKernel> marked_;
  KernelRoles out_;
};

// Words that class names hold, in lower case, and what they say.
constexpr std::string_view kRopeWords[] = {"rotary", "rope"};
constexpr std::string_view kEmbeddingWords[] = {"embed"};
constexpr std::string_view kActivationWords[] = {"silu",       "gelu",  "relu", "swiglu", "geglu",
                                                 "activation", "swish", "tanh", "sigmoid"};
constexpr std::string_view kAttentionWords[] = {"attention", "attn"};
constexpr std::string_view kMlpWords[] = {"mlp",          "feedforward", "ffn",     "layerff",
                                          "intermediate", "gateddense",  "actdense"};
constexpr std::string_view kExpertsWords[] = {"sparsemoe", "moeblock", "fusedmoe", "mixtureofexperts", "moelayer"};
constexpr std::string_view kLogitWords[] = {"lmhead", "logitsprocessor"};
constexpr std::string_view kLanguageModelWords[] = {"forcausallm", "lmheadmodel", "formaskedlm",
                                                    "forconditionalgeneration"};
constexpr std::string_view kLinearWords[] = {"linear", "conv1d", "dense"};

bool holds_experts(std::string_view name) { return contains_any(name, kExpertsWords) || name.ends_with("moe"); }

// "BertOnlyMLMHead"; a "BertLMHeadModel" is all of the model.
bool makes_logits(std::string_view name) { return contains_any(name, kLogitWords) && !name.ends_with("model"); }

// A path of modules, lower case.
using Path = std::vector<std::string>;

bool any_has(const Path& path, std::span<const std::string_view> words) {
  return std::ranges::any_of(path, [&](const std::string& name) { return contains_any(name, words); });
}

// Of the innermost module that is one. "BertOutput" is the second half of an MLP unless it is of attention.
ModulePart part_of(const Path& path) {
  bool is_output = false;
  for (auto name = path.rbegin(); name != path.rend(); ++name) {
    if (contains_any(*name, kAttentionWords)) return ModulePart::kAttention;
    if (contains_any(*name, kMlpWords) || holds_experts(*name)) return ModulePart::kMlp;
    is_output = is_output || name->ends_with("output");
  }
  return is_output ? ModulePart::kMlp : ModulePart::kUnknown;
}

// Of linear maps whose class says how the model is divided over devices, which tells what they are for.
Role role_of_parallel(std::string_view leaf, ModulePart part) {
  const bool is_attention = part == ModulePart::kAttention;
  if (leaf.find("qkvparallel") != std::string_view::npos) return Role::kQkvProj;
  if (leaf.find("rowparallel") != std::string_view::npos) return is_attention ? Role::kOProj : Role::kDown;
  if (is_attention) return Role::kNone;
  return leaf.find("mergedcolumnparallel") != std::string_view::npos ? Role::kGateUp : Role::kNone;
}

void mark_linear(const Path& path, ModuleMark& out) {
  const std::string& leaf = path.back();
  const auto experts = std::ranges::find_if(path, holds_experts);
  if (leaf.find("router") != std::string::npos) out.product = Role::kRouter;
  if (path.size() > 1 && contains_any(path[path.size() - 2], kLanguageModelWords)) {
    out.part = ModulePart::kLogits;
    out.product = Role::kLmHead;
  }
  if (out.product != Role::kNone || (out.part != ModulePart::kAttention && out.part != ModulePart::kMlp)) return;
  const bool in_expert = experts != path.end() && std::any_of(experts, path.end(), [](const std::string& name) {
                           return contains_any(name, kMlpWords) && !holds_experts(name);
                         });
  if (!in_expert) {
    out.product = role_of_parallel(leaf, out.part);
  } else if (role_of_parallel(leaf, out.part) != Role::kNone) {
    out.product = Role::kSharedExperts;  // the others' products are not linear maps of their own
  } else {
    out.part = ModulePart::kOutside;  // one expert of many, or a shared one
  }
}

}  // namespace

KernelRoles find_roles(const Index& index, const EventTables& events, const StepSet& steps, const LayerSet& layers,
                       const KernelClasses& classes, const RuleSet& rules) {
  return RoleFinder(index, events, steps, layers, classes, rules).run();
}

ModuleMark mark_of_modules(std::span<const std::string_view> classes) {
  ModuleMark out;
  if (classes.empty()) return out;
  Path path;
  for (const std::string_view name : classes) path.push_back(ascii_lower(name));
  const std::string& leaf = path.back();
  out.part = part_of(path);
  if (std::ranges::any_of(path, makes_logits)) {
    out.part = ModulePart::kLogits;
    out.product = Role::kLmHead;
    out.comm = Role::kLmHeadComm;
  } else if (any_has(path, kRopeWords)) {
    out.all = Role::kRope;
  } else if (any_has(path, kEmbeddingWords)) {
    out.all = Role::kEmbedding;
    out.comm = Role::kEmbeddingComm;
  } else if (leaf.find("sampler") != std::string::npos) {
    out.all = Role::kSampling;
  } else if (contains(leaf, "norm")) {
    out.mark = Mark::kNorm;
  } else if (contains_any(leaf, kActivationWords)) {
    out.mark = Mark::kActivation;
  } else if (contains_any(leaf, kLinearWords)) {
    out.linear = true;
    mark_linear(path, out);
  }
  const bool is_known = out.linear || out.mark != Mark::kOther;
  if (out.part == ModulePart::kUnknown && is_known) out.part = ModulePart::kOutside;
  return out;
}

MarkedKernel marked(const MarkedKernel& by_class, const ModuleMark& module) {
  MarkedKernel out = by_class;
  out.part = module.part;
  const bool is_product = by_class.mark == Mark::kProduct;
  const bool is_comm = by_class.mark == Mark::kComm;
  out.linear = module.linear && is_product;
  if (is_comm) {
    out.named = module.comm;
  } else if (module.all != Role::kNone) {
    out.named = module.all;
    out.mark = Mark::kOther;
  } else if (is_product) {
    out.named = module.product;
  } else if (module.mark == Mark::kNorm) {
    out.in_norm = true;
  } else if (module.mark != Mark::kOther) {
    out.mark = module.mark;
  }
  return out;
}

}  // namespace tracedb
