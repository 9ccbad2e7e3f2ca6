// Keeps the outputs of a run from replacing its inputs or any recording. One check for every option of every program
// that names a file to write.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "index/index.h"

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

// What is at the name of an output: kMissing where there is no regular file. Throws Error{kResource} for a file that
// cannot be read, since it may hold a recording.
FileKind replaced_kind(const std::filesystem::path& output);

// Why no report may replace the regular file `file`: "a trace", "an index of traces", "a zip archive". Empty where it
// is nothing of this kind, or not there; so it is for an exported window of a trace, which can be made again. Looks at
// the content only.
std::string recording_in(const std::filesystem::path& file);

}  // namespace tracedb
