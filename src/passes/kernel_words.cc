#include "passes/kernel_words.h"

#include <utility>

#include "base/failure.h"
#include "passes/kernel_classes.h"
#include "sql/scripts.h"
#include "sql/sql_function.h"

namespace tracedb {

KernelWords::KernelWords(const Index& index, std::string rules, Find find)
    : index_(index), rules_(std::move(rules)), find_(std::move(find)) {}

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

}  // namespace

void register_kernel_words(Database& database, KernelWords* words) {
  add_function<op_class>(database, "op_class", 1, words);
  add_function<kernel_layer>(database, "kernel_layer", 1, words);
  add_function<kernel_stack>(database, "kernel_stack", 1, words);
  add_function<kernel_layer_part>(database, "kernel_layer_part", 1, words);
  add_function<capture_op>(database, "capture_op", 1, words);
  add_function<capture_module>(database, "capture_module", 1, words);
}

void make_kernel_views(Database& database) {
  database.execute("PRAGMA query_only=OFF; PRAGMA temp_store=MEMORY;");
  database.execute(script("sql_views"));
  database.execute("PRAGMA query_only=ON");
}

}  // namespace tracedb
