// A ByteSource over any decoder: feeds it from the file in 1 MiB pieces, continues with the next member after each one,
// also after a damaged one, and distinguishes the ways in which a stream can be damaged.
#pragma once

#include <memory>

#include "base/stream/byte_source.h"
#include "base/stream/raw_input.h"
#include "base/stream/stream_decoder.h"

namespace tracedb {

std::unique_ptr<ByteSource> compressed_byte_source(std::unique_ptr<RawInput> input,
                                                   std::unique_ptr<StreamDecoder> decoder, Compression compression);

}  // namespace tracedb
