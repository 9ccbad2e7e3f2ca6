// Whether two traces did different work in a kind of steps, as far as both record it. Pure.
//
// Another architecture, unless the models have one name, and another number of layers (where both are known by names,
// or both by rhythm) are another model, or of one name another size or a trace that is cut off. Shapes of operators
// differ if the work of a kind of operators changed by more than a quarter and next to nothing of it is of operands
// that both have. Merged and split weights are the same work, and so are padded ones; what tokens, requests or the
// number of ranks explain is another load of the same work. What only one trace records is not different.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "compare/steps/step_groups.h"
#include "compare/trace/compared_trace.h"

namespace tracedb {

// What a trace says of the work of a kind of steps; means over its device steps.
struct WorkFacts {
  std::string model;         // its name; "": not recorded, or only what is around the model
  std::string architecture;  // "transformer, MoE"; "": not known
  std::int64_t layers = 0;   // 0: not known
  bool by_rhythm = false;    // the layers
  double tokens = 0, requests = 0;
  double ranks = 1;
  // Work of a step (RecordedShape) by kind of operators and by operands.
  std::map<std::string, std::map<std::string, double>> shapes;
};
WorkFacts work_facts(const ComparedTrace& trace, const GroupSide& group);

struct WorkDifference {
  // "other model: gpt_oss, 24 layers, against qwen3, 48 layers" (of the baseline, of the candidate), "attention of
  // [1,1024,512] instead of [1,16384,512]" (of the candidate, of the baseline); "": the same work.
  std::string text;
  bool cycles = false;  // those of one trace are times, of the other cycles
};
WorkDifference work_difference(const WorkFacts& baseline, const WorkFacts& candidate);

}  // namespace tracedb
