#include "base/stream/compressed_source.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <new>
#include <utility>

#include "base/error.h"

#if TRACEDB_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#endif

namespace tracedb {
namespace {

constexpr std::size_t kBufferSize = std::size_t{1} << 20;
constexpr std::size_t kBlockSize = std::size_t{256} << 10;
constexpr std::size_t kLookahead = 4;  // bytes that tell whether another member begins

auto severity(StreamDamage damage) {
  constexpr StreamDamage kOrder[] = {StreamDamage::kNone, StreamDamage::kTrailingBytes, StreamDamage::kBadChecksum,
                                     StreamDamage::kTruncated, StreamDamage::kCorrupt};
  return std::find(std::begin(kOrder), std::end(kOrder), damage) - std::begin(kOrder);
}

class CompressedSource : public ByteSource {
 public:
  CompressedSource(std::unique_ptr<RawInput> input, std::unique_ptr<StreamDecoder> decoder)
      : input_(std::move(input)), decoder_(std::move(decoder)) {}

  std::size_t read(char* destination, std::size_t capacity) override {
    std::span<char> out(destination, capacity);
    while (!out.empty() && !(finished_ && ready_.empty())) {
      if (!ready_.empty()) {
        const std::size_t count = std::min(ready_.size(), out.size());
        std::copy_n(ready_.begin(), count, out.begin());
        ready_ = ready_.subspan(count);
        out = out.subspan(count);
      } else if (out.size() >= kBlockSize) {
        out = out.subspan(decode_block(out.first(kBlockSize)));
      } else {
        ready_ = std::span<const char>(block_.get(), decode_block({block_.get(), kBlockSize}));
      }
    }
    return capacity - out.size();
  }

  [[nodiscard]] StreamDamage damage() const override { return damage_; }
  [[nodiscard]] std::uint64_t damaged_at() const override { return damaged_at_; }
  [[nodiscard]] std::uint64_t consumed() const override { return input_->consumed(); }
  [[nodiscard]] ContentHash hash() const override { return input_->hash(); }

  // Decompresses the rest too: a checksum stands at the very end.
  void drain() override {
    if (!finished_) {
      const auto scratch = std::make_unique_for_overwrite<char[]>(kBufferSize);
      while (read(scratch.get(), kBufferSize) > 0) {
      }
    }
    input_->drain();
  }

 private:
  // Always blocks of one size: how far a decoder gets before it notices damage depends on the room it is given, and
  // what is delivered must not depend on how much the caller asks for. Returns less than a block only at the end.
  std::size_t decode_block(std::span<char> block) {
    std::span<char> out = block;
    while (!out.empty() && !finished_) {
      if (between_members_) {
        begin_member();
      } else {
        decode_some(out);
      }
    }
    return block.size() - out.size();
  }

  // Tops the buffer up; what is unread moves to its front.
  void refill() {
    std::ranges::copy(pending_, buffer_.get());
    const std::size_t room = kBufferSize - pending_.size();
    const std::size_t got = input_->read(buffer_.get() + pending_.size(), room);
    ended_ = got < room;
    pending_ = std::span<const char>(buffer_.get(), pending_.size() + got);
  }

  void begin_member() {
    if (pending_.size() < kLookahead && !ended_) refill();
    if (pending_.empty()) return finish(StreamDamage::kNone);
    const std::string_view next(pending_.data(), std::min(pending_.size(), kLookahead));
    if (!decoder_->begins_member(next)) {
      return seek_member(any_member_ ? StreamDamage::kTrailingBytes : StreamDamage::kCorrupt);
    }
    enter_member();
  }

  void enter_member() {
    if (any_member_) decoder_->reset();
    any_member_ = true;
    between_members_ = false;
    advanced_ = false;
  }

  // Behind damage: to the next place where a member begins, if there is one.
  void seek_member(StreamDamage damage) {
    note(damage);
    constexpr std::size_t kHeader = StreamDecoder::kHeaderSize;
    if (!between_members_ && !advanced_ && !pending_.empty()) pending_ = pending_.subspan(1);
    while (true) {
      std::size_t at = 0;
      while (at + kHeader <= pending_.size() && !decoder_->surely_begins_member({pending_.data() + at, kHeader})) ++at;
      const bool found = at + kHeader <= pending_.size();
      pending_ = pending_.subspan(at);
      if (found) return enter_member();
      if (ended_) return finish(damage);
      refill();
    }
  }

  void decode_some(std::span<char>& out) {
    if (pending_.empty() && !ended_) refill();
    const std::size_t in_before = pending_.size();
    const std::size_t out_before = out.size();
    const DecodeStatus status = decoder_->decode(pending_, out);
    advanced_ = advanced_ || pending_.size() != in_before;
    delivered_ += out_before - out.size();
    switch (status) {
      case DecodeStatus::kMemberEnd:
        between_members_ = true;
        break;
      case DecodeStatus::kBadChecksum:
        seek_member(StreamDamage::kBadChecksum);
        break;
      case DecodeStatus::kCorrupt:
        seek_member(StreamDamage::kCorrupt);
        break;
      case DecodeStatus::kWindowTooLarge:
        throw Error(ErrorCode::kInput, fmt::format("{}: zstd window over 128 MiB: decompress it first with zstd -d "
                                                   "--long=31",
                                                   input_->name()));
      case DecodeStatus::kMore:
        // With room for output, a decoder stands still only for want of input.
        if (pending_.size() == in_before && out.size() == out_before) {
          if (pending_.empty()) return finish(StreamDamage::kTruncated);
          seek_member(StreamDamage::kCorrupt);
        }
        break;
    }
  }

  // The worst is told, the first of its kind.
  void note(StreamDamage damage) {
    if (severity(damage) <= severity(damage_)) return;
    damage_ = damage;
    damaged_at_ = delivered_;
  }

  void finish(StreamDamage damage) {
    note(damage);
    finished_ = true;
  }

  std::unique_ptr<RawInput> input_;
  std::unique_ptr<StreamDecoder> decoder_;
  // Not zeroed: memory that is never reached is never touched.
  std::unique_ptr<char[]> buffer_ = std::make_unique_for_overwrite<char[]>(kBufferSize);
  std::span<const char> pending_;  // the part of the buffer that was not decoded yet
  std::unique_ptr<char[]> block_ = std::make_unique_for_overwrite<char[]>(kBlockSize);
  std::span<const char> ready_;  // the part of the block that was not delivered yet
  StreamDamage damage_ = StreamDamage::kNone;
  std::uint64_t delivered_ = 0;  // by the decoder
  std::uint64_t damaged_at_ = 0;
  bool ended_ = false;     // of the file
  bool advanced_ = false;  // some of the member was read
  bool any_member_ = false;
  bool between_members_ = true;
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> compressed_byte_source(std::unique_ptr<RawInput> input,
                                                   std::unique_ptr<StreamDecoder> decoder) {
  return std::make_unique<CompressedSource>(std::move(input), std::move(decoder));
}

namespace {

constexpr std::size_t kLargestCall = std::size_t{1} << 30;  // the libraries count in 32 bits

}  // namespace

// gzip by isa-l, which inflates about three times as fast as zlib.
#if TRACEDB_HAVE_ISAL
namespace {

class IsalGzipDecoder : public StreamDecoder {
 public:
  IsalGzipDecoder() { isal_inflate_init(&state_); }

  void reset() override { isal_inflate_reset(&state_); }
  [[nodiscard]] bool begins_member(std::string_view bytes) const override { return is_gzip(bytes); }
  [[nodiscard]] bool surely_begins_member(std::string_view bytes) const override { return is_gzip_header(bytes); }

  DecodeStatus decode(std::span<const char>& in, std::span<char>& out) override {
    const auto in_size = static_cast<std::uint32_t>(std::min(in.size(), kLargestCall));
    const auto out_size = static_cast<std::uint32_t>(std::min(out.size(), kLargestCall));
    // The library does not write to its input; its pointer lacks the const.
    state_.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(in.data()));
    state_.avail_in = in_size;
    state_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    state_.avail_out = out_size;
    state_.crc_flag = ISAL_GZIP;
    const int result = isal_inflate(&state_);
    in = in.subspan(in_size - state_.avail_in);
    out = out.subspan(out_size - state_.avail_out);
    if (result == ISAL_INCORRECT_CHECKSUM) return DecodeStatus::kBadChecksum;
    if (result < 0 || result == ISAL_NEED_DICT) return DecodeStatus::kCorrupt;
    return state_.block_state == ISAL_BLOCK_FINISH ? DecodeStatus::kMemberEnd : DecodeStatus::kMore;
  }

 private:
  inflate_state state_{};
};

}  // namespace

std::unique_ptr<StreamDecoder> isal_gzip_decoder() { return std::make_unique<IsalGzipDecoder>(); }
#else
std::unique_ptr<StreamDecoder> isal_gzip_decoder() { return nullptr; }
#endif

// gzip by zlib: where isa-l is missing, and as the yardstick of its tests.
namespace {

class ZlibGzipDecoder : public StreamDecoder {
 public:
  ZlibGzipDecoder() {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~ZlibGzipDecoder() override { inflateEnd(&stream_); }
  ZlibGzipDecoder& operator=(ZlibGzipDecoder&&) = delete;

  void reset() override { inflateReset(&stream_); }
  [[nodiscard]] bool begins_member(std::string_view bytes) const override { return is_gzip(bytes); }
  [[nodiscard]] bool surely_begins_member(std::string_view bytes) const override { return is_gzip_header(bytes); }

  DecodeStatus decode(std::span<const char>& in, std::span<char>& out) override {
    const auto in_size = static_cast<uInt>(std::min(in.size(), kLargestCall));
    const auto out_size = static_cast<uInt>(std::min(out.size(), kLargestCall));
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

bool says_it_holds(const std::filesystem::path& compressed, std::uint64_t bytes) {
  constexpr std::size_t kLongestZstdHeader = 18, kSizeAtEnd = 4;
  std::ifstream file(compressed, std::ios::binary);
  std::array<unsigned char, kLongestZstdHeader> read{};
  file.read(reinterpret_cast<char*>(read.data()), read.size());
  const std::string_view head(reinterpret_cast<const char*>(read.data()), static_cast<std::size_t>(file.gcount()));
  if (is_zstd(head)) return ZSTD_getFrameContentSize(head.data(), head.size()) == bytes;
  if (!is_gzip(head)) return false;
  file.clear();
  file.seekg(-static_cast<std::streamoff>(kSizeAtEnd), std::ios::end);
  file.read(reinterpret_cast<char*>(read.data()), kSizeAtEnd);
  std::uint32_t size = 0;  // modulo 2^32
  for (std::size_t i = kSizeAtEnd; i-- > 0;) size = size << 8U | read[i];
  return file && size == static_cast<std::uint32_t>(bytes);
}

std::unique_ptr<StreamDecoder> zstd_decoder() { return std::make_unique<ZstdDecoder>(); }

}  // namespace tracedb
