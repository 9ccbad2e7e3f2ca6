// Whether kernels compute on matrix units: schema/devices/matrix_units.rules.
#pragma once

#include <optional>
#include <string_view>

namespace tracedb {

// By the name of a kernel; nullopt: not known. Any thread.
std::optional<bool> runs_on_matrix_units(std::string_view kernel_name);

}  // namespace tracedb
