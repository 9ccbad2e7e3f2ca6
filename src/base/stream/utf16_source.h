// A ByteSource that turns UTF-16 into UTF-8 while it streams by; everything else passes through untouched. UTF-16 is
// recognised by its byte order mark, or without one by the zero bytes beside the first two characters of a JSON text.
// Surrogates without a partner, and half a unit at the end, become U+FFFD and are counted.
//
// Memory: some 200 KiB for UTF-16, nothing otherwise. Damage, hash and progress are those of the source below.
#pragma once

#include <memory>

#include "base/stream/byte_source.h"

namespace tracedb {

// Reads the first bytes of `source` at once.
std::unique_ptr<ByteSource> utf8_byte_source(std::unique_ptr<ByteSource> source);

}  // namespace tracedb
