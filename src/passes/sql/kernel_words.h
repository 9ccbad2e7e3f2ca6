// The parts of reports that are matters of judgement, such as the class and the layer of a kernel, for ad-hoc SQL: as
// SQL functions, and as columns of temporary views that replace the index's own (schema/sql_views.sql):
//
//   op_class(name)          class of any kernel name under the active rules
//   kernel_stack(id)        stack of layers (layer_stacks.h) of a kernel; NULL: in none
//   kernel_layer(id)        index of the layer in its stack; NULL: in none
//   kernel_layer_part(id)   layer; head, tail: before the first and after the last layer of a step; NULL: unknown
//   kernel_step(id)         number of the kernel's step, from 0; NULL: in none; memory_step(id) of a memory operation
//   kernel_phase(id)        kind of that step; memory_phase(id) likewise
//   step_count()            number of steps
//   step_fact(step, text)   a column of the view `steps`; NULL: unknown
//   capture_op(id)          operator that launched the kernel in the capture; a graph replay has none of its own
//   capture_module(id)      innermost module there
//
// Nothing is computed before a statement needs it: rules are read with the first name, steps and layers are found with
// the first kernel.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/large_vector.h"
#include "passes/classify/classifier.h"
#include "passes/layers/layer_set.h"
#include "passes/sql/capture_words.h"
#include "passes/sql/step_words.h"

namespace tracedb {

// The words of one index, which must outlive it. One thread at a time.
class KernelWords {
 public:
  struct Found {
    LargeVector<std::int32_t> layer_of_kernel;
    LayerStacks stacks;
    LentWords lent;  // empty without a capture
    std::vector<std::string> notes;
  };
  using Find = std::function<Found(const Index&, std::vector<Traits>)>;
  using FindTraits = std::function<std::vector<Traits>()>;
  using FindSteps = std::function<StepWords::Found(const Index&, const FindTraits&)>;

  // `rules` as of load_rules(). `find` is given the traits of the index's kernel names, `find_steps` what makes them.
  KernelWords(const Index& index, std::string rules, Find find, FindSteps find_steps);
  KernelWords(const KernelWords&) = delete;
  KernelWords& operator=(const KernelWords&) = delete;

  [[nodiscard]] std::string_view op_class(std::string_view name);  // valid until the next call
  [[nodiscard]] std::int32_t layer(std::int64_t kernel_id);        // kNoLayer ... as in layers.h
  [[nodiscard]] const LayerStack* stack(std::int64_t kernel_id);   // null: in no layer

  [[nodiscard]] std::optional<std::string_view> lent_op(std::int64_t kernel_id);
  [[nodiscard]] std::optional<std::string_view> lent_module(std::int64_t kernel_id);

  [[nodiscard]] StepWords& steps() { return steps_; }

  // What a reader of layers must know, told once; nothing before they were asked for.
  [[nodiscard]] std::vector<std::string> take_notes() { return std::exchange(notes_, {}); }
  // A statement that used these words failed: throws the reason, if it lies here.
  void rethrow() const;
  void keep_failure(Error failure) { failure_ = std::move(failure); }

 private:
  Classifier& classifier();
  const Found& found();

  const Index& index_;
  const std::string rules_;
  const Find find_;
  std::optional<Classifier> classifier_;
  std::unordered_map<std::string, ClassId> classes_;  // by name
  std::string name_;                                  // the key at hand: its memory is used again
  std::optional<Found> found_;
  StepWords steps_;
  std::vector<std::string> notes_;
  std::optional<Error> failure_;
};

// `words` may be null: the functions are there, but have no answers. They must outlive the database's last statement.
void register_kernel_words(Database& database, KernelWords* words);

// The temporary views, over those of a database in which the functions are registered.
void make_kernel_views(Database& database);

}  // namespace tracedb
