// The platform and the device, from what the trace lists first under deviceProperties, whatever device was used.
#pragma once

#include "compare/wafer/trace.h"
#include "index/index.h"

namespace tracedb::wafer {

// AMD with a roctracer version, or warps of 64.
Platform platform_of(const Index& index);

Device read_device(const Index& index);

}  // namespace tracedb::wafer
