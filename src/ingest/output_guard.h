// Keeps what a run writes from replacing what it reads, and any recording. One check for every option of every program
// that names a file to write.
#pragma once

#include <filesystem>
#include <span>
#include <string>

namespace tracedb {

enum class OutputContent {
  kReport,  // text: never replaces an index either
  kIndex,   // replaces an older index, but no trace
};

struct NamedFile {
  std::string option;  // as the user wrote it: "--summary"; empty for an argument without an option
  std::filesystem::path path;
};

// Throws Error{kUsage} where writing `output` would lose something: where it is the same file (also through a link) as
// one of `others`, the rest of the command line, where it holds a trace or an index (see recording_in), and where a
// report would be given the name of an index. Pipes, devices and "-" may be anything.
void require_safe_output(const NamedFile& output, OutputContent content, std::span<const NamedFile> others);

}  // namespace tracedb
