// What a build of an index leaves behind when it is killed: "<index>.lock", which nobody holds any more, and
// "<index>.XXXXXX.partial", the beginning of an index. Removed only by whoever holds the lock of that index, and only
// what is provably of our making: nothing with another content is touched.
//
// We never make a journal, but another SQLite client that changes an index does, and leaves it when it is killed. One
// that is finished with is removed too. One that is not ("hot") makes its index unusable: what is in the index then may
// be half of a change.
//
// Any thread. Files that cannot be removed stay; nothing is thrown for that.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>

#include "index/index.h"

namespace tracedb {

std::filesystem::path lock_path(const std::filesystem::path& index);

// An index of ours, whether or not it can still be used.
bool is_ours(FileKind kind);

// "x.json.tracedb.a1b2c3.partial" -> "x.json.tracedb"; nullopt for names of another form.
std::optional<std::string_view> index_of_partial(std::string_view name);

// A regular file that is empty or begins as an index does.
bool is_begun_index(const std::filesystem::path& file);

// A temporary file (base/files/file_descriptor.h) whose process was killed before it could take the name away. One that
// is alive is about to do the same.
bool is_empty_spool(const std::filesystem::path& file);

enum class JournalState {
  kNone,  // or no journal at all, whatever its name says
  kDone,  // empty, or its header is zeroed
  kHot,   // a change was begun and not finished
};
JournalState journal_state(const std::filesystem::path& journal);
JournalState journal_state(const FileDescriptor& file);
std::filesystem::path journal_path(const std::filesystem::path& index);

// Removes what killed builds of `index` left behind. Only while holding its lock. Returns how many files.
std::size_t remove_leftovers(const std::filesystem::path& index);

// A killed build may have published its index and still left its lock behind. Where there is such a lock that nobody
// holds, or a journal that is finished with, clears up.
void clear_leftovers(const std::filesystem::path& index);

}  // namespace tracedb
