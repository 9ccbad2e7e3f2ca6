#include "make_trace/output.h"

#include <zlib.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace tracedb {

struct TextOutput::Sink {
  std::string path;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file;

  [[noreturn]] void fail(const char* what) const {
    throw Error(ErrorCode::kResource, fmt::format("{}: cannot {}: {}", path, what, std::strerror(errno)));
  }

  // T: text as it is.
  explicit Sink(const std::string& name)
      : path(name), file(gzopen(name.c_str(), name.ends_with(".gz") ? "wb3" : "wbT"), gzclose) {
    if (file == nullptr) fail("write");
  }

  void write(std::string_view bytes) const {
    if (bytes.empty()) return;
    if (gzwrite(file.get(), bytes.data(), static_cast<unsigned>(bytes.size())) <= 0) fail("write");
  }

  void close() {
    if (gzclose(file.release()) != Z_OK) fail("finish");
  }
};

TextOutput::TextOutput(const std::string& path) {
  buffer_.reserve(kCapacity);
  if (!path.empty()) sink_ = std::make_unique<Sink>(path);
}

TextOutput::~TextOutput() = default;

void TextOutput::fixed(std::int64_t value, std::int64_t unit, int places) {
  piece(value / unit);
  char digits[8] = {'.'};
  std::int64_t rest = value % unit;
  for (int at = places; at > 0; --at, rest /= 10) digits[at] = static_cast<char>('0' + rest % 10);
  piece(std::string_view(digits, static_cast<std::size_t>(places) + 1));
}

void TextOutput::flush() {
  if (sink_) sink_->write(buffer_);
  flushed_ += buffer_.size();
  buffer_.clear();
}

void TextOutput::close() {
  flush();
  if (sink_) sink_->close();
}

void write_file(const std::string& path, std::string_view text) {
  TextOutput out(path);
  out.put(text);
  out.close();
}

}  // namespace tracedb
