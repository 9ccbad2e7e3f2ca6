#include "base/stream/compressed_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "base/error.h"

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
  CompressedSource(std::unique_ptr<RawInput> input, std::unique_ptr<StreamDecoder> decoder, Compression compression)
      : input_(std::move(input)), decoder_(std::move(decoder)), compression_(compression) {}

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
  [[nodiscard]] Compression compression() const override { return compression_; }
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
    std::copy(pending_.begin(), pending_.end(), buffer_.get());
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
  Compression compression_;
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
                                                   std::unique_ptr<StreamDecoder> decoder, Compression compression) {
  return std::make_unique<CompressedSource>(std::move(input), std::move(decoder), compression);
}

}  // namespace tracedb
