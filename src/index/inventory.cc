#include "index/inventory.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <set>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/failure.h"
#include "base/files/file_lock.h"
#include "base/files/input_file.h"
#include "index/index.h"
#include "index/leftovers.h"
#include "index/locate.h"
#include "index/validity.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLockSuffix = ".lock";
constexpr std::string_view kJournalSuffix = ".tracedb-journal";

IndexState state_of(Validity validity) {
  constexpr IndexState kStates[] = {IndexState::kValid, IndexState::kStale, IndexState::kOrphaned,
                                    IndexState::kUnknown};
  return kStates[static_cast<std::size_t>(validity)];
}

void compare_with_trace(ListedIndex& found, const std::atomic<bool>* cancel) {
  const Index index = Index::open(found.path);
  found.source = source_of(index);
  const std::optional<std::string> hash = index.meta("source_hash");
  found.cached = hash && !hash->empty() && found.path.filename().native().starts_with(*hash + "-");
  const ValidityResult result = check_validity(index, found.source, Effort::kReadOnly, cancel);
  found.state = state_of(result.validity);
  found.reason = result.reason;
}

ListedIndex examine(const fs::path& path, const std::atomic<bool>* cancel) {
  ListedIndex found{.path = path};
  const std::optional<FileIdentity> before = FileIdentity::of(path);
  const auto as = [&](IndexState state, const char* reason) {
    found.state = state;
    found.reason = reason;
    return found;
  };
  if (!before) return as(IndexState::kForeign, "not a regular file");
  found.file = *before;
  switch (file_kind(path)) {
    case FileKind::kMissing:
      return as(IndexState::kForeign, "cannot be read");
    case FileKind::kNotSqlite:
    case FileKind::kOtherSqlite:
      return as(IndexState::kForeign, "not a tracedb index");
    case FileKind::kOtherVersion:
      return as(IndexState::kUnusable, "of another version");
    case FileKind::kTruncated:
      return as(IndexState::kUnusable, "cut short");
    case FileKind::kIndex:
      break;
  }
  if (const std::optional<Error> failure = catch_error([&] { compare_with_trace(found, cancel); })) {
    if (failure->code() == ErrorCode::kInterrupted) throw Error(*failure);
    found.state = IndexState::kUnusable;
    found.reason = failure->what();
  }
  return FileIdentity::of(path) == before ? found : as(IndexState::kUnknown, "changed while it was looked at");
}

class InventoryTaker {
 public:
  explicit InventoryTaker(const std::atomic<bool>* cancel) : cancel_(cancel) {}

  void search(const fs::path& folder) {
    waiting_.push_back(folder);
    while (!waiting_.empty()) {
      const fs::path next = std::move(waiting_.back());
      waiting_.pop_back();
      enter(next);
    }
  }

  IndexInventory take() {
    const auto by_path = [](const auto& a, const auto& b) { return a.path < b.path; };
    std::ranges::sort(inventory_.indexes, by_path);
    std::ranges::sort(inventory_.leftovers, by_path);
    std::stable_partition(inventory_.leftovers.begin(), inventory_.leftovers.end(),
                          [](const ListedLeftover& leftover) { return leftover.path == lock_path(leftover.index); });
    return std::move(inventory_);
  }

 private:
  void enter(const fs::path& folder) {
    struct stat status {};
    if (::stat(folder.c_str(), &status) == 0 && !entered_.emplace(status.st_dev, status.st_ino).second) return;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      if (cancel_ != nullptr && cancel_->load()) throw Error(ErrorCode::kInterrupted, "interrupted");
      take(*entry);
    }
    if (error) inventory_.unreadable.push_back({folder, error.message()});
  }

  void take(const fs::directory_entry& entry) {
    std::error_code error;
    const fs::file_status status = entry.symlink_status(error);
    if (error) return;  // gone meanwhile
    if (fs::is_directory(status)) {
      waiting_.push_back(entry.path());
      return;
    }
    const std::string name = entry.path().filename().string();
    if (name.ends_with(kIndexSuffix)) {
      inventory_.indexes.push_back(examine(entry.path(), cancel_));
    } else if (name.ends_with(kLockSuffix)) {
      take_lock(entry.path());
    } else if (is_empty_spool(entry.path())) {
      inventory_.leftovers.push_back({entry.path(), entry.path()});
    } else if (name.ends_with(kJournalSuffix)) {
      take_journal(entry.path());
    } else if (const std::optional<std::string_view> index = index_of_partial(name)) {
      take_partial(entry.path(), *index);
    }
  }

  void take_lock(const fs::path& path) {
    const fs::path index = fs::path(path).replace_extension();
    const std::optional<FileIdentity> file = FileIdentity::of(path);
    if (index.extension() != kIndexSuffix || !file || file->bytes != 0) return;
    inventory_.leftovers.push_back({path, index, 0, FileLock::is_held(path)});
  }

  // Without its index there is nothing that a journal could be needed for.
  void take_journal(const fs::path& path) {
    const fs::path index = path.parent_path() / path.filename().string().substr(0, path.filename().string().rfind('-'));
    const JournalState state = journal_state(path);
    const std::optional<FileIdentity> file = FileIdentity::of(path);
    if (!file || state == JournalState::kNone || (state == JournalState::kHot && FileIdentity::of(index))) return;
    inventory_.leftovers.push_back({path, index, file->bytes, FileLock::is_held(lock_path(index))});
  }

  // An empty file is ours by its name only, so the name must say it all.
  void take_partial(const fs::path& path, std::string_view index_name) {
    const std::optional<FileIdentity> file = FileIdentity::of(path);
    if (!file || (file->bytes == 0 && !index_name.ends_with(kIndexSuffix)) || !is_begun_index(path)) return;
    const fs::path index = path.parent_path() / index_name;
    inventory_.leftovers.push_back({path, index, file->bytes, FileLock::is_held(lock_path(index))});
  }

  const std::atomic<bool>* cancel_;
  IndexInventory inventory_;
  std::vector<fs::path> waiting_;
  std::set<std::pair<dev_t, ino_t>> entered_;
};

}  // namespace

std::string_view to_string(IndexState state) {
  constexpr std::array<std::string_view, kIndexStates> kNames = {"valid",   "stale",    "orphaned",
                                                                 "unknown", "unusable", "foreign"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string_view describe(IndexState state) {
  constexpr std::array<std::string_view, kIndexStates> kMeanings = {"describe their traces",
                                                                    "the content of the trace has changed",
                                                                    "the trace is gone",
                                                                    "the trace cannot be read or is not known",
                                                                    "ours, but damaged or of another version",
                                                                    "not tracedb indexes"};
  return kMeanings[static_cast<std::size_t>(state)];
}

IndexInventory take_inventory(const std::vector<fs::path>& folders, const std::atomic<bool>* cancel) {
  InventoryTaker taker(cancel);
  for (const fs::path& folder : folders) {
    std::error_code error;
    const fs::path real = fs::canonical(folder, error);
    if (error || !fs::is_directory(real, error)) {
      throw Error(ErrorCode::kInput, fmt::format("{}: no such folder: check the name", printable_path(folder)));
    }
    taker.search(real);
  }
  return taker.take();
}

}  // namespace tracedb
