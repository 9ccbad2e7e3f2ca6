#include "index/leftovers.h"

#include <unistd.h>

#include <string>
#include <system_error>
#include <vector>

#include "base/file_lock.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartialSuffix = ".partial";
constexpr std::size_t kRandomLetters = 6;

fs::path directory_of(const fs::path& file) { return file.has_parent_path() ? file.parent_path() : fs::path("."); }

}  // namespace

fs::path lock_path(const fs::path& index) {
  fs::path path = index;
  path += ".lock";
  return path;
}

bool is_ours(FileKind kind) {
  return kind == FileKind::kIndex || kind == FileKind::kOtherVersion || kind == FileKind::kTruncated;
}

std::optional<std::string_view> index_of_partial(std::string_view name) {
  if (!name.ends_with(kPartialSuffix)) return std::nullopt;
  name.remove_suffix(kPartialSuffix.size());
  if (name.size() < kRandomLetters + 2 || name[name.size() - kRandomLetters - 1] != '.') return std::nullopt;
  const std::string_view letters = name.substr(name.size() - kRandomLetters);
  if (letters.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789") != std::string_view::npos) return std::nullopt;
  name.remove_suffix(kRandomLetters + 1);
  return name;
}

bool is_begun_index(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(file, error)) || error) return false;
  const std::uintmax_t size = fs::file_size(file, error);
  return !error && (size == 0 || is_ours(file_kind(file)));
}

std::size_t remove_leftovers(const fs::path& index) {
  const std::string name = index.filename().string();
  std::vector<fs::path> leftovers;
  std::error_code error;
  for (fs::directory_iterator entry(directory_of(index), error), end; !error && entry != end; entry.increment(error)) {
    const std::string other = entry->path().filename().string();
    if (index_of_partial(other) == name && is_begun_index(entry->path())) leftovers.push_back(entry->path());
  }
  for (const fs::path& leftover : leftovers) ::unlink(leftover.c_str());
  return leftovers.size();
}

void clear_stale_lock(const fs::path& index) {
  const fs::path lock_file = lock_path(index);
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(lock_file, error))) return;
  if (::access(directory_of(index).c_str(), W_OK) != 0 || ::access(lock_file.c_str(), R_OK) != 0) return;
  if (const std::optional<FileLock> lock = FileLock::try_acquire(lock_file); lock && lock->locks()) {
    remove_leftovers(index);
  }
}

}  // namespace tracedb
