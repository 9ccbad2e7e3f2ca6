// XXH3-128 of a file's own bytes: the identity of a trace. Not cryptographic; it guards against stale indexes, not
// against an adversary.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tracedb {

struct ContentHash {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend bool operator==(const ContentHash&, const ContentHash&) = default;
};

// 32 lower-case hexadecimal digits, high half first (the canonical form `xxh128sum` prints).
std::string to_hex(const ContentHash& hash);

class ContentHasher {
 public:
  ContentHasher();
  ~ContentHasher();
  ContentHasher& operator=(ContentHasher&&) = delete;
  void update(std::span<const char> bytes);
  [[nodiscard]] ContentHash digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

ContentHash hash_bytes(std::string_view bytes);
std::uint64_t hash64(std::string_view bytes);  // XXH3, 64 bits

// Full hash of a file. Throws Error{kInput} when it cannot be read, Error{kInterrupted} once `cancel` (may be null) is
// true.
ContentHash hash_file(const std::filesystem::path& path, const std::atomic<bool>* cancel = nullptr);

// Constant-time fingerprint: file size, first and last MiB and 64 evenly spaced blocks of 64 KiB (files up to 8 MiB:
// all bytes). It cannot see an edit in place between the blocks; the stored stat and the full hash are for that.
ContentHash sample_hash_file(const std::filesystem::path& path);

}  // namespace tracedb
