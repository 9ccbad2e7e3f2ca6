// Kernel time of a selection by layer, as a temporary table that reports join:
//
//   temp.layer_row(place INTEGER, stack TEXT, layer TEXT, part TEXT, steps INTEGER, n INTEGER, total INTEGER,
//                  known INTEGER, step_time REAL, step_busy REAL)
//
// One row for each layer, and for [head], [tail] and [no layer] (stack NULL), that has kernels; split by class of
// kernel or by pass of training ("[no pass]": none) if requested, else part is NULL. step_time and step_busy are
// medians over the steps that have it, of the sum of durations and of their union on a device (the longest one if there
// are several).
#pragma once

#include "passes/layers/layer_set.h"
#include "passes/select/selection.h"

namespace tracedb {

enum class LayerSplit { kNone, kByClass, kByPass };

void make_layer_table(const Index& index, const EventTables& events, const StepSet& steps, const LayerSet& layers,
                      const EventFilter& filter, LayerSplit split);

}  // namespace tracedb
