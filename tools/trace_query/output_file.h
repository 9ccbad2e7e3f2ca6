// The file of -o, replaced atomically: it has the old content or all of the new. Pipes and devices (/dev/stdout), and
// files in folders that cannot be written to, are written in place.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>

#include "base/files/file_descriptor.h"
#include "base/files/partial_file.h"

namespace tracedb {

class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path);  // Error{kResource} when it cannot be written

  [[nodiscard]] std::ostream& stream() { return stream_; }
  void finish();  // Error{kResource} when not all of it could be written

 private:
  void open_anonymous(const std::filesystem::path& folder);
  void require(bool condition, const char* what) const;
  void link_into_place();

  std::filesystem::path path_;
  std::filesystem::path target_;  // behind links
  std::ofstream stream_;
  FileDescriptor anonymous_fd_;         // a file without a name yet: a killed run leaves nothing
  std::optional<PartialFile> partial_;  // where there are no such files
};

}  // namespace tracedb
