// Read-only access to one index file. Opening checks that the file is a complete index of this version (tier 0 of the
// validity rules: its own header and seal, no look at the trace). Whether it still describes its trace is validity.h.
//
// Errors: kInput for whatever is not a usable index, in one line that says what to do. One thread at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sql/database.h"

namespace tracedb {

enum class FileKind {
  kMissing,       // or unreadable, or not a regular file
  kNotSqlite,     // a raw trace, perhaps
  kOtherSqlite,   // SQLite, but not ours
  kOtherVersion,  // an index of another schema version, or one that was set to write-ahead logging
  kTruncated,     // an index whose header counts more pages than the file has
  kIndex,
};

// Looks at the first 100 bytes only.
FileKind file_kind(const std::filesystem::path& path);
FileKind file_kind(const FileDescriptor& file);  // open; its position is left alone
// Whether an index of a version before this one need not be made again from its trace (ingest/upgrade.h).
bool is_upgradable(const std::filesystem::path& path);

class Index {
 public:
  static Index open(const std::filesystem::path& path);

  [[nodiscard]] std::optional<std::string> meta(std::string_view key) const;
  [[nodiscard]] std::optional<std::int64_t> meta_int64(std::string_view key) const;
  // False for the index of a truncated trace: everything before the damage is there.
  [[nodiscard]] bool complete() const { return meta_int64("complete") == 1; }
  [[nodiscard]] const std::filesystem::path& path() const { return database_->path(); }
  [[nodiscard]] Database& database() const { return *database_; }

 private:
  explicit Index(std::unique_ptr<Database> database) : database_(std::move(database)) {}
  std::unique_ptr<Database> database_;  // stays where it is: its virtual tables know it
};

// What marks a file as an index of ours. One of another schema version is refused; what upgrade.h can bring to this one
// need not be made again from its trace.
inline constexpr std::int32_t kApplicationId = 0x54724462;  // "TrDb" in PRAGMA application_id
inline constexpr std::int32_t kSchemaVersion = 7;           // PRAGMA user_version

// What a trace without a kernel, copy or fill is instead, and what to record: one sentence, said before anything else.
// "no kernel, copy or fill is in it: it looks like ...", as ingest found; empty: there are device events, or the index
// is too old to say.
std::string without_device(const Index& index);

}  // namespace tracedb
