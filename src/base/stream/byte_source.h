// Bytes of a trace, read front to back into buffers of the caller, decompressed on the way where the content (never
// the file name) says gzip or zstd, and turned into UTF-8 where it is UTF-16. The file's own bytes are hashed as they
// pass (XXH3-128).
//
// One thread at a time. Reads with read(2), never mmap: a file that shrinks under us is a short read, not SIGBUS.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/stream/content_hash.h"

namespace tracedb {

// What became of the compressed stream, the worst of it; anything but kNone is reported as an issue of the trace.
enum class StreamDamage { kNone, kTruncated, kBadChecksum, kCorrupt, kTrailingBytes };

enum class TextEncoding { kUtf8, kUtf16LittleEndian, kUtf16BigEndian };

// Characters of another encoding that have no UTF-8 form and were delivered as U+FFFD.
struct Replacements {
  std::uint64_t count = 0;
  std::uint64_t first = 0;  // position of the first among the bytes delivered
};

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Fills up to `capacity` bytes; 0 only at the end. Throws Error{kInput} when the operating system reports a read
  // error. Damage of a compressed stream is not thrown: the bytes before it are delivered, then those of the members
  // (gzip) or frames (zstd) behind it, and damage() tells.
  virtual std::size_t read(char* destination, std::size_t capacity) = 0;

  [[nodiscard]] virtual StreamDamage damage() const { return StreamDamage::kNone; }
  // How many bytes were delivered when that was noticed.
  [[nodiscard]] virtual std::uint64_t damaged_at() const { return 0; }
  [[nodiscard]] virtual TextEncoding encoding() const { return TextEncoding::kUtf8; }
  [[nodiscard]] virtual Replacements replacements() const { return {}; }
  // Bytes taken from the file so far (compressed bytes for a compressed file); for progress.
  [[nodiscard]] virtual std::uint64_t consumed() const = 0;
  // Hash over the file's own bytes. Valid once read() has returned 0 and drain() has been called.
  [[nodiscard]] virtual ContentHash hash() const = 0;
  // Reads (and hashes) whatever the caller left unread, e.g. what follows the JSON document.
  virtual void drain() = 0;
};

// A source that can be looked at before it is read: a pipe cannot be rewound.
class PeekableSource : public ByteSource {
 public:
  // The first bytes, `size` of them where there are as many; still to be read. Before the first read() only, and valid
  // until the next call.
  virtual std::string_view peek(std::size_t size) = 0;
};

// Opens `path` ("-" is standard input). Throws Error{kInput}: missing, a directory, unreadable. `cancel`: see
// InputFile.
//
// UTF-16 becomes UTF-8 while it streams by; everything else passes through untouched. It is recognised by its byte
// order mark, or without one by the zero bytes beside the first two characters of a JSON text. Surrogates without a
// partner, and half a unit at the end, become U+FFFD and are counted. Memory: some 200 KiB for UTF-16.
std::unique_ptr<PeekableSource> open_byte_source(const std::filesystem::path& path,
                                                 const std::atomic<bool>* cancel = nullptr);

// The same over bytes in memory (not copied: `data` must outlive the source), for tests and fuzzing.
std::unique_ptr<PeekableSource> memory_byte_source(std::string_view data);

// The bytes of a file, hashed and counted as they are read: the layer below plain and compressed sources. One thread at
// a time; throws Error{kInput} on read errors.
class RawInput : public ByteSource {
 public:
  // Gives the next bytes; fewer than `capacity` only at the end.
  using Fetch = std::function<std::size_t(char* destination, std::size_t capacity)>;

  // `name`: printable.
  RawInput(std::string name, Fetch fetch) : name_(std::move(name)), fetch_(std::move(fetch)) {}

  // Fewer than `capacity` bytes only at the end.
  std::size_t read(char* destination, std::size_t capacity) final;
  // The first bytes (4, or all of a shorter file), still to be read; before the first read() only.
  std::string_view peek();
  void drain() final;

  [[nodiscard]] std::uint64_t consumed() const final { return consumed_; }
  [[nodiscard]] ContentHash hash() const final { return hasher_.digest(); }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  std::string name_;
  Fetch fetch_;
  std::array<char, 4> head_{};  // peeked at: a pipe cannot be rewound
  std::size_t head_size_ = 0;
  std::size_t head_taken_ = 0;
  std::uint64_t consumed_ = 0;
  ContentHasher hasher_;
};

// `data` must outlive the input.
std::unique_ptr<RawInput> memory_raw_input(std::string_view data);

}  // namespace tracedb
