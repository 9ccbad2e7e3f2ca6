#include "base/stream/byte_source.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "base/files/input_file.h"
#include "base/stream/compressed_source.h"
#include "base/text/characters.h"

namespace tracedb {
namespace {

std::unique_ptr<StreamDecoder> best_gzip_decoder() {
  auto decoder = isal_gzip_decoder();
  return decoder ? std::move(decoder) : zlib_gzip_decoder();
}

std::unique_ptr<ByteSource> source_for_content(std::unique_ptr<RawInput> input) {
  const std::string_view head = input->peek();
  if (is_gzip(head)) return compressed_byte_source(std::move(input), best_gzip_decoder());
  if (is_zstd(head)) return compressed_byte_source(std::move(input), zstd_decoder());
  return input;
}

// Bytes are hashed in steps that are still in the cache from being read.
constexpr std::size_t kStep = std::size_t{1} << 20;

std::unique_ptr<RawInput> file_raw_input(InputFile opened) {
  const auto file = std::make_shared<InputFile>(std::move(opened));
  file->expect_sequential_reads();
  return std::make_unique<RawInput>(
      file->name(), [file](char* destination, std::size_t capacity) { return file->read(destination, capacity); });
}

constexpr std::size_t kHead = 4;
constexpr std::size_t kPiece = std::size_t{1} << 16U;

static_assert(std::endian::native == std::endian::little, "units are loaded as the machine stores them");

bool may_begin_json(unsigned char c) { return c == '{' || c == '[' || c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

TextEncoding encoding_of(std::string_view head) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(head[i]); };
  if (head.starts_with("\xFF\xFE")) return TextEncoding::kUtf16LittleEndian;
  if (head.starts_with("\xFE\xFF")) return TextEncoding::kUtf16BigEndian;
  if (head.size() < kHead) return TextEncoding::kUtf8;
  const bool little = may_begin_json(byte(0)) && byte(1) == 0 && byte(2) != 0 && byte(3) == 0;
  const bool big = byte(0) == 0 && may_begin_json(byte(1)) && byte(2) == 0 && byte(3) != 0;
  return little ? TextEncoding::kUtf16LittleEndian : big ? TextEncoding::kUtf16BigEndian : TextEncoding::kUtf8;
}

class Utf8Source : public PeekableSource {
 public:
  explicit Utf8Source(std::unique_ptr<ByteSource> source) : source_(std::move(source)), pending_(kHead) {
    pending_.resize(source_->read(pending_.data(), kHead));
    encoding_ = encoding_of({pending_.data(), pending_.size()});
  }

  std::string_view peek(std::size_t size) override {
    if (encoding_ != TextEncoding::kUtf8) {
      while (text_.size() < size && convert_more()) {
      }
      return std::string_view(text_).substr(0, size);
    }
    std::size_t done = pending_.size();
    pending_.resize(std::max(size, done));
    for (std::size_t got = 1; got > 0 && done < pending_.size(); done += got) {
      got = source_->read(pending_.data() + done, pending_.size() - done);
    }
    pending_.resize(done);
    return std::string_view(pending_.data(), done).substr(0, size);
  }

  std::size_t read(char* destination, std::size_t capacity) override {
    std::size_t done = 0;
    if (encoding_ == TextEncoding::kUtf8) {
      if (at_ < pending_.size()) done = take(pending_, destination, capacity);
      if (done < capacity && at_ > 0) {
        pending_ = std::vector<char>();
        at_ = 0;
      }
      return done + source_->read(destination + done, capacity - done);
    }
    while (done < capacity) {
      if (at_ == text_.size() && !convert_more()) break;
      done += take(text_, destination + done, capacity - done);
    }
    return done;
  }

  [[nodiscard]] StreamDamage damage() const override { return source_->damage(); }
  // Within UTF-16 the place has no simple counterpart: what is converted so far is near.
  [[nodiscard]] std::uint64_t damaged_at() const override {
    return encoding_ == TextEncoding::kUtf8 ? source_->damaged_at() : converted_ + text_.size();
  }
  [[nodiscard]] TextEncoding encoding() const override { return encoding_; }
  [[nodiscard]] Replacements replacements() const override { return replacements_; }
  [[nodiscard]] std::uint64_t consumed() const override { return source_->consumed(); }
  [[nodiscard]] ContentHash hash() const override { return source_->hash(); }
  void drain() override { source_->drain(); }

 private:
  template <class Bytes>
  std::size_t take(const Bytes& bytes, char* destination, std::size_t capacity) {
    const std::size_t size = std::min(capacity, bytes.size() - at_);
    std::copy_n(bytes.data() + at_, size, destination);
    at_ += size;
    return size;
  }

  // The next piece of the source behind what text_ still has to deliver. False at the end.
  bool convert_more() {
    converted_ += at_;
    text_.erase(0, std::exchange(at_, 0));
    const std::size_t before = text_.size();
    while (text_.size() == before && !ended_) {
      const std::size_t kept = pending_.size();
      pending_.resize(kPiece);
      const std::size_t got = source_->read(pending_.data() + kept, kPiece - kept);
      ended_ = got < kPiece - kept;
      pending_.resize(kept + got);
      const std::size_t used = convert();
      pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(used));
    }
    return text_.size() > before;
  }

  [[nodiscard]] std::uint32_t unit(std::size_t i) const {
    const auto first = static_cast<unsigned char>(pending_[i]);
    const auto second = static_cast<unsigned char>(pending_[i + 1]);
    return encoding_ == TextEncoding::kUtf16BigEndian ? static_cast<std::uint32_t>(first << 8U | second)
                                                      : static_cast<std::uint32_t>(second << 8U | first);
  }

  // Appends what pending_ holds to text_, but for a character that may go on in the next piece; returns the bytes used.
  std::size_t convert() {
    std::size_t i = 0;
    while (true) {
      i = convert_ascii(i);
      const std::size_t rest = pending_.size() - i;
      if (rest < 2) {
        if (rest == 0 || !ended_) return i;
        replace();
        return i + 1;
      }
      const std::uint32_t first = unit(i);
      const bool high = first >= 0xD800 && first < 0xDC00;
      if (high && rest < 4 && !ended_) return i;
      const std::uint32_t second = high && rest >= 4 ? unit(i + 2) : 0;
      if (second >= 0xDC00 && second < 0xE000) {
        append_utf8(text_, 0x10000 + ((first - 0xD800) << 10U) + (second - 0xDC00));
        i += 4;
        continue;
      }
      if (first >= 0xD800 && first < 0xE000) {
        replace();
      } else {
        append_utf8(text_, first);
      }
      i += 2;
    }
  }

  // Four units at a time, as long as all are ASCII: nearly all there is in a trace.
  std::size_t convert_ascii(std::size_t i) {
    const bool big = encoding_ == TextEncoding::kUtf16BigEndian;
    const std::uint64_t beyond_ascii = big ? 0x80FF80FF80FF80FF : 0xFF80FF80FF80FF80;
    for (; i + 8 <= pending_.size(); i += 8) {
      std::uint64_t units = 0;
      std::memcpy(&units, pending_.data() + i, sizeof(units));
      if ((units & beyond_ascii) != 0) break;
      const char* characters = pending_.data() + i + (big ? 1 : 0);
      const char four[4] = {characters[0], characters[2], characters[4], characters[6]};
      text_.append(four, sizeof(four));
    }
    return i;
  }

  void replace() {
    if (replacements_.count++ == 0) replacements_.first = converted_ + text_.size();
    append_utf8(text_, 0xFFFD);
  }

  std::unique_ptr<ByteSource> source_;
  TextEncoding encoding_ = TextEncoding::kUtf8;
  std::vector<char> pending_;    // read, but neither delivered nor converted
  std::string text_;             // converted
  std::size_t at_ = 0;           // what was delivered of text_, or of pending_ where nothing is converted
  std::uint64_t converted_ = 0;  // bytes before text_
  bool ended_ = false;
  Replacements replacements_;
};

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

std::unique_ptr<PeekableSource> open_byte_source(const std::filesystem::path& path, const std::atomic<bool>* cancel) {
  return std::make_unique<Utf8Source>(
      source_for_content(file_raw_input(path == "-" ? InputFile::standard_input(cancel) : InputFile(path, cancel))));
}

std::unique_ptr<PeekableSource> memory_byte_source(std::string_view data) {
  return std::make_unique<Utf8Source>(source_for_content(memory_raw_input(data)));
}

std::string_view RawInput::peek() {
  if (head_size_ == 0) head_size_ = fetch_(head_.data(), head_.size());
  return {head_.data(), head_size_};
}

std::size_t RawInput::read(char* destination, std::size_t capacity) {
  std::size_t done = 0;
  while (done < capacity) {
    char* const target = destination + done;
    const std::size_t wanted = std::min(capacity - done, kStep);
    const std::size_t from_head = std::min(wanted, head_size_ - head_taken_);
    std::memcpy(target, head_.data() + head_taken_, from_head);
    head_taken_ += from_head;
    const std::size_t got = from_head + fetch_(target + from_head, wanted - from_head);
    hasher_.update({target, got});
    done += got;
    if (got < wanted) break;
  }
  consumed_ += done;
  return done;
}

void RawInput::drain() {
  const auto buffer = std::make_unique_for_overwrite<char[]>(kStep);
  while (read(buffer.get(), kStep) > 0) {
  }
}

std::unique_ptr<RawInput> memory_raw_input(std::string_view data) {
  return std::make_unique<RawInput>("memory", [rest = data](char* destination, std::size_t capacity) mutable {
    const std::size_t size = rest.copy(destination, capacity);
    rest.remove_prefix(size);
    return size;
  });
}

}  // namespace tracedb
