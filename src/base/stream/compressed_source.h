// A ByteSource over any decoder: feeds it from the file in 1 MiB pieces, continues with the next member after each one,
// also after a damaged one, and distinguishes the ways in which a stream can be damaged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "base/stream/byte_source.h"

namespace tracedb {

// One decompression library behind one small interface. A decoder handles one member (gzip) or frame (zstd) at a time;
// compressed_source handles what lies between members and the end of the file.
//
// One thread at a time. Damage is a status; only lack of memory is thrown, as std::bad_alloc.

enum class DecodeStatus { kMore, kMemberEnd, kBadChecksum, kCorrupt, kWindowTooLarge };

class StreamDecoder {
 public:
  virtual ~StreamDecoder() = default;
  // Takes from the front of `in` and fills the front of `out`; both are advanced past what was used.
  virtual DecodeStatus decode(std::span<const char>& in, std::span<char>& out) = 0;
  // Forgets the member before.
  virtual void reset() = 0;
  // Whether `bytes`, the next of the file (4 of them, fewer at its end), begin a member.
  [[nodiscard]] virtual bool begins_member(std::string_view bytes) const = 0;
  // The same of bytes anywhere behind damage (kHeaderSize of them, fewer at the end): true but once in 2^30 or more for
  // bytes that are none.
  [[nodiscard]] virtual bool surely_begins_member(std::string_view bytes) const = 0;
  static constexpr std::size_t kHeaderSize = 10;
};

bool is_gzip(std::string_view bytes);
bool is_gzip_header(std::string_view bytes);  // a whole one, with values that occur
bool is_zstd(std::string_view bytes);         // a frame, or one to be skipped, which some programs write first

// Whether a file says that it unpacks to so many bytes. Not said by some zstd frames and by files of several members.
bool says_it_holds(const std::filesystem::path& compressed, std::uint64_t bytes);

std::unique_ptr<StreamDecoder> isal_gzip_decoder();  // nullptr when built without isa-l
std::unique_ptr<StreamDecoder> zlib_gzip_decoder();
std::unique_ptr<StreamDecoder> zstd_decoder();

std::unique_ptr<ByteSource> compressed_byte_source(std::unique_ptr<RawInput> input,
                                                   std::unique_ptr<StreamDecoder> decoder);

}  // namespace tracedb
