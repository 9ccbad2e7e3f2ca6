// A file that appears under its name only when it is complete: written next to it as "<name>.XXXXXX.partial", then
// synced and renamed. One thread. Throws Error{kResource}, NoSpaceError.
#pragma once

#include <ctime>
#include <filesystem>
#include <optional>

#include "base/files/file_descriptor.h"

namespace tracedb {

class PartialFile {
 public:
  // Makes the file, empty.
  explicit PartialFile(const std::filesystem::path& name);
  ~PartialFile();  // removes it unless it was published
  PartialFile& operator=(PartialFile&&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  // fsync, rename, fsync of the folder: after a power loss the name has the old file or this one. Gives it `modified`
  // as its modification time if there is one.
  void publish(const std::optional<timespec>& modified);

 private:
  std::filesystem::path name_, path_;
  FileDescriptor
      descriptor_;  // open all the time: it is told of every failed write, also of others who had the file open
  bool published_ = false;
};

}  // namespace tracedb
