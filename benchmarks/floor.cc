// tracedb-floor TRACE.json: the floor under any ingest of this trace with simdjson. One thread reads the file in chunks
// into a reused buffer, cuts at the last event that is complete, and walks every key and value of every event with
// simdjson On-Demand. Nothing is extracted, stored or hashed. Prints one JSON line; exits 1 if the walk fails.
//
// Plain JSON only; the cut is exact (scan_structure), for a chunk cannot be parsed without one; its share is reported.
#include <fmt/format.h>
#include <simdjson.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "ingest/read/structural_scan.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kChunkSize = std::size_t{1} << 20U;

struct Totals {
  std::uint64_t bytes = 0;
  std::uint64_t events = 0;
  std::uint64_t values = 0;       // every key's value, at every depth
  std::uint64_t token_bytes = 0;  // keeps the compiler from dropping the walk
  Clock::duration cutting{};
};

void walk(simdjson::ondemand::value value, Totals& totals) {
  switch (value.type()) {
    case simdjson::ondemand::json_type::object:
      for (auto field : value.get_object()) {
        ++totals.values;
        totals.token_bytes += static_cast<unsigned char>(field.key().raw()[0]);
        walk(field.value(), totals);
      }
      break;
    case simdjson::ondemand::json_type::array:
      for (auto element : value.get_array()) walk(element.value(), totals);
      break;
    default:
      totals.token_bytes += value.raw_json_token().size();
  }
}

// Walks "[" + events + "]": `bytes` has room for the brackets and for simdjson's padding.
void walk_events(simdjson::ondemand::parser& parser, std::vector<char>& bytes, std::size_t size, Totals& totals) {
  bytes[0] = '[';
  const char behind = bytes[size];
  bytes[size] = ']';
  simdjson::ondemand::document document = parser.iterate(bytes.data(), size + 1, bytes.size());
  for (auto event : document.get_array()) {
    ++totals.events;
    walk(event.value(), totals);
  }
  bytes[size] = behind;
}

// Position behind the bracket that opens the array of events. A name in front of it that holds the same text would
// mislead this; the walk then fails, loudly.
std::size_t events_begin(std::string_view head) {
  const std::size_t key = head.find("\"traceEvents\"");
  if (key == std::string_view::npos && head.find_first_not_of(" \t\r\n") != head.find('[')) {
    throw std::runtime_error("no traceEvents in the first chunk");
  }
  const std::size_t open = head.find('[', key == std::string_view::npos ? 0 : key);
  if (open == std::string_view::npos) throw std::runtime_error("no array of events in the first chunk");
  return open + 1;
}

class Floor {
 public:
  explicit Floor(const char* path) : file_(path, std::ios::binary) {
    if (!file_) throw std::runtime_error(fmt::format("cannot open {}", path));
    bytes_.resize(1 + kChunkSize + simdjson::SIMDJSON_PADDING);
  }

  Totals run() {
    used_ = 1;
    std::size_t scanned = 1;
    bool first = true;
    while (!ended_ && fill()) {
      if (first) {
        const std::size_t begin = 1 + events_begin({bytes_.data() + 1, used_ - 1});
        std::memmove(bytes_.data() + 1, bytes_.data() + begin, used_ - begin);
        used_ -= begin - 1;
        first = false;
      }
      scanned = cut_and_walk(scanned);
    }
    if (!ended_) throw std::runtime_error("the array of events does not end");
    return totals_;
  }

 private:
  // Reads behind what is left of the last chunk; an event longer than the buffer makes it grow.
  bool fill() {
    if (bytes_.size() - used_ - simdjson::SIMDJSON_PADDING < kChunkSize / 2) bytes_.resize(bytes_.size() * 2);
    const std::size_t room = bytes_.size() - used_ - simdjson::SIMDJSON_PADDING;
    file_.read(bytes_.data() + used_, static_cast<std::streamsize>(room));
    const auto count = static_cast<std::size_t>(file_.gcount());
    totals_.bytes += count;
    used_ += count;
    return count > 0;
  }

  std::size_t cut_and_walk(std::size_t scanned) {
    const auto start = Clock::now();
    const tracedb::ScanResult cut = tracedb::scan_structure({bytes_.data() + scanned, used_ - scanned}, state_);
    totals_.cutting += Clock::now() - start;
    if (cut.suspicion != tracedb::Suspicion::kNone) throw std::runtime_error("damaged, or an event beyond 64 KiB");
    ended_ = cut.end != tracedb::ScanResult::kNone;
    if (!ended_ && cut.last_comma == tracedb::ScanResult::kNone) return used_;
    const std::size_t size = scanned + (ended_ ? cut.end : cut.last_comma);
    walk_events(parser_, bytes_, size, totals_);
    const std::size_t left = used_ - size - 1;
    std::memmove(bytes_.data() + 1, bytes_.data() + size + 1, left);
    used_ = 1 + left;
    return used_;
  }

  std::ifstream file_;
  std::vector<char> bytes_;
  std::size_t used_ = 1;  // valid bytes, counting the slot for '['
  bool ended_ = false;
  tracedb::ScanState state_;
  simdjson::ondemand::parser parser_;
  Totals totals_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw std::runtime_error("usage: tracedb-floor TRACE.json");
    const auto start = Clock::now();
    const Totals totals = Floor(argv[1]).run();
    const std::chrono::duration<double> seconds = Clock::now() - start;
    fmt::print(
        R"({{"bytes": {}, "events": {}, "values": {}, "token_bytes": {}, "seconds": {:.6f}, "cut_seconds": {:.6f}}})"
        "\n",
        totals.bytes, totals.events, totals.values, totals.token_bytes, seconds.count(),
        std::chrono::duration<double>(totals.cutting).count());
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "tracedb-floor: {}\n", error.what());
    return 1;
  }
}
