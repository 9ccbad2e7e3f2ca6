#include "base/stream/compressed_source.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "support/compressed_text.h"

namespace tracedb {
namespace {

enum class Engine { kIsal, kZlib, kZstd };

std::vector<Engine> engines() {
  std::vector<Engine> all{Engine::kZlib, Engine::kZstd};
  if (isal_gzip_decoder()) all.push_back(Engine::kIsal);
  return all;
}

std::unique_ptr<StreamDecoder> decoder(Engine engine) {
  switch (engine) {
    case Engine::kIsal:
      return isal_gzip_decoder();
    case Engine::kZlib:
      return zlib_gzip_decoder();
    case Engine::kZstd:
      return zstd_decoder();
  }
  return nullptr;
}

std::string packed(Engine engine, std::string_view text) {
  return engine == Engine::kZstd ? zstd_text(text) : gzip_text(text);
}

struct Outcome {
  std::string text;
  StreamDamage damage;
  bool operator==(const Outcome&) const = default;
};

Outcome unpack(Engine engine, std::string_view content, std::size_t piece = 65536) {
  const auto source = compressed_byte_source(memory_raw_input(content), decoder(engine));
  Outcome outcome;
  std::vector<char> buffer(piece);
  while (const std::size_t got = source->read(buffer.data(), buffer.size())) outcome.text.append(buffer.data(), got);
  outcome.damage = source->damage();
  source->drain();
  CHECK(source->hash() == hash_bytes(content));
  CHECK(source->consumed() == content.size());
  return outcome;
}

}  // namespace

TEST_CASE("every engine unpacks, whatever the size of the reads") {
  const std::string text = compressible_text(400'000);
  for (const Engine engine : engines()) {
    const std::string content = packed(engine, text);
    for (const std::size_t piece : {std::size_t{7}, std::size_t{1000}, std::size_t{65536}, std::size_t{1} << 20}) {
      CAPTURE(piece);
      const bool same = unpack(engine, content, piece) == Outcome{text, StreamDamage::kNone};
      CHECK(same);
    }
    CHECK(unpack(engine, packed(engine, "")) == Outcome{"", StreamDamage::kNone});
    CHECK(unpack(engine, packed(engine, "x"), 1) == Outcome{"x", StreamDamage::kNone});
  }
}

TEST_CASE("members follow one another, also across the 1 MiB reads") {
  const std::string text = compressible_text(30'000);
  for (const Engine engine : engines()) {
    const std::string member = packed(engine, text);
    std::string content;
    std::string expected;
    while (content.size() < (std::size_t{5} << 20) / 2) {
      content += member + packed(engine, "") + packed(engine, "[]");
      expected += text + "[]";
    }
    const bool same = unpack(engine, content) == Outcome{expected, StreamDamage::kNone};
    CHECK(same);
  }
}

TEST_CASE("the border of two members at every place around the read border") {
  constexpr std::size_t kRead = std::size_t{1} << 20;
  std::string noise(kRead + 4096, '\0');
  std::uint32_t seed = 5;
  for (char& c : noise) c = static_cast<char>((seed = seed * 1664525 + 1013904223) >> 24);
  for (const Engine engine : engines()) {
    const std::size_t overhead = packed(engine, noise).size() - noise.size();
    for (std::size_t shift = 0; shift < 12; ++shift) {
      const std::string first = noise.substr(0, kRead - overhead - 6 + shift);
      const Outcome outcome = unpack(engine, packed(engine, first) + packed(engine, "tail"), 1 << 20);
      const bool same = outcome == Outcome{first + "tail", StreamDamage::kNone};
      CHECK(same);
    }
  }
}

TEST_CASE("trailing bytes are told, and nothing is lost") {
  const std::string text = compressible_text(50'000);
  for (const Engine engine : engines()) {
    for (const std::string& tail : {std::string(1, '\0'), std::string(1024, '\0'), std::string("\x1f"),
                                    std::string("\x28\xb5"), std::string("junk, long")}) {
      const bool same = unpack(engine, packed(engine, text) + tail) == Outcome{text, StreamDamage::kTrailingBytes};
      CHECK(same);
    }
  }
}

TEST_CASE("a stream cut anywhere is truncated, and what came before is delivered") {
  const std::string text = compressible_text(3'000);
  for (const Engine engine : engines()) {
    const std::string content = packed(engine, text);
    for (std::size_t size = engine == Engine::kZstd ? 4 : 2; size < content.size(); ++size) {
      const Outcome outcome = unpack(engine, content.substr(0, size), 512);
      CAPTURE(size);
      CHECK(outcome.damage == StreamDamage::kTruncated);
      CHECK(text.starts_with(outcome.text));
      if (engine != Engine::kZstd && size + 8 >= content.size()) CHECK(outcome.text == text);
    }
    const std::string second = content + content.substr(0, content.size() / 2);
    const Outcome outcome = unpack(engine, second);
    CHECK(outcome.damage == StreamDamage::kTruncated);
    CHECK(outcome.text.starts_with(text));
  }
}

TEST_CASE("a cut keeps most of the text") {
  const std::string text = compressible_text(2'000'000);
  for (const Engine engine : engines()) {
    const std::string content = packed(engine, text);
    const Outcome outcome = unpack(engine, content.substr(0, content.size() / 2));
    CHECK(outcome.damage == StreamDamage::kTruncated);
    CHECK(outcome.text.size() > text.size() * 4 / 10);
    const bool is_prefix = text.starts_with(outcome.text);
    CHECK(is_prefix);
  }
}

TEST_CASE("wrong checksums") {
  const std::string text = compressible_text(50'000);
  for (const Engine engine : engines()) {
    std::string content = packed(engine, text);
    const std::size_t at = content.size() - (engine == Engine::kZstd ? 2 : 7);
    content[at] = static_cast<char>(content[at] ^ 0x10);
    const bool same = unpack(engine, content) == Outcome{text, StreamDamage::kBadChecksum};
    CHECK(same);
  }
}

TEST_CASE("members behind damage are delivered") {
  const std::string text = compressible_text(50'000);
  const std::string last = compressible_text(70'000);
  for (const Engine engine : engines()) {
    const std::string sound = packed(engine, last);
    std::string checksum = packed(engine, text);
    const std::size_t at = checksum.size() - (engine == Engine::kZstd ? 2 : 7);
    checksum[at] = static_cast<char>(checksum[at] ^ 0x10);
    CHECK(unpack(engine, checksum + sound) == Outcome{text + last, StreamDamage::kBadChecksum});
    CHECK(unpack(engine, checksum + checksum + sound) == Outcome{text + text + last, StreamDamage::kBadChecksum});
    CHECK(unpack(engine, checksum + std::string(3'000'000, '\0') + sound + "junk") ==
          Outcome{text + last, StreamDamage::kBadChecksum});
    CHECK(unpack(engine, sound + std::string(512, '\0') + sound) == Outcome{last + last, StreamDamage::kTrailingBytes});
    std::string corrupt = packed(engine, text);
    for (std::size_t i = 0; i < 64; ++i) corrupt[corrupt.size() / 2 + i] = '\xff';
    for (const std::size_t piece : {std::size_t{999}, std::size_t{1} << 20}) {
      const Outcome outcome = unpack(engine, corrupt + sound, piece);
      CHECK((outcome.damage == StreamDamage::kCorrupt || outcome.damage == StreamDamage::kBadChecksum));
      CHECK(outcome.text.ends_with(last));
    }
    const Outcome cut = unpack(engine, checksum + sound.substr(0, sound.size() / 2));
    CHECK(cut.damage == StreamDamage::kTruncated);
    CHECK(cut.text.starts_with(text));
  }
}

TEST_CASE("beginnings of members that are none") {
  for (const Engine engine : engines()) {
    std::string content = packed(engine, "[]");
    for (int i = 0; i < 1000; ++i)
      content += packed(engine, "x").substr(0, engine == Engine::kZstd ? 5 : 10) + "\xff\xff";
    const Outcome outcome = unpack(engine, content + packed(engine, "{}"));
    CHECK(outcome.damage != StreamDamage::kNone);
    CHECK(outcome.text.starts_with("[]"));
    CHECK(outcome.text.ends_with("{}"));
  }
}

TEST_CASE("frames of zstd that are to be skipped") {
  const auto skippable = [](unsigned kind, const std::string& content) {
    std::string frame{static_cast<char>(0x50U + kind), '\x2a', '\x4d', '\x18'};
    for (unsigned i = 0; i < 4; ++i) frame += static_cast<char>(content.size() >> 8U * i & 0xffU);
    return frame + content;
  };
  const std::string text = compressible_text(50'000);
  const std::string frame = zstd_text(text);
  for (const unsigned kind : {0U, 15U}) {
    const std::string skipped = skippable(kind, std::string(100'000, 'x')) + skippable(kind, "");
    CHECK(is_zstd(skipped));
    for (const std::string& content : {skipped + frame, skipped + frame + skipped, frame + skipped}) {
      CHECK(unpack(Engine::kZstd, content) == Outcome{text, StreamDamage::kNone});
    }
    CHECK(unpack(Engine::kZstd, frame + skipped + frame) == Outcome{text + text, StreamDamage::kNone});
    CHECK(unpack(Engine::kZstd, (skipped + frame).substr(0, 5'000)).damage == StreamDamage::kTruncated);
  }
}

TEST_CASE("no flipped byte goes unnoticed, hangs or crashes") {
  const std::string text = compressible_text(3'000);
  for (const Engine engine : engines()) {
    const std::string content = packed(engine, text);
    for (std::size_t i = engine == Engine::kZstd ? 4 : 10; i < content.size(); ++i) {
      std::string bad = content;
      bad[i] = static_cast<char>(bad[i] ^ (1 << i % 8));
      const Outcome outcome = unpack(engine, bad);
      CAPTURE(i);
      CHECK((outcome.damage != StreamDamage::kNone || outcome.text == text));
    }
  }
}

TEST_CASE("what is delivered of a damaged stream does not depend on the size of the reads") {
  const std::string text = compressible_text(600'000);
  for (const Engine engine : engines()) {
    std::string content = packed(engine, text);
    for (std::size_t i = content.size() / 2; i < content.size() / 2 + 32; i += 5) {
      std::string bad = content;
      bad[i] = static_cast<char>(bad[i] ^ 0x55);
      const Outcome expected = unpack(engine, bad, std::size_t{1} << 20);
      for (const std::size_t piece : {std::size_t{64}, std::size_t{999}, std::size_t{300'000}}) {
        const bool same = unpack(engine, bad, piece) == expected;
        CHECK(same);
      }
    }
  }
}

TEST_CASE("corruption in the middle leaves the bytes before it") {
  const std::string text = compressible_text(3'000'000);
  for (const Engine engine : engines()) {
    std::string content = packed(engine, text);
    for (std::size_t i = 0; i < 64; ++i) content[content.size() / 2 + i] = '\xff';
    const Outcome outcome = unpack(engine, content, 1 << 20);
    CHECK((outcome.damage == StreamDamage::kCorrupt || outcome.damage == StreamDamage::kBadChecksum));
    CHECK(outcome.text.size() > text.size() * 4 / 10);
    CHECK(outcome.text.substr(0, text.size() / 4) == text.substr(0, text.size() / 4));
  }
}

}  // namespace tracedb
