#include "passes/sql/kernel_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include "base/failure.h"
#include "passes/classify/kernel_classes.h"
#include "sql/scripts.h"
#include "sql/sql_function.h"

namespace tracedb {

KernelWords::KernelWords(const Index& index, std::string rules, Find find, FindSteps find_steps)
    : index_(index),
      rules_(std::move(rules)),
      find_(std::move(find)),
      steps_([this, find_steps = std::move(find_steps)] {
        return find_steps(index_, [this] { return kernel_traits(index_, classifier()); });
      }) {}

Classifier& KernelWords::classifier() {
  if (!classifier_) classifier_.emplace(load_rules(rules_), platform_of(index_));
  return *classifier_;
}

std::string_view KernelWords::op_class(std::string_view name) {
  name_.assign(name);
  const auto known = classes_.find(name_);
  if (known != classes_.end()) return classifier().class_name(known->second);
  const ClassId id = classifier().classify(name_).class_id;
  classes_.emplace(name_, id);
  return classifier().class_name(id);
}

const KernelWords::Found& KernelWords::found() {
  if (!found_) {
    found_ = find_(index_, kernel_traits(index_, classifier()));
    notes_ = std::move(found_->notes);
  }
  return *found_;
}

std::int32_t KernelWords::layer(std::int64_t kernel_id) {
  const auto& layers = found().layer_of_kernel;
  const bool known = kernel_id > 0 && static_cast<std::uint64_t>(kernel_id) <= layers.size();
  return known ? layers[static_cast<std::size_t>(kernel_id) - 1] : kNoLayer;
}

const LayerStack* KernelWords::stack(std::int64_t kernel_id) { return stack_of(layer(kernel_id), found().stacks); }

std::optional<std::string_view> KernelWords::lent_op(std::int64_t kernel_id) {
  const LentWords& lent = found().lent;
  return lent.text(lent.op, kernel_id);
}

std::optional<std::string_view> KernelWords::lent_module(std::int64_t kernel_id) {
  const LentWords& lent = found().lent;
  return lent.text(lent.module, kernel_id);
}

void KernelWords::rethrow() const {
  if (failure_) throw Error(*failure_);
}

namespace {

KernelWords* words_of(SqlCall& call) { return static_cast<KernelWords*>(call.context()); }

// An exception must not pass through SQLite: its statement fails, and the reason is kept.
template <class Answer>
void answered(SqlCall& call, Answer answer) {
  KernelWords* words = words_of(call);
  if (words == nullptr) return;
  if (auto failure = failure_of([&] { answer(*words); })) {
    call.fail(failure->what());
    words->keep_failure(std::move(*failure));
  }
}

void op_class(SqlCall& call) {
  const auto name = call.text(0);
  if (!name) return;
  answered(call, [&](KernelWords& words) { call.give(words.op_class(*name)); });
}

void kernel_layer(SqlCall& call) {
  const auto id = call.integer(0);
  if (!id) return;
  answered(call, [&](KernelWords& words) {
    if (const LayerStack* stack = words.stack(*id)) call.give(std::int64_t{words.layer(*id) - stack->first});
  });
}

void kernel_stack(SqlCall& call) {
  const auto id = call.integer(0);
  if (!id) return;
  answered(call, [&](KernelWords& words) {
    if (const LayerStack* stack = words.stack(*id)) call.give(std::string_view(stack->name));
  });
}

void kernel_layer_part(SqlCall& call) {
  const auto id = call.integer(0);
  if (!id) return;
  answered(call, [&](KernelWords& words) {
    const std::int32_t layer = words.layer(*id);
    if (layer != kNoLayer) call.give(std::string_view(layer == kHead ? "head" : layer == kTail ? "tail" : "layer"));
  });
}

void give(SqlCall& call, const std::optional<std::int64_t>& value) {
  if (value) call.give(*value);
}

// Answers with what `answer` makes of the steps and of the id given.
template <class Answer>
void answer_step(SqlCall& call, Answer answer) {
  const auto id = call.integer(0);
  if (!id) return;
  answered(call, [&](KernelWords& words) { answer(words.steps(), *id); });
}

void kernel_step(SqlCall& call) {
  answer_step(call, [&](StepWords& steps, std::int64_t id) { give(call, steps.of_kernel(id)); });
}

void memory_step(SqlCall& call) {
  answer_step(call, [&](StepWords& steps, std::int64_t id) { give(call, steps.of_memory(id)); });
}

void kernel_phase(SqlCall& call) {
  answer_step(call, [&](StepWords& steps, std::int64_t id) {
    if (const auto step = steps.of_kernel(id)) call.give(steps.phase(*step));
  });
}

void memory_phase(SqlCall& call) {
  answer_step(call, [&](StepWords& steps, std::int64_t id) {
    if (const auto step = steps.of_memory(id)) call.give(steps.phase(*step));
  });
}

void step_count(SqlCall& call) {
  answered(call, [&](KernelWords& words) { call.give(words.steps().count()); });
}

void step_fact(SqlCall& call) {
  const auto column = call.text(1);
  if (!column) return;
  answer_step(call, [&](StepWords& steps, std::int64_t step) {
    const StepWords::Fact fact = steps.fact(step, *column);
    if (const auto* number = std::get_if<std::int64_t>(&fact)) call.give(*number);
    if (const auto* text = std::get_if<std::string_view>(&fact)) call.give(*text);
  });
}

void capture_op(SqlCall& call) {
  const auto id = call.integer(0);
  if (!id) return;
  answered(call, [&](KernelWords& words) {
    if (const auto name = words.lent_op(*id)) call.give(*name);
  });
}

void capture_module(SqlCall& call) {
  const auto id = call.integer(0);
  if (!id) return;
  answered(call, [&](KernelWords& words) {
    if (const auto name = words.lent_module(*id)) call.give(*name);
  });
}

// "{kernels: step kernel_step(v.id), phase ...}" in a script is the list of the columns of main.kernels, as they are,
// but for those named, which are what stands behind their name.
std::string columns_of_view(Database& database, std::string_view view, std::string_view changes) {
  std::map<std::string, std::string, std::less<>> changed;
  while (!changes.empty()) {
    const std::size_t end = std::min(changes.find(", "), changes.size());
    const std::string_view change = changes.substr(0, end);
    const std::size_t blank = change.find(' ');
    changed.emplace(change.substr(0, blank), change.substr(blank + 1));
    changes.remove_prefix(std::min(end + 2, changes.size()));
  }
  std::string out;
  Statement columns(database, "SELECT name FROM pragma_table_info(?1, 'main')");
  columns.bind(1, view);
  while (columns.step()) {
    const std::string name(columns.text(0));
    const auto change = changed.find(name);
    out += out.empty() ? "" : ", ";
    out += change == changed.end() ? fmt::format("v.\"{0}\" AS \"{0}\"", name)
                                   : fmt::format("{} AS \"{}\"", change->second, name);
  }
  return out;
}

std::string with_columns(Database& database, std::string_view text) {
  std::string out;
  while (true) {
    const std::size_t begin = text.find('{');
    out += text.substr(0, begin);
    if (begin == std::string_view::npos) return out;
    const std::size_t colon = text.find(": ", begin);
    const std::size_t end = text.find('}', begin);
    out +=
        columns_of_view(database, text.substr(begin + 1, colon - begin - 1), text.substr(colon + 2, end - colon - 2));
    text.remove_prefix(end + 1);
  }
}

}  // namespace

void register_kernel_words(Database& database, KernelWords* words) {
  add_function<op_class>(database, "op_class", 1, words);
  add_function<kernel_layer>(database, "kernel_layer", 1, words);
  add_function<kernel_stack>(database, "kernel_stack", 1, words);
  add_function<kernel_layer_part>(database, "kernel_layer_part", 1, words);
  add_function<kernel_step>(database, "kernel_step", 1, words);
  add_function<kernel_phase>(database, "kernel_phase", 1, words);
  add_function<memory_step>(database, "memory_step", 1, words);
  add_function<memory_phase>(database, "memory_phase", 1, words);
  add_function<step_count>(database, "step_count", 0, words);
  add_function<step_fact>(database, "step_fact", 2, words);
  add_function<capture_op>(database, "capture_op", 1, words);
  add_function<capture_module>(database, "capture_module", 1, words);
}

void make_kernel_views(Database& database) {
  database.execute("PRAGMA query_only=OFF; PRAGMA temp_store=MEMORY;");
  database.execute(with_columns(database, script("sql_views")));
  database.execute("PRAGMA query_only=ON");
}

}  // namespace tracedb
