// Models that are no server's: a transformer that is trained, two towers (vision and text), an encoder and a decoder
// with cross attention, and a diffusion transformer with double and single blocks that runs several times in a step.
#pragma once

#include "make_trace/model/model.h"

namespace tracedb {

Model other_model(const TraceOptions& options);

}  // namespace tracedb
