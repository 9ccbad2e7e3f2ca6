#include "ingest/output_guard.h"

#include <fmt/format.h>

#include <optional>
#include <system_error>

#include "base/error.h"
#include "base/failure.h"
#include "base/files/input_file.h"
#include "index/leftovers.h"
#include "index/locate.h"
#include "ingest/formats.h"
#include "trace/event_names.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const NamedFile& output, const std::string& reason) {
  throw Error(ErrorCode::kUsage, fmt::format("{} {}: {}; nothing was written, give the output another name",
                                             output.option, printable_path(output.path), reason));
}

// Behind links; also of a name that does not exist yet.
bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code error;
  if (fs::exists(a, error) || fs::exists(b, error)) return fs::is_regular_file(a, error) && fs::equivalent(a, b, error);
  return fs::weakly_canonical(fs::absolute(a, error), error) == fs::weakly_canonical(fs::absolute(b, error), error) &&
         !error;
}

std::string role(const NamedFile& other) {
  return other.option.empty() ? "is an input of this run" : fmt::format("is also given by {}", other.option);
}

}  // namespace

void require_safe_output(const NamedFile& output, OutputContent content, std::span<const NamedFile> others) {
  if (output.path.empty() || output.path == "-") return;
  for (const NamedFile& other : others) {
    if (other.path != "-" && is_same_file(output.path, other.path)) refuse(output, role(other));
  }
  if (content == OutputContent::kReport && output.path.extension() == kIndexSuffix) {
    refuse(output, "has the name of an index");
  }
  if (content == OutputContent::kIndex && is_ours(replaced_kind(output.path))) return;
  const std::string recording = recording_in(output.path);
  if (!recording.empty()) refuse(output, fmt::format("holds {}, which would be lost", recording));
}

FileKind replaced_kind(const fs::path& output) {
  std::error_code error;
  if (!fs::is_regular_file(output, error)) return FileKind::kMissing;
  const FileKind kind = file_kind(output);
  if (kind != FileKind::kMissing || !fs::exists(output, error)) return kind;
  throw Error(ErrorCode::kResource, fmt::format("{}: exists already and cannot be read, so it is not replaced; give "
                                                "the output another name",
                                                printable_path(output)));
}

std::string recording_in(const fs::path& file) {
  const FileKind kind = replaced_kind(file);
  if (kind == FileKind::kMissing) return {};
  if (is_ours(kind)) return "an index of traces";
  std::string found;
  const std::optional<Error> failure = catch_error([&] {
    const std::string head = read_head(file);
    if (head.starts_with(kWindowMark)) return;
    const TraceFormat& format = trace_format(head, file);
    const bool any_file = &format == &trace_formats().back();
    if (format.irreplaceable && !any_file) found = format.read == nullptr ? format.name : "a trace";
    if ((any_file || !format.certain) && begins_as_trace(head)) found = "a trace";
  });
  if (failure && failure->code() == ErrorCode::kResource) throw Error(*failure);  // it may hold a trace all the same
  return found;
}

}  // namespace tracedb
