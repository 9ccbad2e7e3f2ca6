// Which kernel an operator of a performance model stands for, and which operators cost nothing: a YAML file of the
// model's database of measurements,
//
//   aten.mm.default:   {kernel_type: MatMulV2}
//   aten.view.default: {zero_cost: true}
//
// in the document's root or below a key of it. Values are read by YAML 1.1: yes, on and true are true; the last of
// equal keys counts. Merge keys (<<) are resolved.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

struct OpMappingEntry {
  bool is_map = false;  // and has members
  bool zero_cost = false;
  std::string kernel_type;  // "": none
};

class OpMapping {
 public:
  // "auto": below `operator_mappings` where there is such a key, else the root; "top": the root; others: below that
  // key.
  static constexpr std::string_view kAuto = "auto", kTop = "top";

  OpMapping() = default;
  // `name` is for messages. Throws Error{kInput}: no YAML, or `root` is no mapping.
  static OpMapping parse(const std::string& text, std::string_view name, std::string_view root);

  // Of an operator as traces name it; "torch.ops." in its name does not count. nullptr: none.
  [[nodiscard]] const OpMappingEntry* find(std::string_view op) const;
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  std::map<std::string, OpMappingEntry, std::less<>> entries_;
};

// Without any "torch.ops.".
std::string short_op_name(std::string_view op);

// The kernels that args.kernel_type of a model's event names: "A, B" -> A, B
std::vector<std::string> kernel_types_in(std::string_view text);

// The kernel of an all_reduce, which is part of such an operator also where its kernel_type does not name it.
inline constexpr std::string_view kAllReduceKernel = "hcom_allReduce_";

}  // namespace tracedb
