// How much of a trace the answers rest on: shares of the kernel time, for `warnings` and `info`, as a temporary table
//
//   temp.measure(code TEXT PRIMARY KEY, share REAL, count INTEGER)
//
// share in percent of the kernel time, count in kernels. The codes: no_launch, no_operator, no_stack, graph_collapsed
// (launched as part of a graph, so that operator and stack are those of the replay), clock_order (starts before its
// launching call does), unknown_duration (a share of the kernels), no_step, no_layer, unclassified; and no_operator by
// reason: no_operator_graph (a graph replay), no_operator_launch (the launch is not in the trace), no_operator_outside
// (launched by code that runs in no operator, or in a trace without operators). names_out_of_step: see name_order.h.
#pragma once

#include <cstdint>
#include <span>

#include "passes/layers/layer_set.h"
#include "passes/steps/step_set.h"

namespace tracedb {

// Needs make_kernel_class_table() before. `layers`: by row of kernel, as in LayerSet.
void make_measure_table(const Index& index, const EventTables& events, const StepSet& steps,
                        std::span<const std::int32_t> layers);

}  // namespace tracedb
