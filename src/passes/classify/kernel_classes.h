// The classes of all kernel names of an index under the active rules. Opinions are formed anew for each query, so the
// index never holds a stale one: a few microseconds a name.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "index/index.h"
#include "passes/classify/classifier.h"
#include "passes/classify/kernel_traits.h"

namespace tracedb {

// The rules of a run: built-in ones or a file's, read and compiled when they are first asked for, for all indexes of
// the run. Threads may share them from then on.
class ActiveRules {
 public:
  explicit ActiveRules(std::string name = "default") : name_(std::move(name)) {}  // as of load_rules()

  [[nodiscard]] const std::string& name() const { return name_; }
  // Both throw what load_rules() throws.
  [[nodiscard]] const CompiledRules& compiled() const;
  [[nodiscard]] const RuleSet& get() const { return compiled().rules(); }

 private:
  std::string name_;
  mutable std::shared_ptr<const CompiledRules> rules_;
};

// The vendor of the trace's devices, for rules that ask for the platform; "unknown" if the trace does not say.
std::string platform_of(const Index& index);

// What of a kernel's name does not depend on the build, so that kernels of two traces can be told to be the same: the
// symbol in readable form, Inductor's running number cut off.
std::string normalised_name(std::string_view name);

// The names of an index: what tells its kernels apart. Of XLA's kernels with their operation (trace/kernel_name.h).
inline constexpr std::string_view kKernelTexts =
    "SELECT n.id, iif(s.value GLOB '* @ */*', s.value, n.name), n.short_name FROM kernel_name n LEFT JOIN string s ON "
    "s.id = n.id ORDER "
    "BY n.id";

// By id of table kernel_name. Immutable.
class KernelClasses {
 public:
  struct Entry {
    bool known = false;  // a row of kernel_name; the rest is that of a name that no rule recognises otherwise
    ClassId class_id = 0;
    std::string rule;   // "": none
    std::string label;  // of the rule, as shown for this name; "": it has none
  };

  KernelClasses(const Index& index, const CompiledRules& rules);

  [[nodiscard]] std::uint32_t end() const { return static_cast<std::uint32_t>(entries_.size()); }  // behind the last id
  [[nodiscard]] const Entry& of(std::uint32_t name_id) const {
    return name_id < entries_.size() ? entries_[name_id] : entries_[0];
  }
  [[nodiscard]] std::string_view class_of(std::uint32_t name_id) const { return names_[of(name_id).class_id]; }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }        // by ClassId; 0: "other"
  [[nodiscard]] const std::vector<std::string>& declared() const { return declared_; }  // by the rules
  [[nodiscard]] const std::vector<Traits>& traits() const { return traits_; }           // by name_id

 private:
  std::vector<Entry> entries_;  // element 0 is of no name
  std::vector<std::string> names_, declared_;
  std::vector<Traits> traits_;
};

}  // namespace tracedb
