#include "base/files/small_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/files/input_file.h"

namespace tracedb {
namespace {

// In doubling steps: the size of a pipe is not known before its end.
std::string read_all(InputFile file, std::size_t limit) {
  constexpr std::size_t kFirst = std::size_t{64} << 10U;
  std::string text;
  while (true) {
    const std::size_t done = text.size();
    const std::size_t wanted = std::min(std::max(done, kFirst), limit + 1 - done);
    text.resize(done + wanted);
    const std::size_t got = file.read(text.data() + done, wanted);
    text.resize(done + got);
    if (text.size() > limit) {
      throw Error(ErrorCode::kInput, fmt::format("{}: larger than {} MiB: check that this is the file you meant",
                                                 file.name(), limit >> 20U));
    }
    if (got < wanted) return text;
  }
}

}  // namespace

std::string read_small_file(const std::filesystem::path& path, std::size_t limit) {
  return read_all(InputFile(path), limit);
}

std::string read_small_file_or_input(const std::filesystem::path& path, std::size_t limit) {
  return path == "-" ? read_all(InputFile::standard_input(), limit) : read_small_file(path, limit);
}

}  // namespace tracedb
