// The file of -o, replaced atomically: it has the old content or all of the new. Pipes and devices (/dev/stdout), and
// files in folders that cannot be written to, are written in place.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

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

// Standard output, or the file of -o.
class OutputTarget {
 public:
  explicit OutputTarget(const std::optional<std::string>& path);  // none, "-": standard output; Error{kResource}

  [[nodiscard]] std::ostream& stream() { return file_ ? file_->stream() : *standard_; }
  [[nodiscard]] bool is_file() const { return file_.has_value(); }
  void finish();  // Error{kResource} when not all of it could be written

 private:
  std::ostream* standard_;
  std::optional<OutputFile> file_;
};

}  // namespace tracedb
