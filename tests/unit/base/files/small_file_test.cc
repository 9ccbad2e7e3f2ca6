#include "base/files/small_file.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <thread>

#include "base/error.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20U;

std::string failure_of(const std::filesystem::path& path) {
  try {
    static_cast<void>(read_small_file(path, kMebibyte));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("small files are read whole, up to a limit") {
  const TempDirectory folder;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kMebibyte / 16, kMebibyte / 16 + 1, kMebibyte}) {
    const std::string text(size, 'x');
    CHECK(read_small_file(folder.write("file", text), kMebibyte) == text);
  }
  const auto large = folder.write("large", std::string(kMebibyte + 1, 'x'));
  CHECK(failure_of(large) == large.string() + ": larger than 1 MiB: check that this is the file you meant");
}

TEST_CASE("a small file that cannot be read is named") {
  const TempDirectory folder;
  CHECK(failure_of(folder / "none").find("none: no such file") != std::string::npos);
  CHECK(failure_of(folder.path()).find("is a directory") != std::string::npos);
}

TEST_CASE("a pipe is read to its end, whatever its size") {
  const TempDirectory folder;
  const auto pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const std::string text(kMebibyte / 2, 'x');
  std::thread writer([&] { std::ofstream(pipe) << text; });
  const std::string read = read_small_file(pipe, kMebibyte);
  writer.join();
  CHECK(read == text);
}

}  // namespace tracedb
