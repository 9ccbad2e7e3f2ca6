// Blocks of fixed-size records in a nameless temporary file. Neighbours in a sorted block differ little, so each 64-bit
// word of a record is stored as its difference from that word of the record before, in 0 to 8 bytes, behind four bits
// for each word that say how many: less than half of the bytes to write and read again. One thread.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <type_traits>
#include <vector>

#include "base/files/file_descriptor.h"

namespace tracedb {

template <class Record>
class RecordFile {
  static_assert(std::is_trivially_copyable_v<Record>);

 public:
  // Throws Error{kResource} when `directory` does not let us create a file.
  explicit RecordFile(const std::filesystem::path& directory) : file_(directory) {}

  [[nodiscard]] std::size_t blocks() const { return blocks_.size(); }
  [[nodiscard]] std::uint64_t bytes() const { return file_.size() + packed_.size(); }

  void append(std::span<const Record> block) {
    const std::size_t first = packed_.size();
    packed_.resize(first + block.size() * kMost + kSlack);
    std::byte* end = packed_.data() + first;
    Words before{};
    for (const Record& record : block) end = pack(record, before, end);
    packed_.resize(static_cast<std::size_t>(end - packed_.data()));
    blocks_.push_back({file_.size() + first, static_cast<std::uint32_t>(packed_.size() - first),
                       static_cast<std::uint32_t>(block.size())});
    if (packed_.size() >= kBuffer) flush();
  }

  // Replaces what is in `records`. `number`: 0 for the block appended first.
  void read(std::size_t number, std::vector<Record>& records) {
    if (!packed_.empty()) {
      flush();
      packed_ = std::vector<std::byte>();  // as a rule all is read behind the last block
    }
    const Block& block = blocks_[number];
    scratch_.resize(block.bytes + kSlack);
    file_.read(block.offset, std::span(scratch_).first(block.bytes));
    records.resize(block.records);
    const std::byte* next = scratch_.data();
    Words words{};
    for (Record& record : records) next = unpack(next, words, record);
  }

 private:
  static constexpr std::size_t kWords = (sizeof(Record) + 7) / 8;
  static constexpr std::size_t kLengths = (kWords + 1) / 2;  // bytes of the lengths, two words in each
  static constexpr std::size_t kMost = kLengths + 8 * kWords;
  static constexpr std::size_t kSlack = 8;  // each word is written and read as eight bytes
  static constexpr std::size_t kBuffer = std::size_t{64} << 10U;

  using Words = std::array<std::uint64_t, kWords>;
  struct Block {
    std::uint64_t offset;
    std::uint32_t bytes, records;
  };

  // Small differences of either sign as small numbers: 0, -1, 1, -2 ... as 0, 1, 2, 3 ...
  static std::uint64_t folded(std::uint64_t difference) { return (difference << 1U) ^ (0U - (difference >> 63U)); }
  static std::uint64_t unfolded(std::uint64_t number) { return (number >> 1U) ^ (0U - (number & 1U)); }

  static std::byte* pack(const Record& record, Words& before, std::byte* into) {
    Words words{};
    std::memcpy(words.data(), &record, sizeof(record));
    std::array<std::uint8_t, kLengths> lengths{};
    std::byte* next = into + kLengths;
    for (std::size_t i = 0; i < kWords; ++i) {
      const std::uint64_t number = folded(words[i] - before[i]);
      const unsigned length = (static_cast<unsigned>(std::bit_width(number)) + 7) / 8;
      lengths[i / 2] |= static_cast<std::uint8_t>(length << (i % 2 * 4));
      std::memcpy(next, &number, sizeof(number));
      next += length;
    }
    std::memcpy(into, lengths.data(), kLengths);
    before = words;
    return next;
  }

  static const std::byte* unpack(const std::byte* from, Words& words, Record& record) {
    const std::byte* next = from + kLengths;
    for (std::size_t i = 0; i < kWords; ++i) {
      const unsigned length = (static_cast<unsigned>(from[i / 2]) >> (i % 2 * 4)) & 0xFU;
      std::uint64_t number = 0;
      std::memcpy(&number, next, sizeof(number));
      words[i] += unfolded(length == 0 ? 0 : number & ~std::uint64_t{0} >> (64 - 8 * length));
      next += length;
    }
    std::memcpy(static_cast<void*>(&record), words.data(), sizeof(record));
    return next;
  }

  void flush() {
    file_.append(packed_);
    packed_.clear();
  }

  TempFile file_;
  std::vector<Block> blocks_;
  std::vector<std::byte> packed_;  // not yet in the file
  std::vector<std::byte> scratch_;
};

}  // namespace tracedb
