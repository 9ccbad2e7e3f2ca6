// Kernels of the models that are no server's: training, vision, encoder and decoder, diffusion.
#pragma once

#include <span>

#include "make_trace/model/kernel_catalogue.h"

namespace tracedb {

std::span<const KernelKind> other_kernels();

}  // namespace tracedb
