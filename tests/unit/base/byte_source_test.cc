#include "base/stream/byte_source.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/stream/compressed_source.h"
#include "base/text/characters.h"
#include "support/compressed_text.h"
#include "support/refused.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

std::string read_all(ByteSource& source, std::size_t piece = 65536) {
  std::string text;
  std::vector<char> buffer(piece);
  while (const std::size_t got = source.read(buffer.data(), buffer.size())) text.append(buffer.data(), got);
  return text;
}

std::string open_error(const std::filesystem::path& path) {
  return refused(ErrorCode::kInput, [&] { open_byte_source(path); });
}

TEST_CASE("a plain file is delivered, counted and hashed") {
  const TempDirectory directory;
  const std::string text = compressible_text(3'000'000);
  const auto source = open_byte_source(directory.write("trace.json.gz", text));  // named wrongly on purpose
  CHECK(read_all(*source) == text);
  source->drain();
  CHECK(source->damage() == StreamDamage::kNone);
  CHECK(source->consumed() == text.size());
  CHECK(source->hash() == hash_bytes(text));
}

TEST_CASE("short files and small reads") {
  const TempDirectory directory;
  for (std::size_t size = 0; size < 9; ++size) {
    const std::string text = std::string("[1,2,3,4]").substr(0, size);
    for (std::size_t piece = 1; piece < 10; ++piece) {
      const auto source = open_byte_source(directory.write("short", text));
      CHECK(read_all(*source, piece) == text);
      source->drain();
      CHECK(source->hash() == hash_bytes(text));
      CHECK(read_all(*memory_byte_source(text), piece) == text);
    }
  }
}

TEST_CASE("drain hashes what the reader left") {
  const TempDirectory directory;
  const std::string text = compressible_text(2'500'000);
  for (const std::string& content : {text, gzip_text(text), zstd_text(text)}) {
    const auto source = open_byte_source(directory.write("trace", content));
    char few[10];
    CHECK(source->read(few, sizeof(few)) == sizeof(few));
    source->drain();
    CHECK(source->consumed() == content.size());
    CHECK(source->hash() == hash_bytes(content));
    CHECK(source->damage() == StreamDamage::kNone);
    char none[1];
    CHECK(source->read(none, 1) == 0);
  }
}

TEST_CASE("drain finds damage behind what was read") {
  std::string content = gzip_text(compressible_text(2'500'000));
  content[content.size() - 6] = static_cast<char>(content[content.size() - 6] ^ 1);
  const auto source = memory_byte_source(content);
  char few[10];
  source->read(few, sizeof(few));
  CHECK(source->damage() == StreamDamage::kNone);
  source->drain();
  CHECK(source->damage() == StreamDamage::kBadChecksum);
}

TEST_CASE("compression is found in the content, not in the name") {
  const TempDirectory directory;
  const std::string text = compressible_text(100'000);
  for (const std::string& content : {gzip_text(text), zstd_text(text)}) {
    CHECK(read_all(*open_byte_source(directory.write("a.json", content))) == text);
  }
}

TEST_CASE("a FIFO is read, with its first bytes") {
  const TempDirectory directory;
  const auto path = directory / "fifo";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  const std::string text = compressible_text(300'000);
  const std::string packed = gzip_text(text);
  for (const std::string& content : {text, packed}) {
    std::thread writer([&] { std::ofstream(path, std::ios::binary) << content; });
    const auto source = open_byte_source(path);
    CHECK(read_all(*source) == text);
    source->drain();
    CHECK(source->hash() == hash_bytes(content));
    writer.join();
  }
}

TEST_CASE("what cannot be opened is said in one line") {
  const TempDirectory directory;
  const std::string where = directory.path().string();
  CHECK(open_error(directory / "none.json") == where + "/none.json: no such file: check the name");
  CHECK(open_error(directory / "") == where + "/: is a directory: name a file inside it");
  CHECK(open_error(directory / "line\nbreak\x7f") == where + "/line\\x0abreak\\x7f: no such file: check the name");
  CHECK(open_error("/dev/null") == "/dev/null: not a regular file: copy its content into one");
  const auto secret = directory.write("secret", "[]");
  std::filesystem::permissions(secret, std::filesystem::perms::none);
  if (geteuid() != 0) {
    CHECK(open_error(secret) == where + "/secret: permission denied: make it readable for this user");
  }
}

TEST_CASE("file names of any bytes") {
  const TempDirectory directory;
  for (const char* name : {"\xff\xfe name", "a\nb", "'\"$(x)", " ", "-"}) {
    CHECK(read_all(*open_byte_source(directory.write(name, "[1]"))) == "[1]");
  }
}

enum class Order { kLittle, kBig };

std::string units(const std::vector<std::uint32_t>& values, Order order) {
  std::string out;
  for (const std::uint32_t value : values) {
    const char low = static_cast<char>(value & 0xFFU);
    const char high = static_cast<char>(value >> 8U);
    out += order == Order::kLittle ? low : high;
    out += order == Order::kLittle ? high : low;
  }
  return out;
}

void append_units(std::vector<std::uint32_t>& out, std::uint32_t code_point) {
  if (code_point < 0x10000) {
    out.push_back(code_point);
  } else {
    out.push_back(0xD800 + ((code_point - 0x10000) >> 10U));
    out.push_back(0xDC00 + ((code_point - 0x10000) & 0x3FFU));
  }
}

std::string utf16(std::string_view ascii, Order order) {
  std::vector<std::uint32_t> values;
  for (const char c : ascii) values.push_back(static_cast<unsigned char>(c));
  return units(values, order);
}

struct Decoded {
  std::string text;
  TextEncoding encoding;
  Replacements replacements;
};

Decoded read_all(std::string_view bytes, std::size_t piece = 4096) {
  const auto source = memory_byte_source(bytes);
  Decoded read;
  std::string buffer(piece, '\0');
  while (const std::size_t got = source->read(buffer.data(), piece)) read.text.append(buffer, 0, got);
  source->drain();
  CHECK(source->hash() == hash_bytes(bytes));
  CHECK(source->consumed() == bytes.size());
  read.encoding = source->encoding();
  read.replacements = source->replacements();
  return read;
}

constexpr std::string_view kMark = "\xEF\xBB\xBF";
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

TEST_CASE("every character becomes its UTF-8 form, whatever stands before it") {
  std::vector<std::uint32_t> values = {0xFEFF};
  std::string expected(kMark);
  for (std::uint32_t code_point = 1; code_point <= 0x10FFFF; ++code_point) {
    if (code_point >= 0xD800 && code_point < 0xE000) continue;
    append_units(values, code_point);
    append_utf8(expected, code_point);
    if (code_point % 5 != 0) continue;  // so that every character meets every place in a group of four units
    values.push_back('x');
    expected += 'x';
  }
  for (const Order order : {Order::kLittle, Order::kBig}) {
    const Decoded read = read_all(units(values, order));
    CHECK(read.text == expected);
    CHECK(read.replacements.count == 0);
    CHECK(read.encoding ==
          (order == Order::kLittle ? TextEncoding::kUtf16LittleEndian : TextEncoding::kUtf16BigEndian));
  }
}

TEST_CASE("without a mark: the zeros beside the first characters tell") {
  for (const std::string_view text : {"[]", "{}", "{\"a\":1}", "\n[1]", " {\"traceEvents\":[]}"}) {
    for (const Order order : {Order::kLittle, Order::kBig}) {
      const Decoded read = read_all(utf16(text, order));
      CHECK(read.text == text);
      CHECK(read.encoding != TextEncoding::kUtf8);
    }
    CHECK(read_all(text).text == text);
    CHECK(read_all(text).encoding == TextEncoding::kUtf8);
  }
  using namespace std::string_view_literals;
  for (const std::string_view bytes : {"a\0b\0"sv, "[\0\0\0"sv, "\0\0\0["sv, "[\0"sv, "{\"\0\0"sv, "\0[a\0"sv, ""sv}) {
    CHECK(read_all(bytes).encoding == TextEncoding::kUtf8);
    CHECK(read_all(bytes).text == bytes);
  }
}

TEST_CASE("any size of read, any size of file, compressed or not") {
  std::vector<std::uint32_t> values = {0xFEFF};
  std::string expected(kMark);
  for (std::uint32_t i = 0; i < 40; ++i) {
    const std::uint32_t code_point = i % 7 == 3 ? 0x1F600 + i : i % 5 == 2 ? 0x4E00 + i : 'a' + i % 26;
    append_units(values, code_point);
    append_utf8(expected, code_point);
  }
  const std::string bytes = units(values, Order::kLittle);
  for (std::size_t piece = 1; piece < 20; ++piece) CHECK(read_all(bytes, piece).text == expected);
  CHECK(read_all(gzip_text(bytes)).text == expected);
  CHECK(read_all(zstd_text(bytes)).encoding == TextEncoding::kUtf16LittleEndian);
  // Characters of two units across the pieces the file is read in.
  for (std::size_t shift = 0; shift < 4; ++shift) {
    std::vector<std::uint32_t> many(32764 + shift, 'x');
    std::string text(many.size(), 'x');
    many.insert(many.begin(), 0xFEFF);
    for (int i = 0; i < 20000; ++i) {
      append_units(many, 0x10437);
      append_utf8(text, 0x10437);
    }
    CHECK(read_all(units(many, Order::kBig)).text == std::string(kMark) + text);
  }
}

TEST_CASE("surrogates without a partner are replaced and counted") {
  const std::string r(kReplacement);
  const auto converted = [](std::vector<std::uint32_t> values) {
    values.insert(values.begin(), {'[', ' '});
    const Decoded little = read_all(units(values, Order::kLittle), 3), big = read_all(units(values, Order::kBig), 3);
    CHECK(little.text == big.text);
    CHECK(little.replacements.count == big.replacements.count);
    return std::pair(big.text.substr(2), big.replacements);
  };
  for (std::uint32_t half = 0xD800; half < 0xE000; ++half) {
    const auto [alone, one] = converted({half});
    CHECK(alone == r);
    CHECK(one.count == 1);
    CHECK(one.first == 2);
    CHECK(converted({'a', half, 'b'}).first == "a" + r + "b");
  }
  CHECK(converted({0xDC00, 0xD800}).first == r + r);
  CHECK(converted({0xD800, 0xD800, 0xDC00}).first == r + "\xF0\x90\x80\x80");
  CHECK(converted({0xD800, 0xD800, 0xDC00}).second.count == 1);
  const Decoded cut = read_all(utf16("[1]", Order::kLittle) + "x");
  CHECK(cut.text == "[1]" + r);
  CHECK(cut.replacements.count == 1);
  CHECK(cut.replacements.first == 3);
}

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

TEST_CASE("every engine unpacks, whatever the size of the reads") {
  const std::string text = compressible_text(400'000);
  for (const Engine engine : engines()) {
    const std::string content = packed(engine, text);
    for (const std::size_t piece : {7U, 1000U, 65536U, 1U << 20U}) {
      CAPTURE(piece);
      CHECK((unpack(engine, content, piece) == Outcome{text, StreamDamage::kNone}));
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
    CHECK((unpack(engine, content) == Outcome{expected, StreamDamage::kNone}));
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
      CHECK((outcome == Outcome{first + "tail", StreamDamage::kNone}));
    }
  }
}

TEST_CASE("trailing bytes are told, and nothing is lost") {
  const std::string text = compressible_text(50'000);
  for (const Engine engine : engines()) {
    for (const std::string& tail : {std::string(1, '\0'), std::string(1024, '\0'), std::string("\x1f"),
                                    std::string("\x28\xb5"), std::string("junk, long")}) {
      CHECK((unpack(engine, packed(engine, text) + tail) == Outcome{text, StreamDamage::kTrailingBytes}));
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

TEST_CASE("a cut, and corruption in the middle, keep most of the text before it") {
  const std::string text = compressible_text(3'000'000);
  for (const Engine engine : engines()) {
    std::string content = packed(engine, text);
    const Outcome cut = unpack(engine, content.substr(0, content.size() / 2));
    CHECK(cut.damage == StreamDamage::kTruncated);
    CHECK(cut.text.size() > text.size() * 4 / 10);
    CHECK((text.starts_with(cut.text)));
    for (std::size_t i = 0; i < 64; ++i) content[content.size() / 2 + i] = '\xff';
    const Outcome corrupt = unpack(engine, content, 1 << 20);
    CHECK((corrupt.damage == StreamDamage::kCorrupt || corrupt.damage == StreamDamage::kBadChecksum));
    CHECK(corrupt.text.size() > text.size() * 4 / 10);
    CHECK(corrupt.text.substr(0, text.size() / 4) == text.substr(0, text.size() / 4));
  }
}

TEST_CASE("wrong checksums are told, and members behind damage are delivered") {
  const std::string text = compressible_text(50'000);
  const std::string last = compressible_text(70'000);
  for (const Engine engine : engines()) {
    const std::string sound = packed(engine, last);
    std::string checksum = packed(engine, text);
    const std::size_t at = checksum.size() - (engine == Engine::kZstd ? 2 : 7);
    checksum[at] = static_cast<char>(checksum[at] ^ 0x10);
    CHECK(unpack(engine, checksum) == Outcome{text, StreamDamage::kBadChecksum});
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
        CHECK((unpack(engine, bad, piece) == expected));
      }
    }
  }
}

}  // namespace
}  // namespace tracedb
