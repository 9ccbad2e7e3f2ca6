// The kernel names and classes of several traces under one numbering, so that passes over two traces compare numbers.
//
// Names are normalised: the same kernel has the same number whether a trace has its symbol mangled or readable, and
// whatever number Inductor gave it. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "compare/families.h"
#include "index/index.h"

namespace tracedb {

using NameId = std::uint32_t;  // place in Vocabulary::names()
using OpId = std::uint32_t;    // place in Vocabulary::ops()

struct KernelTerm {
  std::string name;        // normalised
  std::string short_name;  // of the first spelling met
  OpId op = 0;
  std::optional<OpId> host;  // the family whose work it ends, of a companion
};

class Vocabulary {
 public:
  explicit Vocabulary(ClassFamilies families = {});

  // Enters the names of an index, whose classes temp.kernel_class has. By name_id: NameId.
  std::vector<NameId> enter_kernels(const Index& index);
  NameId enter(std::string_view name, std::string_view short_name, std::string_view op, std::string_view rule = {});

  [[nodiscard]] const std::vector<KernelTerm>& names() const { return names_; }
  [[nodiscard]] const std::vector<std::string>& ops() const { return ops_; }
  [[nodiscard]] const std::string& op_name(OpId op) const { return ops_[op]; }
  [[nodiscard]] OpId op_of(NameId name) const { return names_[name].op; }
  // The family of a class: itself where it has none.
  [[nodiscard]] OpId family_of(OpId op) const { return family_[op]; }
  [[nodiscard]] const ClassFamilies& families() const { return families_; }

 private:
  OpId op(std::string_view name);

  std::vector<KernelTerm> names_;
  std::vector<std::string> ops_;
  std::vector<OpId> family_;  // by OpId
  ClassFamilies families_;
  std::unordered_map<std::string, NameId> name_ids_;
  std::unordered_map<std::string, OpId> op_ids_;
};

}  // namespace tracedb
