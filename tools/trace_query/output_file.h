// The file of -o: its name has the old content, or all of the new one. What is no regular file (a pipe, /dev/stdout)
// and a file whose folder cannot be written are written as they are.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>

#include "base/partial_file.h"

namespace tracedb {

class OutputFile {
 public:
  explicit OutputFile(const std::filesystem::path& path);  // Error{kResource} when it cannot be written
  ~OutputFile();                                           // without finish(), the name keeps what it had
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  [[nodiscard]] std::ostream& stream() { return stream_; }
  void finish();  // Error{kResource} when not all of it could be written

 private:
  void open_unnamed(const std::filesystem::path& folder);
  void require(bool condition, const char* what) const;
  void name_it();

  std::filesystem::path path_;
  std::filesystem::path target_;  // behind links
  std::ofstream stream_;
  int unnamed_ = -1;                    // a file without a name yet: a killed run leaves nothing
  std::optional<PartialFile> partial_;  // where there are no such files
};

}  // namespace tracedb
