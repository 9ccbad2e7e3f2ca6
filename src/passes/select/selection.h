// The device events that a question is about: --device --stream --step --phase --layer --op --name --from --to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/index.h"
#include "passes/layers/layer_set.h"
#include "passes/steps/step_set.h"

namespace tracedb {

// What is not given selects everything.
struct Selection {
  std::optional<std::int64_t> device;  // ordinal
  std::optional<std::string> stream;   // number, or text where the trace has text
  std::optional<std::int64_t> first_step, last_step;
  std::optional<std::string> phase;       // kind of step; "none": in no step
  std::optional<std::string> layer;       // can_name_layers(): "3", "3..5", "T5Block:3", "head", "none" ...
  std::optional<std::string> op;          // class under the rules in force, a GLOB
  std::optional<std::string> name_glob;   // of the name or the short name
  std::optional<std::string> name_regex;  // of the name
  std::optional<std::int64_t> from, to;   // ns; starts at or after `from`, before `to`

  [[nodiscard]] bool empty() const;
  // Needs to know the steps of kernels, and their layers.
  [[nodiscard]] bool names_steps() const { return first_step || last_step || phase || layer; }
  [[nodiscard]] bool names_kernels() const { return op || name_glob || name_regex; }
};

// The tests on small tables are made once; what is left per event is a few look-ups. An `op` needs
// make_kernel_class_table() before. Everything given must outlive the filter.
class EventFilter {
 public:
  // With `steps`, the numbers of steps are places in it + 1 and not ids of table step. A selection of layers needs
  // `layers`, which may be null otherwise. Error{kUsage} where it names layers that these are not (layer_range()).
  EventFilter(const Index& index, const Selection& selection, const StepSet* steps = nullptr,
              const LayerSet* layers = nullptr);

  // Ids as in EventColumns. Memory operations have no kernel name: pass 0, which a selection of names leaves out.
  [[nodiscard]] bool keeps(std::int64_t ts, std::uint32_t name, std::uint32_t stream, std::uint32_t step) const {
    return all_ || (has(names_, name) && has(streams_, stream) && (step == 0 ? stepless_ : has(steps_, step)) &&
                    ts >= from_ && ts < to_);
  }
  // The same of the kernel in this row, for whose layer it looks too.
  [[nodiscard]] bool keeps(std::int64_t ts, std::uint32_t name, std::uint32_t stream, std::uint32_t step,
                           std::uint32_t row) const {
    return keeps(ts, name, stream, step) && (layers_ == nullptr || layer_kept((*layers_)[row]));
  }
  [[nodiscard]] bool keeps_all() const { return all_; }

 private:
  [[nodiscard]] bool layer_kept(std::int32_t layer) const { return layer >= first_layer_ && layer <= last_layer_; }

  using Ids = std::vector<bool>;  // by id
  static bool has(const Ids& ids, std::uint32_t id) { return id < ids.size() && ids[id]; }

  bool all_;
  bool stepless_;  // keeps what is in no step
  Ids names_, streams_, steps_;
  std::int64_t from_, to_;
  const LargeVector<std::int32_t>* layers_ = nullptr;  // null: all are kept
  std::int32_t first_layer_ = 0, last_layer_ = 0;
};

}  // namespace tracedb
