#include "base/stream/byte_source.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>
#include <vector>

#include "base/error.h"
#include "support/compressed_text.h"
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
  try {
    open_byte_source(path);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::kInput);
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a plain file is delivered, counted and hashed") {
  const TempDirectory directory;
  const std::string text = compressible_text(3'000'000);
  const auto source = open_byte_source(directory.write("trace.json.gz", text));  // named wrongly on purpose
  CHECK(read_all(*source) == text);
  source->drain();
  CHECK(source->compression() == Compression::kNone);
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
  const auto gzip = open_byte_source(directory.write("a.json", gzip_text(text)));
  CHECK(gzip->compression() == Compression::kGzip);
  CHECK(read_all(*gzip) == text);
  const auto zstd = open_byte_source(directory.write("b.json", zstd_text(text)));
  CHECK(zstd->compression() == Compression::kZstd);
  CHECK(read_all(*zstd) == text);
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

}  // namespace tracedb
