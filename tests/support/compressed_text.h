// Compressed text for tests, made by the reference libraries.
#pragma once

#include <zlib.h>
#include <zstd.h>

#include <cstdint>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tracedb {

// Text that compresses about as well as a trace and is the same every time.
inline std::string compressible_text(std::size_t size) {
  std::string text;
  std::uint32_t seed = 1;
  while (text.size() < size) {
    seed = seed * 1664525 + 1013904223;
    text +=
        "{\"ph\":\"X\",\"name\":\"kernel_" + std::to_string(seed >> 26) + "\",\"ts\":" + std::to_string(seed) + "},\n";
  }
  text.resize(size);
  return text;
}

inline std::string gzip_text(std::string_view text, int level = 6) {
  z_stream stream{};
  if (deflateInit2(&stream, level, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int result = deflate(&stream, Z_FINISH);
  packed.resize(packed.size() - stream.avail_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::runtime_error("deflate failed");
  return packed;
}

// With a content checksum, as the zstd program writes it.
inline std::string zstd_text(std::string_view text) {
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  const std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size = ZSTD_compress2(context.get(), packed.data(), packed.size(), text.data(), text.size());
  if (ZSTD_isError(size) != 0) throw std::runtime_error("zstd failed");
  packed.resize(size);
  return packed;
}

}  // namespace tracedb
