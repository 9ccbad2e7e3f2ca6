#include "passes/layers/module_calls.h"

#include <algorithm>

#include "base/text/numbered_texts.h"
#include "base/text/split.h"
#include "base/unknown.h"
#include "trace/python_frame.h"

namespace tracedb {

Modules read_modules(const Index& index) {
  Modules modules;
  NumberedTexts kinds;
  Statement rows(index.database(),
                 "SELECT f.id, s.value FROM frame f JOIN string s ON s.id = f.name_id WHERE s.value >= 'nn.Module: ' "
                 "AND s.value < 'nn.Module:!' ORDER BY f.id");
  while (rows.step()) {
    const std::string_view name = rows.text(1).substr(kModuleFrame.size());
    modules.by_frame[rows.id(0)] = {std::string(name), kinds.number(std::string(without_number(name)))};
  }
  modules.kinds = kinds.all();
  return modules;
}

ModuleTrie::ModuleTrie(const Index& index, const Modules& modules)
    : stacks_(index, "stack", {"parent_id", "frame_id"}) {
  const auto parents = stacks_.ids("parent_id");
  const auto frames = stacks_.ids("frame_id");
  std::uint32_t largest = 0;
  for (const auto& [frame, module] : modules.by_frame) largest = std::max(largest, frame);
  std::vector<bool> is_module(std::size_t{largest} + 1);
  for (const auto& [frame, module] : modules.by_frame) is_module[frame] = true;
  innermost_.resize(stacks_.size() + 1, 0);
  for (std::size_t i = 0; i < stacks_.size(); ++i) {
    const bool sound = parents[i] <= i;  // a parent comes before its children
    innermost_[i + 1] = frames[i] <= largest && is_module[frames[i]] ? static_cast<std::uint32_t>(i + 1)
                        : sound                                      ? innermost_[parents[i]]
                                                                     : 0;
  }
}

std::uint32_t ModuleTrie::around(std::uint32_t module) const {
  const std::uint32_t parent = stacks_.ids("parent_id")[module - 1];
  return parent < module ? innermost_[parent] : 0;
}

std::uint32_t ModuleTrie::frame(std::uint32_t module) const {
  return module == 0 ? 0 : stacks_.ids("frame_id")[module - 1];
}

ModuleCalls ModuleTrie::calls(const StackUse& use) const {
  std::vector<ModuleUse> below(size());  // by module, itself included
  const auto add = [](ModuleUse& to, const ModuleUse& from) {
    to.time = saturating_add(to.time, from.time);
    to.first_kernel = std::min(to.first_kernel, from.first_kernel);
    to.traits |= from.traits;
  };
  for (std::uint32_t stack = 1; stack < size() && stack < use.time.size(); ++stack) {
    if (use.first_kernel[stack] == 0 || innermost_[stack] == 0) continue;
    add(below[innermost_[stack]],
        {use.time[stack], use.first_kernel[stack], stack < use.traits.size() ? use.traits[stack] : 0});
  }
  ModuleCalls calls;
  for (auto module = static_cast<std::uint32_t>(size()); module-- > 1;) {  // children before their parents
    if (below[module].first_kernel == UINT32_MAX) continue;
    const std::uint32_t outer = around(module);
    add(calls[{frame(outer), frame(module)}], below[module]);
    if (outer != 0) add(below[outer], below[module]);
  }
  return calls;
}

}  // namespace tracedb
