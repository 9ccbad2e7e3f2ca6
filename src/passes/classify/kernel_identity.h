// Which kernels of two traces are the same.
#pragma once

#include <string>
#include <string_view>

namespace tracedb {

// What of a name does not depend on the build: the symbol in readable form, Inductor's running number cut off.
std::string normalised_name(std::string_view name);

}  // namespace tracedb
