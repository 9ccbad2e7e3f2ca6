// The table of operations: those both traces have, and RMSNorm of one against RMSNorm+GEMM of the other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compare/wafer/layers.h"
#include "compare/wafer/trace.h"

namespace tracedb::wafer {

// Of the first trace against the second. The one-sided ones are of layers.
enum class Status { kSimilar, kSlower, kFaster, kFirstOnly, kSecondOnly };
std::string_view to_string(Status status);

struct NameTotal {
  std::uint32_t name = 0;  // position in Trace::names
  std::int64_t count = 0, total = 0;
};

struct OperationSide {
  std::int64_t count = 0, total = 0;
  bool prefill = false, decode = false;  // phases its kernels are in
  std::string pattern = "unknown";       // one of decode, else of prefill, whatever the filter: the first by alphabet
  std::string cpu_op;                    // the most frequent one; "": none
  std::vector<NameTotal> kernels;        // largest total first; equal ones by alphabet
};

struct OperationRecord {
  std::string operation;
  OperationSide first, second;
  double ratio = 1;      // of averages; 1 where the second is 0
  std::int64_t gap = 0;  // of totals: first - second
  Status status = Status::kSimilar;
};

// Largest gap first.
std::vector<OperationRecord> compare_operations(const Trace& first, const Trace& second, PhaseFilter filter);

// The table of layers, one-sided ones first.
struct LayerSide {
  std::int64_t kernels = 0, total = 0;
};

struct LayerRecord {
  std::uint32_t layer = 0;
  LayerSide first, second;
  double ratio = 0;      // of totals; 1 where the second is 0, 0 where only one side has the layer
  std::int64_t gap = 0;  // first - second
  Status status = Status::kSimilar;
  bool in_both = false;
};

std::vector<LayerRecord> compare_layers(const Trace& first, const LayerMap& first_layers, const Trace& second,
                                        const LayerMap& second_layers, PhaseFilter filter);

}  // namespace tracedb::wafer
