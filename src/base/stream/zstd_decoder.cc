#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <new>

#include "base/stream/stream_decoder.h"

namespace tracedb {
namespace {

constexpr std::size_t kFrameHeaderStart = 5;  // bytes that zstd needs to read a frame header

class ZstdDecoder : public StreamDecoder {
 public:
  ZstdDecoder() : stream_(ZSTD_createDStream()) {
    if (!stream_) throw std::bad_alloc();
  }

  void reset() override {
    ZSTD_DCtx_reset(stream_.get(), ZSTD_reset_session_only);
    wanted_ = kFrameHeaderStart;
  }
  [[nodiscard]] bool begins_member(std::string_view bytes) const override { return is_zstd(bytes); }
  [[nodiscard]] bool surely_begins_member(std::string_view bytes) const override { return is_zstd(bytes); }

  // One block at a call: on an error the library keeps back all output of the call.
  DecodeStatus decode(std::span<const char>& in, std::span<char>& out) override {
    ZSTD_inBuffer input{in.data(), std::min(in.size(), wanted_), 0};
    ZSTD_outBuffer output{out.data(), out.size(), 0};
    const std::size_t result = ZSTD_decompressStream(stream_.get(), &output, &input);
    in = in.subspan(input.pos);
    out = out.subspan(output.pos);
    if (ZSTD_isError(result) != 0) return damage(ZSTD_getErrorCode(result));
    wanted_ = std::max<std::size_t>(result, 1);
    return result == 0 ? DecodeStatus::kMemberEnd : DecodeStatus::kMore;
  }

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };

  static DecodeStatus damage(ZSTD_ErrorCode code) {
    switch (code) {
      case ZSTD_error_checksum_wrong:
        return DecodeStatus::kBadChecksum;
      case ZSTD_error_memory_allocation:
        throw std::bad_alloc();
      case ZSTD_error_frameParameter_windowTooLarge:
        return DecodeStatus::kWindowTooLarge;
      default:
        return DecodeStatus::kCorrupt;
    }
  }

  std::unique_ptr<ZSTD_DStream, Free> stream_;
  std::size_t wanted_ = kFrameHeaderStart;
};

}  // namespace

std::unique_ptr<StreamDecoder> zstd_decoder() { return std::make_unique<ZstdDecoder>(); }

}  // namespace tracedb
