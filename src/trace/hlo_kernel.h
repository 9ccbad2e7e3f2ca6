// What a kernel of XLA does: not its name ("loop_convert_fusion" is a dozen operations of one program), but the HLO
// operation it was compiled from. An index gives each name and operation together an id of its own in kernel_name; the
// string of that id is this text:
//
//   loop_convert_fusion @ jit_train_step/loop_convert_fusion.3 = fusion f32[8,128]
//   cublas_gemm @ jit_train_step/cublas-gemm.1.0 = custom-call:__cublas$gemm bf16[4096,4096]
//   loop_convert_fusion @ jit_train_step/loop_convert_fusion.3        (where the trace has no HLO)
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tracedb {

struct HloKernel {
  std::string_view kernel;          // as the trace names it
  std::string_view module, op;      // "jit_train_step", "loop_convert_fusion.3"
  std::string_view opcode, target;  // "custom-call", "__cublas$gemm"; empty: not known, no custom call
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
