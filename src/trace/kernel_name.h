// A demangled kernel name cut at its brackets, in one pass over it:
//
//   void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_bf16_128x64_nn>(...)
//     path       cutlass::Kernel2
//     arguments  cutlass_80_tensorop_s16816gemm_bf16_128x64_nn
//
// Return type, parameters and anonymous namespaces are left out. Brackets that do not close end with the name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

struct KernelName {
  std::string path;                             // "ns::function", template arguments of each part cut
  std::string_view arguments;                   // inside the last part's template brackets; empty: none
  std::vector<std::string_view> argument_list;  // `arguments` cut at its own commas
};

// `demangled` must outlive the result. Types, as template arguments are, are cut the same way.
KernelName split_kernel_name(std::string_view demangled);
void split_kernel_name(std::string_view demangled, KernelName& name);  // reuses the memory of `name`

// The demangled form of a name as a trace has it, or its outline where the symbol is not readable otherwise.
std::string readable_name(std::string_view name);

}  // namespace tracedb
