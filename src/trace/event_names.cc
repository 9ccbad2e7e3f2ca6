#include "trace/event_names.h"

#include <cxxabi.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <memory>
#include <utility>

#include "base/text/characters.h"
#include "trace/kernel_name.h"

namespace tracedb {
namespace {

constexpr std::array<std::string_view, 3> kGraphLaunchWords = {"graphlaunch", "graphexeclaunch", "launchgraph"};
constexpr std::array<std::string_view, 8> kLaunchWords = {"launchkernel", "launchcooperative", "launchhostfunc",
                                                          "modulelaunch", "extlaunch",         "launchbykernel",
                                                          "runfunction",  "kernellaunch"};
constexpr std::array<std::string_view, 2> kCopyWords = {"memcpy", "memset"};
constexpr std::array<std::string_view, 3> kSyncWords = {"synchronize", "waitevent", "eventquery"};

// What communication is fused with, in the function's own name. "fused" alone says nothing: of several tensors, say.
constexpr std::array<std::string_view, 12> kFusedWithWords = {
    "norm",   "gemm", "matmul",      "allreduce_fusion", "allreducefusion", "residual",
    "swiglu", "silu", "moefinalize", "moe_finalize",     "moereduction",    "gelu"};
// The same kernel does the plain collective, as the first of its patterns.
constexpr std::array<std::string_view, 3> kPlainPatterns = {"fusionpattern)0,", "fusionpattern)0_", "fusionpattern)0>"};
constexpr std::array<std::string_view, 3> kCopyKernelWords = {"__amd_rocclr_copybuffer", "memory_copy_",
                                                              "__amd_rocclr_copyimage"};

constexpr std::array<std::string_view, 10> kDirections = {"",     "HtoD", "DtoH", "DtoD", "HtoH",
                                                          "PtoP", "HtoA", "AtoH", "AtoD", "DtoA"};
// The first ones as XLA spells them, HIP, and rocprof and MTIA.
constexpr std::array<std::array<std::string_view, 3>, 5> kOtherSpellings = {
    {{"H2D", "HostToDevice", "HOST_TO_DEVICE"},
     {"D2H", "DeviceToHost", "DEVICE_TO_HOST"},
     {"D2D", "DeviceToDevice", "DEVICE_TO_DEVICE"},
     {"H2H", "HostToHost", "HOST_TO_HOST"},
     {"P2P", "PeerToPeer", "PEER_TO_PEER"}}};
// On Intel's devices M is memory that the driver did not allocate: that of the host. A place in kDirections each.
constexpr std::array<std::pair<std::string_view, std::size_t>, 3> kIntelSpellings = {
    {{"M2D", 1}, {"D2M", 2}, {"M2M", 4}}};

// HIP's symbols of kernel descriptors are the kernel's own with a suffix, which the demangler knows nothing of.
std::string_view without_descriptor(std::string_view name) {
  for (const std::string_view suffix : {std::string_view(".kd"), std::string_view(" [clone .kd]")}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  return name;
}

}  // namespace

CallKind call_kind(std::string_view name) {
  const std::string text = ascii_lower(name);
  if (contains_any(text, kGraphLaunchWords)) return CallKind::kGraphLaunch;
  if (contains_any(text, kLaunchWords)) return CallKind::kLaunch;
  if (text == "cudalaunch" || text == "culaunch" || text == "culaunchgrid") return CallKind::kLaunch;
  if (contains_any(text, kCopyWords)) return CallKind::kCopy;
  if (contains_any(text, kSyncWords)) return CallKind::kSync;
  return CallKind::kOther;
}

bool is_copy_kernel(std::string_view name) { return contains_any(ascii_lower(demangle(name)), kCopyKernelWords); }

bool also_computes(std::string_view name) {
  const std::string function = ascii_lower(short_name(name));
  const std::size_t scope = function.rfind("::");
  const std::string_view own = std::string_view(function).substr(scope == std::string::npos ? 0 : scope + 2);
  return contains_any(own, kFusedWithWords) && !contains_any(ascii_lower(demangle(name)), kPlainPatterns);
}

std::span<const std::string_view> copy_directions() { return kDirections; }

std::size_t copy_direction_index(std::string_view name) {
  for (std::size_t i = 1; i < kDirections.size(); ++i) {
    if (name.find(kDirections[i]) != std::string_view::npos) return i;
  }
  for (std::size_t i = 0; i < kOtherSpellings.size(); ++i) {
    if (contains_any(name, kOtherSpellings[i])) return i + 1;
  }
  for (const auto& [spelling, place] : kIntelSpellings) {
    if (name.find(spelling) != std::string_view::npos) return place;
  }
  return 0;
}

std::string demangle(std::string_view name) {
  if (!name.starts_with("_Z")) return std::string(name);
  const std::string symbol(without_descriptor(name));
  if (!demangling_is_bounded(symbol)) return std::string(name);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text ? std::string(text.get()) : std::string(name);
}

std::string short_name(std::string_view name) {
  std::string full = readable_name(without_descriptor(name));
  std::string path = split_kernel_name(full).path;
  return path.empty() ? full : path;
}

FrameLabel frame_label(std::string_view name) {
  const std::size_t close = name.find("): ");
  if (close == std::string_view::npos) return {name, {}, 0};
  const std::size_t open = name.rfind('(', close);
  if (open == std::string_view::npos || open + 1 >= close) return {name, {}, 0};
  std::int64_t line = 0;
  const char* end = name.data() + close;
  const auto parsed = std::from_chars(name.data() + open + 1, end, line);
  if (parsed.ec != std::errc{} || parsed.ptr != end) return {name, {}, 0};
  return {name.substr(close + 3), name.substr(0, open), line};
}

}  // namespace tracedb
