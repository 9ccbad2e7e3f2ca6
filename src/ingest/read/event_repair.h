// Repairs the text of a damaged event where it is clear what was meant.
#pragma once

#include <string>
#include <string_view>

namespace tracedb {

// Invalid UTF-8 becomes U+FFFD, a raw control character in a string its \u escape (unless there are many zeros), and a
// quote inside a value (one behind which the value cannot end) \". Everything else stays as it is, so the result may
// still be no JSON.
std::string repaired_event(std::string_view text);

}  // namespace tracedb
