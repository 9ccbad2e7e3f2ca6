#include "base/stream/content_hash.h"

#include <fmt/format.h>
#include <xxhash.h>
// Lets the calls below use what the CPU has (44 instead of 18 GB/s with AVX-512), where the library was built so, as
// Debian's static one is not.
#if defined(__x86_64__) && !defined(TRACEDB_STATIC) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
#endif

#include <array>
#include <new>
#include <vector>

#include "base/error.h"
#include "base/files/input_file.h"

namespace tracedb {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kBlock = std::size_t{64} << 10;
constexpr std::uint64_t kBlockCount = 64;
constexpr std::uint64_t kHashedWhole = 8 * kMiB;

ContentHash from_xxh(XXH128_hash_t hash) { return {hash.high64, hash.low64}; }

// Hashes `length` bytes at `offset`, all of which were there when the size was asked.
void hash_range(const InputFile& file, std::uint64_t offset, std::size_t length, std::vector<char>& buffer,
                ContentHasher& hasher) {
  buffer.resize(length);
  if (file.read_at(offset, buffer.data(), length) != length) {
    throw Error(ErrorCode::kTransient,
                fmt::format("{}: became shorter while being read: try again when it is complete", file.name()));
  }
  hasher.update(buffer);
}

}  // namespace

struct ContentHasher::State {
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> xxh{XXH3_createState()};  // wants 64-byte alignment
};

std::string to_hex(const ContentHash& hash) { return fmt::format("{:016x}{:016x}", hash.high, hash.low); }

ContentHasher::ContentHasher() : state_(std::make_unique<State>()) {
  if (!state_->xxh) throw std::bad_alloc();
  XXH3_128bits_reset(state_->xxh.get());
}

ContentHasher::~ContentHasher() = default;

void ContentHasher::update(std::span<const char> bytes) {
  if (!bytes.empty()) XXH3_128bits_update(state_->xxh.get(), bytes.data(), bytes.size());
}

ContentHash ContentHasher::digest() const { return from_xxh(XXH3_128bits_digest(state_->xxh.get())); }

ContentHash hash_bytes(std::string_view bytes) { return from_xxh(XXH3_128bits(bytes.data(), bytes.size())); }

std::uint64_t hash64(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

ContentHash hash_file(const std::filesystem::path& path, const std::atomic<bool>* cancel) {
  InputFile file(path, cancel);
  file.expect_sequential_reads();
  ContentHasher hasher;
  std::vector<char> buffer(kMiB);
  while (const std::size_t got = file.read(buffer.data(), buffer.size())) {
    if (cancel != nullptr && cancel->load()) throw Error(ErrorCode::kInterrupted, "interrupted");
    hasher.update({buffer.data(), got});
  }
  return hasher.digest();
}

ContentHash sample_hash_file(const std::filesystem::path& path) {
  const InputFile file(path);
  if (!file.is_regular()) {
    throw Error(ErrorCode::kInput, fmt::format("{}: not a regular file: copy its content into one", file.name()));
  }
  const std::uint64_t size = file.size();
  std::array<char, 8> size_bytes{};
  for (std::size_t i = 0; i < size_bytes.size(); ++i) size_bytes[i] = static_cast<char>(size >> (8 * i) & 0xff);
  ContentHasher hasher;
  hasher.update(size_bytes);
  std::vector<char> buffer;
  if (size <= kHashedWhole) {
    hash_range(file, 0, static_cast<std::size_t>(size), buffer, hasher);
    return hasher.digest();
  }
  hash_range(file, 0, kMiB, buffer, hasher);
  const std::uint64_t span = size - 2 * kMiB - kBlock;  // of the starts of the blocks between head and tail
  for (std::uint64_t i = 0; i < kBlockCount; ++i) {
    hash_range(file, kMiB + span * i / (kBlockCount - 1), kBlock, buffer, hasher);
  }
  hash_range(file, size - kMiB, kMiB, buffer, hasher);
  return hasher.digest();
}

}  // namespace tracedb
