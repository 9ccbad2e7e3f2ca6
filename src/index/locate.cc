#include "index/locate.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace tracedb {
namespace {

constexpr std::size_t kHashDigits = 32;

bool is_cache_name(std::string_view name, std::string_view ending) {
  return name.size() == kHashDigits + ending.size() && name.ends_with(ending) &&
         name.substr(0, kHashDigits).find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::filesystem::path sidecar_path(const std::filesystem::path& trace) {
  std::filesystem::path path = trace;
  path += kIndexSuffix;
  return path;
}

std::filesystem::path cache_directory() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && cache[0] == '/') {
    return std::filesystem::path(cache) / "tracedb";
  }
  const char* home = std::getenv("HOME");
  if (home == nullptr || home[0] == '\0') return {};
  return std::filesystem::path(home) / ".cache" / "tracedb";
}

std::filesystem::path cache_path(const std::filesystem::path& directory, const ContentHash& hash,
                                 const std::filesystem::path& trace) {
  return directory / (to_hex(hash) + "-" + trace.filename().string() + kIndexSuffix);
}

std::vector<std::filesystem::path> index_candidates(const std::filesystem::path& trace,
                                                    const std::filesystem::path& cache) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  const std::filesystem::path sidecar = sidecar_path(trace);
  if (std::filesystem::is_regular_file(sidecar, error)) found.push_back(sidecar);
  if (cache.empty()) return found;
  const std::string ending = "-" + trace.filename().string() + kIndexSuffix;
  std::vector<std::filesystem::path> cached;
  for (const auto& entry : std::filesystem::directory_iterator(cache, error)) {
    if (is_cache_name(entry.path().filename().string(), ending)) cached.push_back(entry.path());
  }
  std::sort(cached.begin(), cached.end());  // the directory's order is chance
  found.insert(found.end(), cached.begin(), cached.end());
  return found;
}

}  // namespace tracedb
