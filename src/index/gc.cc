#include "index/gc.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/files/file_descriptor.h"
#include "base/files/file_lock.h"
#include "index/index.h"
#include "index/leftovers.h"
#include "index/locate.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

bool can_be_rebuilt(const ListedIndex& index) {
  return index.cached || index.state == IndexState::kValid ||
         (index.state == IndexState::kStale && index.path == sidecar_path(index.source));
}

// Delete only files that opened as a complete index; nothing else is known to be ours.
bool may_go(const ListedIndex& index, const GcOptions& options) {
  if (index.state == IndexState::kForeign || index.state == IndexState::kUnusable) return false;
  return options.orphans || can_be_rebuilt(index);
}

std::string age_text(std::int64_t ns) {
  constexpr std::int64_t kHour = 3'600'000'000'000;
  return ns < 48 * kHour ? fmt::format("{} h", ns / kHour) : fmt::format("{} days", ns / (24 * kHour));
}

std::optional<std::string> reason_to_go(const ListedIndex& index, const GcOptions& options) {
  if (index.state == IndexState::kStale || index.state == IndexState::kOrphaned) {
    return fmt::format("{}: {}", to_string(index.state), index.reason);
  }
  const std::int64_t age = options.now_ns - index.file.modified_ns;
  if (options.older_than_ns && age > *options.older_than_ns) return "old: not built or confirmed for " + age_text(age);
  return std::nullopt;
}

RemovalResult failed(int error) { return {RemovalOutcome::kFailed, std::strerror(error)}; }

// The name is looked up in one opened folder from here on, so that no link can lead elsewhere in between.
template <class Proof>
RemovalResult unlink_if(const fs::path& path, Proof still_matches) {
  const FileDescriptor folder(::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder.is_open()) return failed(errno);
  const std::string name = path.filename().string();
  const FileDescriptor file(::openat(folder.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open()) {
    if (errno == ENOENT) return {RemovalOutcome::kGone};
    return errno == ELOOP ? RemovalResult{RemovalOutcome::kChanged} : failed(errno);
  }
  struct stat opened {
  }, named{};
  if (!still_matches(file) || ::fstat(file.get(), &opened) != 0 ||
      ::fstatat(folder.get(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0 || opened.st_dev != named.st_dev ||
      opened.st_ino != named.st_ino) {
    return {RemovalOutcome::kChanged};
  }
  return ::unlinkat(folder.get(), name.c_str(), 0) == 0 ? RemovalResult{} : failed(errno);
}

template <class Remove>
RemovalResult under_lock(const fs::path& index, Remove remove) {
  if (::access(index.parent_path().c_str(), W_OK) != 0) return failed(errno);
  std::error_code error;
  const std::optional<FileLock> lock = FileLock::try_acquire(lock_path(index), error);
  if (error) return failed(error.value());
  return lock ? remove(*lock) : RemovalResult{RemovalOutcome::kInUse};
}

}  // namespace

std::vector<PlannedRemoval> plan_removals(const IndexInventory& inventory, const GcOptions& options) {
  std::vector<PlannedRemoval> plan;
  std::vector<std::size_t> others;
  std::uint64_t kept_bytes = 0;
  for (std::size_t i = 0; i < inventory.indexes.size(); ++i) {
    const ListedIndex& index = inventory.indexes[i];
    if (index.state == IndexState::kForeign) continue;
    const bool allowed = may_go(index, options);
    const std::optional<std::string> reason = allowed ? reason_to_go(index, options) : std::nullopt;
    if (reason) {
      plan.push_back({i, *reason});
      continue;
    }
    kept_bytes += index.file.bytes;
    if (allowed) others.push_back(i);
  }
  if (!options.most_bytes) return plan;
  std::ranges::stable_sort(others, [&](std::size_t a, std::size_t b) {
    return inventory.indexes[a].file.modified_ns < inventory.indexes[b].file.modified_ns;
  });
  for (const std::size_t i : others) {
    if (kept_bytes <= *options.most_bytes) break;
    kept_bytes -= inventory.indexes[i].file.bytes;
    plan.push_back({i, "the oldest, to get below the size"});
  }
  return plan;
}

std::string_view to_string(RemovalOutcome outcome) {
  constexpr std::array<std::string_view, 5> kNames = {"removed", "gone", "in use", "changed", "failed"};
  return kNames[static_cast<std::size_t>(outcome)];
}

RemovalResult remove_index(const ListedIndex& index) {
  return under_lock(index.path, [&](const FileLock&) {
    return unlink_if(index.path, [&](const FileDescriptor& file) {
      return FileIdentity::of(file.get()) == index.file && file_kind(file) == FileKind::kIndex;
    });
  });
}

RemovalResult remove_leftover(const ListedLeftover& leftover) {
  if (!FileIdentity::of(leftover.path)) return {RemovalOutcome::kGone};
  return under_lock(leftover.index, [&](const FileLock& lock) -> RemovalResult {
    if (!lock.locks()) return {RemovalOutcome::kInUse};         // nothing proves that its maker is dead
    if (leftover.path == lock_path(leftover.index)) return {};  // goes with the lock
    return unlink_if(leftover.path, [&](const FileDescriptor& file) {
      if (leftover.path == journal_path(leftover.index)) {
        const JournalState state = journal_state(file);
        return state == JournalState::kDone || (state == JournalState::kHot && !FileIdentity::of(leftover.index));
      }
      const std::optional<FileIdentity> now = FileIdentity::of(file.get());
      return now && (now->bytes == 0 || is_ours(file_kind(file)));
    });
  });
}

}  // namespace tracedb
