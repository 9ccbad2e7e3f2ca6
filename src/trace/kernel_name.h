// A demangled kernel name cut at its brackets, in one pass over it:
//
//   void cutlass::Kernel2<cutlass_80_tensorop_s16816gemm_bf16_128x64_nn>(...)
//     path       cutlass::Kernel2
//     arguments  cutlass_80_tensorop_s16816gemm_bf16_128x64_nn
//
// Return type, parameters and anonymous namespaces are left out. Brackets that do not close end with the name.
#pragma once

#include <optional>
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

// Symbols that the C++ runtime's demangler does not know (newer manglings) or must not be given: a symbol of a few
// hundred bytes can name its own parts again and again, so that its demangled form has gigabytes. Reads identifiers
// only, in time linear in the symbol; no substitution is followed.
//
// Whether the demangled form has at most some megabytes, whatever the symbol. "_Z..." only.
bool demangling_is_bounded(std::string_view symbol);

// "ns::function<ns::type<...>, 256, true>": the function's qualified name and its template arguments as far as they can
// be read; "ref" stands for what refers to an earlier part. Empty where the symbol has no readable name.
std::string outline_symbol(std::string_view symbol);

// What a kernel of XLA does: not its name ("loop_convert_fusion" is a dozen operations of one program), but the HLO
// operation it was compiled from. An index gives each name and operation together an id of its own in kernel_name; the
// string of that id is this text:
//
//   loop_convert_fusion @ jit_train_step/loop_convert_fusion.3 = fusion f32[8,128]
//   cublas_gemm @ jit_train_step/cublas-gemm.1.0 = custom-call:__cublas$gemm bf16[4096,4096]
//   loop_convert_fusion @ jit_train_step/loop_convert_fusion.3        (where the trace has no HLO)

struct HloKernel {
  std::string_view kernel;          // as the trace names it
  std::string_view module, op;      // "jit_train_step", "loop_convert_fusion.3"
  std::string_view opcode, target;  // "custom-call", "__cublas$gemm"; empty: not known, nothing behind the opcode
  std::string_view shape;           // of the result; empty: not known
};

std::string hlo_kernel_text(const HloKernel& kernel);
// nullopt: the name of a kernel of which no HLO operation is known. Views into `text`.
std::optional<HloKernel> parse_hlo_kernel(std::string_view text);

// `text` as the trace names the kernel.
inline std::string_view kernel_of_text(std::string_view text) {
  const auto hlo = parse_hlo_kernel(text);
  return hlo ? hlo->kernel : text;
}

}  // namespace tracedb
