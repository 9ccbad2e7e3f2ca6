// Integers as SQLite's files hold them: most significant byte first, and variable-length ("varint") of up to nine
// bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace tracedb {

inline void put_big16(std::byte* to, std::size_t value) {
  to[0] = static_cast<std::byte>(value >> 8);
  to[1] = static_cast<std::byte>(value);
}

inline void put_big32(std::byte* to, std::uint32_t value) {
  put_big16(to, value >> 16);
  put_big16(to + 2, value & 0xffff);
}

inline void put_big64(std::byte* to, std::uint64_t value) {
  if constexpr (std::endian::native == std::endian::little) value = __builtin_bswap64(value);
  std::memcpy(to, &value, sizeof value);
}

inline std::size_t get_big16(const std::byte* from) {
  return std::to_integer<std::size_t>(from[0]) << 8 | std::to_integer<std::size_t>(from[1]);
}
inline std::uint32_t get_big32(const std::byte* from) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | std::to_integer<std::uint32_t>(from[i]);
  return value;
}

// For values below 2^56, which take at most eight bytes of seven bits. The count of rows and bytes in one file stays
// below.
inline std::size_t varint_size(std::uint64_t value) {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}

inline std::byte* put_varint(std::byte* to, std::uint64_t value, std::size_t size) {
  for (std::size_t i = size; i-- > 0; value >>= 7) {
    to[i] = static_cast<std::byte>((value & 0x7f) | (i + 1 < size ? 0x80 : 0));
  }
  return to + size;
}

// The header of a database file (sqlite.org/fileformat2.html, "The Database Header"): its size, what it begins with,
// and where its fields are.
inline constexpr std::size_t kFileHeader = 100;
inline constexpr std::string_view kFileMagic{"SQLite format 3\0", 16};
inline constexpr std::size_t kPageSizeAt = 16, kFormatVersionsAt = 18, kReservedAt = 20, kChangeCounterAt = 24,
                             kPageCountAt = 28, kAutoVacuumAt = 52, kUserVersionAt = 60, kApplicationIdAt = 68,
                             kVersionValidForAt = 92;

// The field has 16 bits: 65536 is written as 1.
inline std::size_t page_size_in(std::span<const std::byte, kFileHeader> header) {
  const std::size_t size = get_big16(&header[kPageSizeAt]);
  return size == 1 ? 65536 : size;
}

// Pages of tables in SQLite's files: the byte that tells their kind, and the size of their headers
// (sqlite.org/fileformat2.html, "B-tree Pages").
inline constexpr std::byte kLeafPage{0x0d}, kInteriorPage{0x05};
inline constexpr std::size_t kLeafHeader = 8, kInteriorHeader = 12;

}  // namespace tracedb
