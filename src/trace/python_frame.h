// Whose code a Python frame is. A profile of a real program is mostly frames that nobody who reads it can change:
// built-in functions, wrappers of torch, generated code. What a person can act on is the frame of the user's or a
// framework's own code around them.
//
// Profilers cut the folder of packages from the names of files ("torch/nn/modules/module.py", "enum.py"), so the
// package decides, wherever it is installed; a file without a package of this list is somebody's own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tracedb {

enum class FrameOrigin : std::uint8_t {
  kOwn,        // of the user or a framework: "train.py", "vllm/worker.py", "/app/model.py"
  kLibrary,    // Python's own library, torch, triton, numpy and other packages that are ground to stand on
  kGenerated,  // "<string>", "<eval_with_key>.3", files that a compiler of torch wrote
  kModule,     // "nn.Module: Linear_3"
  kBuiltIn,    // without a file: "<built-in method replay of ...>"
};
inline constexpr std::string_view kModuleFrame = "nn.Module: ";

FrameOrigin frame_origin(std::string_view frame);  // "file(line): function", "nn.Module: X", ...

// "<built-in method size of Tensor object at 0x7f12>" without " at 0x7f12", which differs between calls.
std::string without_addresses(std::string_view frame);

// "llama.py(374): forward" as "llama.py: forward": two versions of a file have a function at different lines.
std::string without_line(std::string_view frame);

// For one line of text: "vllm/model_executor/models/llama.py(374): forward" as "llama.py:374 forward". Files that are
// named alike everywhere keep their folder: "multiprocessing/__init__.py:12 f". Others stay as they are.
std::string short_frame(std::string_view frame);

}  // namespace tracedb
