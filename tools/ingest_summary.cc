#include "ingest_summary.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/input_file.h"
#include "base/utf8.h"
#include "report/escape.h"

namespace tracedb {
namespace {

std::string text_field(std::string_view name, const std::string& text) {
  if (text.empty()) return fmt::format(",\"{}\":null", name);
  return fmt::format(",\"{}\":\"{}\"", name, escape_json(text));
}

std::string bytes_field(const std::string& name) {
  if (valid_utf8(name).replaced == 0) return {};
  std::string field = ",\"path_hex\":\"";
  for (const char c : name) field += fmt::format("{:02x}", static_cast<unsigned char>(c));
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
  std::string line = fmt::format("{{\"path\":\"{}\"", escape_json(record.trace.native()));
  line += bytes_field(record.trace.native());
  line += text_field("index", record.index.native());
  line += fmt::format(",\"status\":\"{}\",\"seconds\":{:.3f},\"bytes\":{},\"events\":{},\"issues\":{},\"code\":{}",
                      to_string(record.status), record.seconds, record.bytes, record.events, record.issues,
                      exit_code(record, strictness));
  if (was_read(record)) line += fmt::format(",\"losses\":{},\"complete\":{}", record.losses, record.complete);
  return line + text_field("error", record.error) + '}';
}

SummaryFile::SummaryFile(const std::filesystem::path& path, Strictness strictness)
    : path_(path), strictness_(strictness) {
  if (path.empty()) return;
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) fail();
}

SummaryFile::~SummaryFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void SummaryFile::close() {
  if (descriptor_ >= 0 && ::close(std::exchange(descriptor_, -1)) != 0) fail();
}

void SummaryFile::fail() const {
  throw Error(ErrorCode::kResource, fmt::format("{}: cannot write the summary: {}; choose another place for it",
                                                printable_path(path_), std::strerror(errno)));
}

void SummaryFile::add(const TraceRecord& record) {
  if (descriptor_ < 0) return;
  const std::string line = summary_line(record, strictness_) + '\n';
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t count = ::write(descriptor_, rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail();
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
}

}  // namespace tracedb
