#include "index/column_codec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "base/stream/content_hash.h"

namespace tracedb {
namespace {

constexpr std::size_t kWord = 8;
constexpr std::size_t kHeader = 12, kStart = 8, kPatch = 10;
constexpr unsigned kWidestPart = 56;  // with the bits before it within its first byte it fits a word
constexpr unsigned kWhole = 64;

std::size_t code_bytes(std::size_t rows, unsigned width) { return (rows * width + 7) / 8; }

// What a frame is written with.
struct Choice {
  std::uint64_t base = 0;
  unsigned width = 0;
  std::size_t patches = 0;

  [[nodiscard]] std::size_t bits(std::size_t rows) const { return rows * width + patches * kPatch * 8; }
};

unsigned stored_width(std::uint64_t code) {
  const auto width = static_cast<unsigned>(std::bit_width(code));
  return width > kWidestPart ? kWhole : width;
}

// The best width above `base`, by a sample: what needs more, or is below, becomes a patch.
Choice estimate(std::span<const std::uint64_t> codes, std::uint64_t base) {
  std::array<std::uint16_t, kWhole + 1> count{};
  std::size_t sampled = 0;
  for (std::size_t i = 0; i < codes.size(); i += 4 + sampled++ % 9) {  // steps unlike those of any pattern in the data
    ++count[static_cast<std::size_t>(std::bit_width(codes[i] - base))];
  }
  Choice best{base, kWhole, 0};
  std::size_t above = 0;
  for (unsigned width = kWhole; width-- > 0;) {
    above += count[width + 1];
    const Choice choice{base, width, above * codes.size() / sampled};
    if (width <= kWidestPart && choice.bits(codes.size()) < best.bits(codes.size())) best = choice;
  }
  return best;
}

std::size_t count_patches(std::span<const std::uint64_t> codes, const Choice& choice) {
  if (choice.width == kWhole) return 0;
  std::size_t count = 0;
  for (const std::uint64_t code : codes) count += ((code - choice.base) >> choice.width) != 0 ? 1 : 0;
  return count;
}

// A base above a few odd low values: from a sample, of which it is nearly the least.
std::uint64_t low_value(std::span<const std::uint64_t> codes) {
  constexpr std::size_t kSample = 64, kRank = 3;
  std::array<std::int64_t, kSample> sample{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < codes.size() && count < kSample; i += 8 + count % 17) {
    sample[count++] = static_cast<std::int64_t>(codes[i]);
  }
  const auto place = sample.begin() + static_cast<std::ptrdiff_t>(std::min(kRank, count - 1));
  std::nth_element(sample.begin(), place, sample.begin() + static_cast<std::ptrdiff_t>(count));
  return static_cast<std::uint64_t>(*place);
}

Choice choose(std::span<const std::uint64_t> codes, std::int64_t least, std::int64_t most) {
  constexpr unsigned kNarrow = 1;  // not worth a second look
  const auto base = static_cast<std::uint64_t>(least);
  Choice best{base, stored_width(static_cast<std::uint64_t>(most) - base), 0};
  if (best.width <= kNarrow) return best;
  Choice patched = estimate(codes, base);
  const Choice other = estimate(codes, low_value(codes));
  if (other.bits(codes.size()) < patched.bits(codes.size())) patched = other;
  patched.patches = count_patches(codes, patched);
  return patched.bits(codes.size()) < best.bits(codes.size()) ? patched : best;
}

void put_little64(std::byte* to, std::uint64_t value) {
  if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap64(value);
  std::memcpy(to, &value, sizeof value);
}

std::uint64_t get_little64(const std::byte* from) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, sizeof value);
  return std::endian::native == std::endian::big ? __builtin_bswap64(value) : value;
}

void put_little16(std::byte* to, std::size_t value) {
  to[0] = static_cast<std::byte>(value);
  to[1] = static_cast<std::byte>(value >> 8U);
}

std::size_t get_little16(const std::byte* from) {
  return std::to_integer<std::size_t>(from[0]) | std::to_integer<std::size_t>(from[1]) << 8U;
}

// Writes up to a word beyond the codes.
void put_codes(std::byte* to, std::span<const std::uint64_t> codes, const Choice& choice) {
  if (choice.width == kWhole) {
    for (const std::uint64_t code : codes) put_little64(std::exchange(to, to + kWord), code - choice.base);
    return;
  }
  if (choice.width == 0) return;
  std::uint64_t open = 0;  // bits not yet written for good
  unsigned bits = 0;
  for (const std::uint64_t value : codes) {
    const std::uint64_t code = value - choice.base;
    open |= ((code >> choice.width) == 0 ? code : 0) << bits;
    bits += choice.width;
    put_little64(to, open);
    to += bits / 8;
    open >>= bits & ~7U;
    bits &= 7U;
  }
}

void put_patches(std::byte* to, std::span<const std::uint64_t> codes, const Choice& choice) {
  if (choice.patches == 0) return;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const std::uint64_t code = codes[i] - choice.base;
    if ((code >> choice.width) == 0) continue;
    put_little16(to, i);
    put_little64(to + 2, code);
    to += kPatch;
  }
}

struct Frame {
  unsigned width;
  ColumnCoding coding;
  std::uint64_t base, start;
  const std::byte* codes;
  std::span<const std::byte> patches;
};

class Codes {
 public:
  explicit Codes(const Frame& frame)
      : at_(frame.codes),
        width_(frame.width),
        mask_(frame.width == 0 ? 0 : ~std::uint64_t{0} >> (kWhole - frame.width)) {}
  std::uint64_t next() {
    const std::uint64_t code = get_little64(at_ + bit_ / 8) >> (bit_ & 7U) & mask_;
    bit_ += width_;
    return code;
  }

 private:
  const std::byte* at_;
  std::size_t bit_ = 0, width_;
  std::uint64_t mask_;
};

template <class T>
void unpack_values(const Frame& frame, std::span<T> values) {
  Codes codes(frame);
  for (T& value : values) value = static_cast<T>(frame.base + codes.next());
  for (std::size_t i = 0; i < frame.patches.size(); i += kPatch) {
    values[get_little16(&frame.patches[i])] = static_cast<T>(frame.base + get_little64(&frame.patches[i + 2]));
  }
}

template <class T>
void unpack_sums(const Frame& frame, std::span<T> values) {
  Codes codes(frame);
  std::uint64_t sum = frame.start;
  std::size_t row = 0;
  const auto unpack_to = [&](std::size_t end) {
    for (; row < end; ++row) {
      sum += frame.base + codes.next();
      values[row] = static_cast<T>(sum);
    }
  };
  for (std::size_t i = 0; i < frame.patches.size(); i += kPatch) {
    unpack_to(get_little16(&frame.patches[i]));
    sum += get_little64(&frame.patches[i + 2]);  // its code is 0
  }
  unpack_to(values.size());
}

// Do the rows of the patches ascend, and are they in the frame?
bool in_order(std::span<const std::byte> patches, std::size_t rows) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < patches.size(); i += kPatch) {
    const std::size_t row = get_little16(&patches[i]);
    if (row < next || row >= rows) return false;
    next = row + 1;
  }
  return true;
}

// Takes the next frame off the front of a block.
bool take_frame(std::span<const std::byte>& block, std::size_t rows, Frame& frame) {
  if (block.size() < kHeader + kWord) return false;
  frame.width = std::to_integer<unsigned>(block[0]);
  const auto coding = std::to_integer<unsigned>(block[1]);
  if ((frame.width > kWidestPart && frame.width != kWhole) || coding > 1) return false;
  frame.coding = static_cast<ColumnCoding>(coding);
  const std::size_t header = kHeader + (coding == 1 ? kStart : 0);
  const std::size_t codes = code_bytes(rows, frame.width);
  const std::size_t patches = get_little16(&block[2]) * kPatch;
  if (block.size() < header + codes + patches + kWord) return false;
  frame.base = get_little64(&block[4]);
  frame.start = coding == 1 ? get_little64(&block[kHeader]) : 0;
  frame.codes = &block[header];
  frame.patches = block.subspan(header + codes, patches);
  block = block.subspan(header + codes + patches);
  return in_order(frame.patches, rows);
}

template <class T>
bool unpack(std::span<const std::byte> block, std::span<T> values) {
  while (!values.empty()) {
    const std::span<T> rows = values.first(std::min(values.size(), kFrameRows));
    Frame frame;
    if (!take_frame(block, rows.size(), frame)) return false;
    if (frame.coding == ColumnCoding::kValues) {
      unpack_values(frame, rows);
    } else {
      unpack_sums(frame, rows);
    }
    values = values.subspan(rows.size());
  }
  return block.size() == kWord;
}

}  // namespace

std::int64_t block_hash(std::span<const std::byte> block) {
  return static_cast<std::int64_t>(hash64({reinterpret_cast<const char*>(block.data()), block.size()}));
}

void append_frame(std::vector<std::byte>& block, ColumnCoding coding, std::span<const std::int64_t> values) {
  std::array<std::uint64_t, kFrameRows> memory{};  // values or differences
  const std::span<std::uint64_t> codes = std::span(memory).first(values.size());
  // The first difference is 0 at first: replaced by one that costs nothing.
  auto before = static_cast<std::uint64_t>(values.front());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<std::uint64_t>(values[i]);
    codes[i] = coding == ColumnCoding::kValues ? value : value - before;
    before = value;
  }
  if (coding == ColumnCoding::kDifferences && codes.size() > 1) codes[0] = codes[1];
  std::int64_t least = static_cast<std::int64_t>(codes[0]);
  std::int64_t most = least;
  for (const std::uint64_t code : codes) {
    least = std::min(least, static_cast<std::int64_t>(code));
    most = std::max(most, static_cast<std::int64_t>(code));
  }
  const Choice choice = choose(codes, least, most);
  const bool differences = coding == ColumnCoding::kDifferences;
  const std::size_t header = kHeader + (differences ? kStart : 0);
  const std::size_t size = header + code_bytes(codes.size(), choice.width);
  const std::size_t begin = block.size();
  block.resize(begin + size + choice.patches * kPatch + kWord);
  std::byte* to = &block[begin];
  to[0] = static_cast<std::byte>(choice.width);
  to[1] = static_cast<std::byte>(coding);
  put_little16(to + 2, choice.patches);
  put_little64(to + 4, choice.base);
  if (differences) put_little64(to + kHeader, static_cast<std::uint64_t>(values.front()) - codes[0]);
  put_codes(to + header, codes, choice);
  put_patches(to + size, codes, choice);
  block.resize(begin + size + choice.patches * kPatch);
}

void end_block(std::vector<std::byte>& block) { block.insert(block.end(), kWord, std::byte{0}); }

bool unpack_block(std::span<const std::byte> block, std::span<std::int64_t> values) { return unpack(block, values); }
bool unpack_block(std::span<const std::byte> block, std::span<std::uint32_t> values) { return unpack(block, values); }

}  // namespace tracedb
