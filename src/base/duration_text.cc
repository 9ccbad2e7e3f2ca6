#include "base/duration_text.h"

#include <fmt/format.h>

#include <cmath>

namespace tracedb {

std::string duration_text(double ns) {
  const double size = std::fabs(ns);
  if (size >= 1e9) return fmt::format("{:.3f} s", ns / 1e9);
  if (size >= 1e6) return fmt::format("{:.3f} ms", ns / 1e6);
  if (size >= 1e3) return fmt::format("{:.3f} us", ns / 1e3);
  return fmt::format("{:.0f} ns", ns);
}

}  // namespace tracedb
