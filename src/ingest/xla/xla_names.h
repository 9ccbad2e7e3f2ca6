// What names and details of XLA's profiles say by themselves. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ingest/store/event_batch.h"

namespace tracedb {

// The number in "/device:GPU:3" behind `kind`, which a viewer may have put a host's name before; kUnknownValue: none.
std::int64_t ordinal_of(std::string_view plane, std::string_view kind);

// "file.py:12 fn" as other profilers write it: "file.py(12): fn".
std::string python_name(std::string_view name);

// Whether a call is one of an API ("cuLaunchKernel", "hipMemcpyAsync"): older files name it by the kernel it launches.
bool is_api_call(std::string_view name);
// Calls that share a correlation with device work, but cannot have launched it.
bool cannot_launch(std::string_view name);
// What the runtime of XLA calls its own work, as far as is known.
bool is_runtime_name(std::string_view name);

// "%fusion.2 = f32[8,128]{1,0} fusion(...), kind=kLoop": fusion; empty: no such text.
std::string_view opcode_of_text(std::string_view text);
// "all-gather-start.3": all-gather.
std::string_view operation_of(std::string_view opcode);
// "all-reduce-start", "collective-permute", "send" ...
bool is_collective(std::string_view opcode);
// What an operation does where its opcode does not say, by the category and the path that a TPU's profile gives: "dot",
// "convolution", or the kind of a fusion, "loop". To that compiler products of matrices are convolutions, too; only the
// path in the program tells them apart. Empty: they do not say more.
std::string_view kind_of_work(std::string_view category, std::string_view op_name);
// "bf16[8,128]{1,0:T(8,128)}" without what is in braces.
std::string without_layout(std::string_view shape);

// "regs:38 static_shared:0 dynamic_shared:0 grid:160,1,1 block:1024,1,1 occ_pct:50", in any order.
struct KernelDetails {
  LaunchConfig config;
  bool impossible = false;  // a number that no device allows, left out
};
KernelDetails kernel_details(std::string_view text);

// Which way a copy goes, as copy_directions() has it; empty: the details do not say so.
std::string copy_direction(std::string_view details);

// Halves away from zero.
std::int64_t rounded_ns(std::int64_t ps);

}  // namespace tracedb
