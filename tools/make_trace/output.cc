#include "make_trace/output.h"

#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/error.h"

namespace tracedb {

struct TextOutput::Sink {
  std::string path;
  std::FILE* plain = nullptr;
  gzFile compressed = nullptr;

  [[noreturn]] void fail(const char* what) const {
    throw Error(ErrorCode::kResource, fmt::format("{}: cannot {}: {}", path, what, std::strerror(errno)));
  }

  explicit Sink(const std::string& file) : path(file) {
    if (path.ends_with(".gz"))
      compressed = gzopen(path.c_str(), "wb3");
    else
      plain = std::fopen(path.c_str(), "wb");
    if (plain == nullptr && compressed == nullptr) fail("write");
  }

  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  ~Sink() {
    if (plain != nullptr) std::fclose(plain);
    if (compressed != nullptr) gzclose(compressed);
  }

  void write(std::string_view bytes) const {
    if (bytes.empty()) return;
    const bool done = plain != nullptr ? std::fwrite(bytes.data(), 1, bytes.size(), plain) == bytes.size()
                                       : gzwrite(compressed, bytes.data(), static_cast<unsigned>(bytes.size())) > 0;
    if (!done) fail("write");
  }

  void close() {
    std::FILE* file = std::exchange(plain, nullptr);
    gzFile archive = std::exchange(compressed, nullptr);
    if (file != nullptr && std::fclose(file) != 0) fail("finish");
    if (archive != nullptr && gzclose(archive) != Z_OK) fail("finish");
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
