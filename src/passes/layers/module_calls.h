// Which nn.Module calls which, with the kernel time below, from the frames of the Python stacks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "index/index.h"
#include "passes/columns/event_columns.h"
#include "passes/layers/module_layers.h"

namespace tracedb {

// A module frame: "nn.Module: Qwen2DecoderLayer_3" has name "Qwen2DecoderLayer_3" and kind "Qwen2DecoderLayer".
struct Module {
  std::string name;
  std::uint32_t kind = 0;
};

struct Modules {
  std::unordered_map<std::uint32_t, Module> by_frame;
  std::vector<std::string> kinds;
};
Modules read_modules(const Index& index);

// A module called from another one, frames of both; the outer one 0: none.
struct ModuleUse {
  std::int64_t time = 0;
  std::uint32_t first_kernel = UINT32_MAX;
  Traits traits = 0;
};
using ModuleCalls = std::map<std::pair<std::uint32_t, std::uint32_t>, ModuleUse>;  // few: one for each module

// The python stacks as far as they are modules.
class ModuleTrie {
 public:
  ModuleTrie(const Index& index, const Modules& modules);

  [[nodiscard]] std::size_t size() const { return innermost_.size(); }
  // The innermost stack at or around one that ends in a module; 0: none.
  [[nodiscard]] std::uint32_t module_at(std::uint32_t stack) const { return stack < size() ? innermost_[stack] : 0; }
  [[nodiscard]] std::uint32_t around(std::uint32_t module) const;
  [[nodiscard]] std::uint32_t frame(std::uint32_t module) const;

  [[nodiscard]] ModuleCalls calls(const StackUse& use) const;

 private:
  EventColumns stacks_;
  std::vector<std::uint32_t> innermost_;
};

}  // namespace tracedb
