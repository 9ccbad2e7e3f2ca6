// The table of operations: those both traces have, and RMSNorm of one against RMSNorm+GEMM of the other.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "compare/wafer/phases.h"
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

}  // namespace tracedb::wafer
