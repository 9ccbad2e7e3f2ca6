// Runs the inputs in the files and folders named as arguments through a fuzz target, one test case each.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);  // NOLINT

namespace {

std::vector<std::filesystem::path> inputs_in(const std::filesystem::path& path) {
  std::error_code none;
  if (!std::filesystem::is_directory(path, none)) return {path};
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(path)) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

int main(int count, char** arguments) {
  unsigned passed = 0;
  for (int i = 1; i < count; ++i) {
    for (const std::filesystem::path& path : inputs_in(arguments[i])) {
      std::printf("replay %s\n", path.filename().c_str());  // before: a broken promise ends the program
      std::fflush(stdout);
      std::ifstream file(path, std::ios::binary);
      const std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(content.data()), content.size());
      ++passed;
    }
  }
  std::printf("[cases] %u passed, 0 failed, 0 skipped\n", passed);
  return passed > 0 ? 0 : 1;
}
