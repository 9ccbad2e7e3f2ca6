// JSON as Python's json module (3.11) reads it: the last of equal keys counts, integers have any size, NaN and Infinity
// are numbers, and what is wrong is said in its words.
//
// For the modes that reproduce Python programs byte for byte. Traces are read by src/ingest, which is far faster.
#pragma once

#include <functional>
#include <string_view>

#include "base/python/value.h"

namespace tracedb::python {

using ElementSink = std::function<void(Value&)>;

// json.loads(text). With `element`, the elements of a document that is a list go there one by one, and the list that
// is returned stays empty. Throws failure(): json.decoder.JSONDecodeError, ValueError, RecursionError.
Value read_json(std::string_view text, const ElementSink& element = {});

}  // namespace tracedb::python
