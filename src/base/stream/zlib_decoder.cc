// gzip by zlib: where isa-l is missing, and as the yardstick of its tests.
#include <zlib.h>

#include <algorithm>
#include <new>

#include "base/stream/stream_decoder.h"

namespace tracedb {
namespace {

constexpr std::size_t kLargestZlibCall = std::size_t{1} << 30;  // the library counts in unsigned int

class ZlibGzipDecoder : public StreamDecoder {
 public:
  ZlibGzipDecoder() {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~ZlibGzipDecoder() override { inflateEnd(&stream_); }
  ZlibGzipDecoder(const ZlibGzipDecoder&) = delete;
  ZlibGzipDecoder& operator=(const ZlibGzipDecoder&) = delete;

  void reset() override { inflateReset(&stream_); }
  [[nodiscard]] bool begins_member(std::string_view bytes) const override { return is_gzip(bytes); }
  [[nodiscard]] bool surely_begins_member(std::string_view bytes) const override { return is_gzip_header(bytes); }

  DecodeStatus decode(std::span<const char>& in, std::span<char>& out) override {
    const auto in_size = static_cast<uInt>(std::min(in.size(), kLargestZlibCall));
    const auto out_size = static_cast<uInt>(std::min(out.size(), kLargestZlibCall));
    // The library does not write to its input; its pointer lacks the const.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = in_size;
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = out_size;
    const int result = inflate(&stream_, Z_NO_FLUSH);
    in = in.subspan(in_size - stream_.avail_in);
    out = out.subspan(out_size - stream_.avail_out);
    if (result == Z_STREAM_END) return DecodeStatus::kMemberEnd;
    if (result == Z_OK || result == Z_BUF_ERROR) return DecodeStatus::kMore;
    if (result == Z_MEM_ERROR) throw std::bad_alloc();
    return is_checksum_message() ? DecodeStatus::kBadChecksum : DecodeStatus::kCorrupt;
  }

 private:
  // zlib has one code for all damage; only the text tells.
  [[nodiscard]] bool is_checksum_message() const {
    const std::string_view message = stream_.msg == nullptr ? "" : stream_.msg;
    return message == "incorrect data check" || message == "incorrect length check" || message == "header crc mismatch";
  }

  z_stream stream_{};
};

}  // namespace

std::unique_ptr<StreamDecoder> zlib_gzip_decoder() { return std::make_unique<ZlibGzipDecoder>(); }

}  // namespace tracedb
