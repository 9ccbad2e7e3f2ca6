#include "base/stream/content_hash.h"

#include <doctest/doctest.h>

#include <fstream>

#include "base/error.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

std::string patterned(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>((i * 2654435761U) >> 11);
  return text;
}

void flip_byte(const std::filesystem::path& path, std::size_t offset) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(offset));
  file.put('!');
}

}  // namespace

TEST_CASE("to_hex is the canonical form") {
  // XXH3-128 of nothing, as every implementation documents it.
  CHECK(to_hex(hash_bytes("")) == "99aa06d3014798d86001c324468d497f");
  CHECK(to_hex({1, 0xabc}) == "00000000000000010000000000000abc");
}

TEST_CASE("the hash does not depend on the pieces") {
  const std::string text = patterned(5000);
  for (std::size_t piece = 1; piece < 700; piece += 37) {
    ContentHasher hasher;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      hasher.update(std::span(text).subspan(at, std::min(piece, text.size() - at)));
    }
    CHECK(hasher.digest() == hash_bytes(text));
  }
}

TEST_CASE("hash64 tells texts apart") {
  CHECK(hash64("a") == hash64(std::string("a")));
  CHECK(hash64("a") != hash64("b"));
}

TEST_CASE("hash_file") {
  const TempDirectory directory;
  const std::string text = patterned(3'000'001);
  CHECK(hash_file(directory.write("trace", text)) == hash_bytes(text));
  CHECK(hash_file(directory.write("empty", "")) == hash_bytes(""));
  CHECK_THROWS_AS(hash_file(directory / "missing"), Error);
}

TEST_CASE("sample_hash_file") {
  const TempDirectory directory;
  SUBCASE("small files: every byte counts, and the size") {
    const auto path = directory.write("small", patterned(100'000));
    const auto before = sample_hash_file(path);
    CHECK(before == sample_hash_file(path));
    flip_byte(path, 54'321);
    CHECK(sample_hash_file(path) != before);
    CHECK(sample_hash_file(directory.write("empty", "")) != sample_hash_file(directory.write("zero", "0")));
  }
  SUBCASE("large files: head, tail and blocks") {
    const std::size_t size = 20'000'003;
    const auto path = directory.write("large", patterned(size));
    for (const std::size_t offset :
         {std::size_t{0}, std::size_t{1'000'000}, std::size_t{1} << 20, size - 1'100'000, size - 1}) {
      const auto before = sample_hash_file(path);
      flip_byte(path, offset);
      CAPTURE(offset);
      CHECK(sample_hash_file(path) != before);
    }
    const auto before = sample_hash_file(path);
    std::filesystem::resize_file(path, size - 1);
    CHECK(sample_hash_file(path) != before);
  }
}

}  // namespace tracedb
