// The kernel names, classes and launch configurations of several traces under one numbering, so that passes over two
// traces compare numbers.
//
// Names are normalised: the same kernel has the same number whether a trace has its symbol mangled or readable, and
// whatever number Inductor gave it. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/text/numbered_texts.h"
#include "index/index.h"
#include "passes/classify/kernel_classes.h"
#include "passes/classify/rule_set.h"

namespace tracedb {

// Classes that name one operation more or less finely, and kernels that finish the work of another, as the rules
// declare them (rule_set.h). Pure.

class ClassFamilies {
 public:
  ClassFamilies() = default;
  explicit ClassFamilies(const RuleSet& rules);

  // The coarsest name of a class: "attention_decode" -> attention, "elementwise+norm+quantise" -> norm+quantise,
  // "kv_cache+rotary" -> rotary+kv_cache, parts in the order of classes.rules.
  [[nodiscard]] std::string family_of(std::string_view op) const;
  // The class whose work the kernels of a rule end; "" where it is none.
  [[nodiscard]] std::string_view host_of(std::string_view rule) const;
  // Whether kernels of a class that has `part` may do work of class `unnamed` without saying so.
  [[nodiscard]] bool may_do_unnamed(std::string_view part, std::string_view unnamed) const;

 private:
  std::map<std::string, std::string, std::less<>> family_;        // by class
  std::map<std::string, std::string, std::less<>> host_;          // by rule
  std::multimap<std::string, std::string, std::less<>> unnamed_;  // by the class that may do it
  std::map<std::string, std::size_t, std::less<>> order_;         // of the classes
};

// "norm+quantise" -> norm, quantise.
std::vector<std::string_view> op_parts(std::string_view op);

using NameId = std::uint32_t;  // index into KernelNameTable::entries()
using OpId = std::uint32_t;    // as op_name() takes it

struct KernelNameEntry {
  std::string name;        // normalised
  std::string short_name;  // of the first spelling met
  OpId op = 0;
  std::optional<OpId> host;  // of a companion: the family whose work it finishes
};

class KernelNameTable {
 public:
  explicit KernelNameTable(ClassFamilies families = {});

  // The numbers of an index's names, by name_id.
  std::vector<NameId> intern_kernels(const Index& index, const KernelClasses& classes);
  NameId intern(std::string_view name, std::string_view short_name, std::string_view op, std::string_view rule = {});

  [[nodiscard]] const std::vector<KernelNameEntry>& entries() const { return entries_; }
  [[nodiscard]] const std::string& op_name(OpId op) const { return ops_[op]; }
  [[nodiscard]] OpId op_of(NameId name) const { return entries_[name].op; }
  // The family of a class: itself where it has none.
  [[nodiscard]] OpId family_of(OpId op) const { return family_[op]; }
  [[nodiscard]] const ClassFamilies& families() const { return families_; }

 private:
  OpId op(std::string_view name);

  std::vector<KernelNameEntry> entries_;
  std::vector<std::string> ops_;
  std::vector<OpId> family_;  // by OpId
  ClassFamilies families_;
  std::unordered_map<std::string, NameId> name_ids_;
  std::unordered_map<std::string, OpId> op_ids_;
};

// The launch configurations of several traces under one numbering; 0: not known.
class LaunchConfigTable {
 public:
  LaunchConfigTable() { texts_.number(""); }
  std::vector<std::uint32_t> intern(const Index& index);  // by launch_config_id
  [[nodiscard]] const std::string& text(std::uint32_t number) const { return texts_.text(number); }

 private:
  NumberedTexts texts_;
};

// The numbers that the names and configurations of one trace have among those of all traces.
struct TraceNumbers {
  std::vector<NameId> names;           // by name_id
  std::vector<std::uint32_t> configs;  // by launch_config_id
  NameId memcpy = 0, memset = 0;

  [[nodiscard]] NameId name(std::uint32_t name_id) const { return name_id < names.size() ? names[name_id] : 0; }
};
TraceNumbers number_trace(const Index& index, const KernelClasses& classes, KernelNameTable& kernel_names,
                          LaunchConfigTable& configs);

}  // namespace tracedb
