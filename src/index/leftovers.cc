#include "index/leftovers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/files/file_descriptor.h"
#include "base/files/file_identity.h"
#include "base/files/file_lock.h"
#include "base/files/input_file.h"
#include "base/files/small_file.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartialSuffix = ".partial";
constexpr std::size_t kRandomLetters = 6;

}  // namespace

fs::path lock_path(const fs::path& index) { return index.native() + ".lock"; }

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

fs::path journal_path(const fs::path& index) { return index.native() + "-journal"; }

JournalState journal_state(const FileDescriptor& file) {
  constexpr std::string_view kMagic = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
  std::string head(kMagic.size(), '\0');
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return JournalState::kNone;
  const std::optional<std::size_t> got = file.read_at(0, std::as_writable_bytes(std::span(head)));
  if (got == 0) return JournalState::kDone;
  if (got != head.size()) return JournalState::kNone;
  if (head == kMagic) return JournalState::kHot;
  return head.find_first_not_of('\0') == std::string::npos ? JournalState::kDone : JournalState::kNone;
}

JournalState journal_state(const fs::path& journal) {
  const FileDescriptor file(::open(journal.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open()) {
    if (errno != ENFILE && errno != EMFILE && errno != ENOMEM && errno != EIO) return JournalState::kNone;
    throw Error(ErrorCode::kResource,
                fmt::format("{}: cannot open: {}", printable_path(journal), std::generic_category().message(errno)));
  }
  return journal_state(file);
}

bool is_empty_spool(const fs::path& file) {
  if (!file.filename().native().starts_with(kSpoolPrefix)) return false;
  const std::optional<FileIdentity> found = FileIdentity::of(file);
  return found && found->bytes == 0;
}

std::size_t remove_leftovers(const fs::path& index) {
  const std::string name = index.filename().string();
  std::vector<fs::path> leftovers;
  std::error_code error;
  for (fs::directory_iterator entry(directory_of(index), error), end; !error && entry != end; entry.increment(error)) {
    const std::string other = entry->path().filename().string();
    const bool begun = index_of_partial(other) == name && is_begun_index(entry->path());
    if (begun || is_empty_spool(entry->path())) leftovers.push_back(entry->path());
  }
  if (journal_state(journal_path(index)) == JournalState::kDone) leftovers.push_back(journal_path(index));
  for (const fs::path& leftover : leftovers) ::unlink(leftover.c_str());
  return leftovers.size();
}

void clear_leftovers(const fs::path& index) {
  const fs::path lock_file = lock_path(index);
  const bool locked = FileIdentity::of(lock_file).has_value();
  if (!locked && journal_state(journal_path(index)) != JournalState::kDone) return;
  if (::access(directory_of(index).c_str(), W_OK) != 0) return;
  if (locked && ::access(lock_file.c_str(), R_OK) != 0) return;
  if (const std::optional<FileLock> lock = FileLock::try_acquire(lock_file); lock && lock->locks()) {
    remove_leftovers(index);
  }
}

}  // namespace tracedb
