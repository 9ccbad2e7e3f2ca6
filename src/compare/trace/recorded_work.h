// What a trace records of the work itself: the model's name, the operators that launch kernels, and the shapes of
// attention, convolutions and products of matrices. Nothing where operators are not recorded, as in graph replays.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compare/trace/device_steps.h"
#include "index/index.h"

namespace tracedb {

struct RecordedShape {
  std::string_view kind;  // "attention", "convolution", "linear layer" (product of two matrices), "batched product"
  std::string operands;   // "[141,512] x [512,2048]"; of attention the query alone
  double work = 0;        // multiplications of a product, or what grows as the work of the others does
};

struct RecordedWork {
  std::string model;                                // model_name(); "": not recorded
  std::vector<std::string> operators;               // distinct names; the first is "": not known
  std::vector<std::uint32_t> operator_of;           // by row of kernel: its launcher's, an index into those
  std::vector<RecordedShape> shapes;                // distinct ones
  std::vector<std::vector<std::uint32_t>> by_step;  // by device step: of each operator, an index into those
};

// Of an operator; work 0: of no kind that is compared, or without shapes. `dims`: as op_shape has them.
RecordedShape shape_of(std::string_view name, std::string_view dims);

RecordedWork recorded_work(const Index& index, const EventTables& events, const StepWork& work);

}  // namespace tracedb
