#include "make_trace/output.h"

#include <zlib.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace tracedb {

TextOutput::TextOutput(const std::string& path) : path_(path), file_(nullptr, gzclose) {
  buffer_.reserve(kCapacity);
  if (path.empty()) return;
  file_.reset(gzopen(path.c_str(), path.ends_with(".gz") ? "wb3" : "wbT"));  // T: text as it is
  if (file_ == nullptr) fail("write");
}

void TextOutput::fail(const char* what) const {
  throw Error(ErrorCode::kResource, fmt::format("{}: cannot {}: {}", path_, what, std::strerror(errno)));
}

void TextOutput::fixed(std::int64_t value, std::int64_t unit, int places) {
  piece(value / unit);
  char digits[8] = {'.'};
  std::int64_t rest = value % unit;
  for (int at = places; at > 0; --at, rest /= 10) digits[at] = static_cast<char>('0' + rest % 10);
  piece(std::string_view(digits, static_cast<std::size_t>(places) + 1));
}

void TextOutput::flush() {
  const auto bytes = static_cast<unsigned>(buffer_.size());
  if (file_ != nullptr && bytes > 0 && gzwrite(file_.get(), buffer_.data(), bytes) <= 0) fail("write");
  flushed_ += buffer_.size();
  buffer_.clear();
}

void TextOutput::close() {
  flush();
  if (file_ != nullptr && gzclose(file_.release()) != Z_OK) fail("finish");
}

void write_file(const std::string& path, std::string_view text) {
  TextOutput out(path);
  out.put(text);
  out.close();
}

}  // namespace tracedb
