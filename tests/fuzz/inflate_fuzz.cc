// Decompression of whole and damaged streams: how much is read at once changes nothing; isa-l delivers what zlib does
// from streams without damage, and never other bytes than zlib before the damage; a stream of ours comes back whole.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/stream/compressed_source.h"
#include "fuzz_input.h"
#include "support/compressed_text.h"

namespace tracedb {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20U;  // of text: some inputs inflate a thousandfold
constexpr std::size_t kLargePiece = 300'000;               // takes blocks directly

struct Outcome {
  std::string text;
  StreamDamage damage = StreamDamage::kNone;
  std::size_t before_damage = 0;
  bool finished = false;  // within kMostBytes
  bool refused = false;   // settings out of reach, which is an Error
  bool recoded = false;   // read as UTF-16
};

// Opening looks at the first bytes, so that it may be what refuses.
template <class Open>
Outcome unpack(Open open, std::size_t piece) {
  Outcome out;
  std::string buffer(piece, '\0');
  try {
    const std::unique_ptr<ByteSource> source = open();
    while (!out.finished && out.text.size() < kMostBytes) {
      const std::size_t count = source->read(buffer.data(), piece);
      out.text.append(buffer, 0, count);
      out.finished = count == 0;
    }
    out.damage = source->damage();
    out.before_damage = out.damage == StreamDamage::kNone ? out.text.size() : source->damaged_at();
    out.recoded = source->encoding() != TextEncoding::kUtf8;
  } catch (const Error&) {
    out.finished = out.refused = true;
  }
  return out;
}

Outcome unpack_file(std::string_view content, std::size_t piece) {
  return unpack([&] { return memory_byte_source(content); }, piece);
}

using MakeDecoder = std::unique_ptr<StreamDecoder> (*)();
Outcome unpack_gzip(std::string_view content, MakeDecoder decoder, std::size_t piece) {
  const auto open = [&] { return compressed_byte_source(memory_raw_input(content), decoder()); };
  return unpack(open, piece);
}

void require_same_outcome(const Outcome& a, const Outcome& b, std::string_view promise) {
  if (!a.finished || !b.finished) return;
  require_same(a.text, b.text, promise);
  require(a.damage == b.damage && a.refused == b.refused, promise);
}

// Both see damage, or none. Where it lies, one may notice it some bytes before the other.
void check_decoders(std::string_view content, std::size_t piece) {
  const Outcome zlib = unpack_gzip(content, zlib_gzip_decoder, kLargePiece);
  require_same_outcome(unpack_gzip(content, zlib_gzip_decoder, piece), zlib, "zlib: pieces change nothing");
  if (isal_gzip_decoder() == nullptr) return;
  const Outcome isal = unpack_gzip(content, isal_gzip_decoder, kLargePiece);
  require_same_outcome(unpack_gzip(content, isal_gzip_decoder, piece), isal, "isa-l: pieces change nothing");
  const std::size_t both = std::min(zlib.before_damage, isal.before_damage);
  require_same(isal.text.substr(0, both), zlib.text.substr(0, both), "both decoders deliver the same bytes");
  if (zlib.finished && isal.finished && zlib.damage == StreamDamage::kNone) {
    require_same_outcome(isal, zlib, "isa-l accepts what zlib accepts");
  }
}

// Bytes of `content` flipped or cut off, as the input says.
void damage(std::string& content, FuzzInput& input) {
  for (std::size_t flips = input.byte() % 8U; flips > 0; --flips) {
    const std::size_t at = input.number(2) % content.size();
    content[at] = static_cast<char>(static_cast<unsigned char>(content[at]) ^ input.byte());
  }
  if ((input.byte() & 1U) != 0)
    content.resize(std::max<std::size_t>(4, content.size() - input.number(1) % content.size()));
}

void check_inflate(FuzzInput input) {
  const std::uint8_t mode = input.byte();
  const std::size_t piece = 1 + input.number(2);
  if (mode % 4 == 0) {  // the input is the file
    check_decoders(input.rest(), piece);
    unpack_file(input.rest(), piece);
    return;
  }
  FuzzInput damages(reinterpret_cast<const std::uint8_t*>(input.rest().data()), input.rest().size());
  const std::string text(input.rest());
  const std::size_t half = mode % 4 == 1 ? text.size() : text.size() / 2;  // one member or two
  const auto pack = [&](std::string_view part) {
    return mode % 4 == 3 ? zstd_text(part) : gzip_text(part, mode / 4 % 10);
  };
  std::string content = pack(std::string_view(text).substr(0, half)) + pack(std::string_view(text).substr(half));
  const Outcome intact = unpack_file(content, piece);
  if (!intact.recoded) require_same(intact.text, text, "what was packed comes back");
  require(intact.damage == StreamDamage::kNone, "what is whole is not called damaged");
  damage(content, damages);
  const Outcome whole = unpack_file(content, kLargePiece);
  require_same_outcome(unpack_file(content, piece), whole, "pieces change nothing");
  if (mode % 4 != 3) check_decoders(content, piece);
}

}  // namespace
}  // namespace tracedb

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {  // NOLINT
  tracedb::check_inflate(tracedb::FuzzInput(data, size));
  return 0;
}
