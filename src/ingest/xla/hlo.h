// The programs that XLA compiled, as an XSpace has them (HloProto of xla/service/hlo.proto): which operation of a
// program does what, and where in the model's source it was written. Only operations that are asked for are decoded;
// of the others their place in the file is kept.
//
// One thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/unknown.h"
#include "ingest/xla/proto_file.h"

namespace tracedb {

struct HloOp {
  std::string module, op;
  std::string opcode, target;  // empty: the file has no HLO of it
  std::string shape;           // of the result: "f32[8,128]", "(f32[8], u8[0])"
  std::string op_name;         // "jit(train_step)/transpose(jvp(layers_3))/attn/dot_general"; empty: not known
  std::string dims, types;     // of the operands, a JSON list each; empty: not known
  std::string dtype;           // of the elements: "bf16"
  std::int64_t in_elements = kUnknownValue, out_elements = kUnknownValue;  // of the operands, of the (last) result
  std::vector<std::string> frames;  // of the source, outermost first: "model.py(12): forward"
};

// The parts of the model in an op_name: "layers_3", "attn". Wrappers and what transformations add are left out, as is
// the primitive at its end.
std::vector<std::string> scopes_of(std::string_view op_name);

class HloModules {
 public:
  explicit HloModules(ProtoFile& file) : file_(file) {}

  // `proto`: an HloProto. Nothing is decoded yet. `name`: "jit_f(15)".
  void add(std::uint64_t program, std::string_view name, ProtoRange proto);
  // What the program says of the operation, else only what is given. Where the trace does not give the program, it is
  // the only one of that module.
  HloOp find(std::uint64_t program, std::string_view module, std::string_view op);

 private:
  struct Module {
    ProtoRange proto;
    std::string name;
    std::unordered_map<std::string, ProtoRange> by_name;
    std::unordered_map<std::uint64_t, ProtoRange> by_id, computations;
    ProtoRange frames;
    bool indexed = false;
  };
  static constexpr std::uint64_t kSeveral = UINT64_MAX;
  void index(Module& module);
  void index_computation(Module& module, ProtoRange computation);
  std::string inner_op_name(const Module& module, const std::vector<std::uint64_t>& computations);
  std::vector<std::string> frames_of(const Module& module, std::uint64_t frame);

  ProtoFile& file_;
  std::unordered_map<std::uint64_t, Module> modules_;
  std::unordered_map<std::string, std::uint64_t> only_program_;  // by module; kSeveral
};

}  // namespace tracedb
