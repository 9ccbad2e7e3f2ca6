// A ByteSource over any decoder: feeds it from the file in 1 MiB pieces, follows one member with the next, tells apart
// the ways in which a stream can be damaged, and goes on behind damage at the next member.
#pragma once

#include <memory>

#include "base/byte_source.h"
#include "base/raw_input.h"
#include "base/stream_decoder.h"

namespace tracedb {

std::unique_ptr<ByteSource> compressed_byte_source(std::unique_ptr<RawInput> input,
                                                   std::unique_ptr<StreamDecoder> decoder, Compression compression);

}  // namespace tracedb
