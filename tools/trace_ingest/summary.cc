#include "trace_ingest/summary.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "base/error.h"
#include "base/files/input_file.h"
#include "base/text/characters.h"
#include "report/escape.h"

namespace tracedb {
namespace {

std::string text_field(std::string_view name, const std::string& text) {
  if (text.empty()) return fmt::format(",\"{}\":null", name);
  return fmt::format(",\"{}\":\"{}\"", name, escape_json(text));
}

// A name that is no valid UTF-8 cannot be had back from its text.
std::string path_field(std::string_view name, const std::filesystem::path& path) {
  std::string field = fmt::format("\"{}\":", name);
  field += path.empty() ? "null" : fmt::format("\"{}\"", escape_json(path.native()));
  if (valid_utf8(path.native()).replaced == 0) return field;
  field += fmt::format(",\"{}_hex\":\"", name);
  for (const char c : path.native()) field += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return field + '"';
}

int exit_code(const TraceRecord& record, Strictness strictness) {
  if (record.code) return static_cast<int>(*record.code);
  return strictness == Strictness::kStrict && record.lossy() ? static_cast<int>(ErrorCode::kSalvaged) : 0;
}

bool was_read(const TraceRecord& record) {
  return record.status != TraceStatus::kFailed && record.status != TraceStatus::kSkipped;
}

}  // namespace

std::string summary_line(const TraceRecord& record, Strictness strictness) {
  std::string line = '{' + path_field("path", record.trace) + ',' + path_field("index", record.index);
  line += fmt::format(",\"status\":\"{}\",\"seconds\":{:.3f},\"bytes\":{},\"events\":{},\"issues\":{},\"code\":{}",
                      to_string(record.status), record.seconds, record.bytes, record.events, record.issues,
                      exit_code(record, strictness));
  if (was_read(record)) line += fmt::format(",\"losses\":{},\"complete\":{}", record.losses, record.complete);
  return line + text_field("error", record.error) + '}';
}

std::string summary_line(const ListedIndex& index, std::string_view reason, std::string_view action,
                         const std::string& error) {
  std::string line = '{' + path_field("path", index.path);
  line += fmt::format(",\"kind\":\"index\",\"state\":\"{}\",\"bytes\":{},\"modified_ns\":{}", to_string(index.state),
                      index.file.bytes, index.file.modified_ns);
  line += ',' + path_field("source", index.source) + text_field("reason", std::string(reason));
  return line + text_field("action", std::string(action)) + text_field("error", error) + '}';
}

std::string summary_line(const ListedLeftover& leftover, std::string_view action, const std::string& error) {
  std::string line = '{' + path_field("path", leftover.path);
  line += fmt::format(",\"kind\":\"leftover\",\"state\":\"{}\",\"bytes\":{},\"modified_ns\":null,\"source\":null",
                      leftover.in_use ? "in use" : "dead", leftover.bytes);
  line += text_field("reason", "of " + leftover.index.filename().native());
  return line + text_field("action", std::string(action)) + text_field("error", error) + '}';
}

SummaryFile::SummaryFile(const std::filesystem::path& path) : path_(path) {
  if (path.empty()) return;
  file_ = FileDescriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file_.is_open()) fail();
}

void SummaryFile::close() {
  if (!file_.close()) fail();
}

void SummaryFile::fail() const {
  throw Error(ErrorCode::kResource, fmt::format("{}: cannot write the summary: {}; choose another place for it",
                                                printable_path(path_), std::strerror(errno)));
}

void SummaryFile::add(const std::string& line) {
  const std::string ended = line + '\n';
  if (file_.is_open() && !file_.write(std::as_bytes(std::span(ended)))) fail();
}

}  // namespace tracedb
