#include "base/files/small_file.h"

#include <algorithm>
#include <cstddef>

#include "base/error.h"
#include "base/files/input_file.h"

namespace tracedb {

std::string read_small_file(const std::filesystem::path& path) {
  constexpr std::size_t kMost = std::size_t{64} << 20U;
  InputFile file(path);
  std::string text(std::min<std::size_t>(kMost, file.is_regular() ? file.size() : kMost) + 1, '\0');
  text.resize(file.read(text.data(), text.size()));
  if (text.size() <= kMost) return text;
  throw Error(ErrorCode::kInput, file.name() + ": larger than 64 MiB: this is not the file that was meant");
}

}  // namespace tracedb
