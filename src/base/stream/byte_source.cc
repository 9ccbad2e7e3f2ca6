#include "base/stream/byte_source.h"

#include <utility>

#include "base/files/input_file.h"
#include "base/stream/compressed_source.h"
#include "base/stream/raw_input.h"
#include "base/stream/stream_decoder.h"
#include "base/stream/utf16_source.h"

namespace tracedb {
namespace {

class PlainSource : public ByteSource {
 public:
  explicit PlainSource(std::unique_ptr<RawInput> input) : input_(std::move(input)) {}

  std::size_t read(char* destination, std::size_t capacity) override { return input_->read(destination, capacity); }
  [[nodiscard]] std::uint64_t consumed() const override { return input_->consumed(); }
  [[nodiscard]] ContentHash hash() const override { return input_->hash(); }
  void drain() override { input_->drain(); }

 private:
  std::unique_ptr<RawInput> input_;
};

std::unique_ptr<StreamDecoder> best_gzip_decoder() {
  auto decoder = isal_gzip_decoder();
  return decoder ? std::move(decoder) : zlib_gzip_decoder();
}

std::unique_ptr<ByteSource> source_for_content(std::unique_ptr<RawInput> input) {
  const std::string_view head = input->peek();
  if (is_gzip(head)) return compressed_byte_source(std::move(input), best_gzip_decoder(), Compression::kGzip);
  if (is_zstd(head)) return compressed_byte_source(std::move(input), zstd_decoder(), Compression::kZstd);
  return std::make_unique<PlainSource>(std::move(input));
}

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

bool is_gzip_header(std::string_view bytes) {
  if (!bytes.starts_with("\x1f\x8b\x08") || bytes.size() < StreamDecoder::kHeaderSize) return false;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const bool known_flags = (byte(3) & 0xE0U) == 0;
  const bool known_level = byte(8) == 0 || byte(8) == 2 || byte(8) == 4;
  const bool known_system = byte(9) <= 13 || byte(9) == 255;
  return known_flags && known_level && known_system;
}

bool is_zstd(std::string_view bytes) {
  const bool skippable = bytes.size() >= 4 && (static_cast<unsigned char>(bytes[0]) & 0xF0U) == 0x50 &&
                         bytes.substr(1).starts_with("\x2a\x4d\x18");
  return skippable || bytes.starts_with("\x28\xb5\x2f\xfd");
}

std::unique_ptr<ByteSource> open_byte_source(const std::filesystem::path& path, const std::atomic<bool>* cancel) {
  return utf8_byte_source(
      source_for_content(file_raw_input(path == "-" ? InputFile::standard_input(cancel) : InputFile(path, cancel))));
}

std::unique_ptr<ByteSource> memory_byte_source(std::string_view data) {
  return utf8_byte_source(source_for_content(memory_raw_input(data)));
}

}  // namespace tracedb
