// Takes stock of folders of traces and indexes: every file named "*.tracedb" with its state, and leftovers of killed
// builds. Read-only: nothing is written, no lock is taken.
//
// Folders are searched with their subfolders; links are never followed, except for the given folders themselves.
// Determining whether an index is valid may require reading its whole trace (see validity.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file_identity.h"

namespace tracedb {

enum class IndexState {
  kValid,
  kStale,     // its trace has other bytes now
  kOrphaned,  // its trace is gone, or was standard input
  kUnknown,   // its trace cannot be read, or it does not say which one it is
  kUnusable,  // an index of ours, but damaged, cut short, never finished or of another version
  kForeign,   // not a tracedb index, whatever its name
};
inline constexpr std::size_t kIndexStates = 6;
std::string_view to_string(IndexState state);
std::string_view describe(IndexState state);

struct ListedIndex {
  std::filesystem::path path, source = {};  // source: empty if it is not known
  IndexState state = IndexState::kForeign;
  std::string reason = {};  // why it is in that state, in one line
  FileIdentity file = {};
  bool cached = false;  // named by the hash of its trace, as in a cache directory
};

struct ListedLeftover {
  std::filesystem::path path;
  std::filesystem::path index;  // of which it is
  std::uint64_t bytes = 0;
  bool in_use = false;  // a build is at work
};

struct IndexInventory {
  struct Note {
    std::filesystem::path path;
    std::string reason;
  };
  std::vector<ListedIndex> indexes;       // in the order of their paths
  std::vector<ListedLeftover> leftovers;  // locks first: removing another one takes the lock, which then goes too
  std::vector<Note> unreadable;           // folders
};

// Throws Error{kInput} if one of `folders` is no folder, Error{kInterrupted} once `cancel` (may be null) is true.
IndexInventory take_inventory(const std::vector<std::filesystem::path>& folders, const std::atomic<bool>* cancel);

}  // namespace tracedb
