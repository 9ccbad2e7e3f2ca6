// Bandwidth of a collective from its size, as nccl-tests count (schema/METRICS.md 6).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tracedb {

// Bytes of an element, by the name a framework gives its type: "BFloat16", "Float8_e4m3fn", "Long" ...
std::optional<std::int64_t> element_size(std::string_view dtype);

// Bus bandwidth / algorithm bandwidth among `ranks`: 2(n-1)/n for all-reduce, (n-1)/n for all-gather, reduce-scatter,
// all-to-all, gather and scatter, 1 for broadcast, reduce, send and receive. Unknown for other names and no ranks.
std::optional<double> bus_factor(std::string_view collective, std::int64_t ranks);

}  // namespace tracedb
