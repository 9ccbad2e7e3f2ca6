// Prefill and decode by the names of annotations: "execute_context_1(4096)_generation_0(0)" is a prefill.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "compare/wafer/trace.h"

namespace tracedb::wafer {

// Of all annotations on the CPU, these are forward passes.
inline constexpr std::string_view kPassPrefix = "execute_context";

// The number in parentheses in the part behind "context", parts being what underscores separate; else 0.
std::int64_t token_count(std::string_view annotation);

// Prefill: there are tokens, and "generation_0" is in the name (as it is in "generation_01"). All else is decode.
Phase phase_of(std::string_view annotation);

// Each kernel's phase by its own start on the device: that of the last pass that begins at or before it, if the kernel
// starts within; else decode.
void assign_phases(Trace& trace);

// Nothing: both phases.
using PhaseFilter = std::optional<Phase>;
inline bool passes(PhaseFilter filter, const Kernel& kernel) { return !filter || *filter == kernel.phase; }

std::string_view to_string(Phase phase);

}  // namespace tracedb::wafer
