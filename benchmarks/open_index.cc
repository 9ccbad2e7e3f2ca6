// tracedb-open INDEX [N]: opens an index and checks that it still describes its trace, N times (default 101), as every
// query does first. Prints one JSON line with the time of the first and the median of all.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include "index/index.h"
#include "index/validity.h"

namespace {

double open_once(const char* path) {
  const auto start = std::chrono::steady_clock::now();
  const tracedb::Index index = tracedb::Index::open(path);
  const tracedb::ValidityResult result =
      tracedb::check_validity(index, tracedb::source_of(index), tracedb::Effort::kQuick);
  if (result.validity != tracedb::Validity::kValid) throw std::runtime_error("not valid: " + result.reason);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 2 || argc > 3) throw std::runtime_error("usage: tracedb-open INDEX [N]");
    const std::size_t repetitions = argc == 3 ? std::strtoull(argv[2], nullptr, 10) : 101;
    std::vector<double> seconds;
    for (std::size_t i = 0; i < std::max<std::size_t>(1, repetitions); ++i) seconds.push_back(open_once(argv[1]));
    const double first = seconds.front();
    std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2), seconds.end());
    fmt::print(R"({{"repetitions": {}, "first_seconds": {:.9f}, "median_seconds": {:.9f}}})"
               "\n",
               seconds.size(), first, seconds[seconds.size() / 2]);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "tracedb-open: {}\n", error.what());
    return 1;
  }
}
