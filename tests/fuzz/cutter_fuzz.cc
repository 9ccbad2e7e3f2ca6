// Cutting a trace into chunks: the SIMD scan means what the scalar one does, whatever the pieces; chunk size and read
// size change nothing; and every byte of the events is in a chunk, or reported.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cut_elements.h"
#include "fuzz_input.h"
#include "ingest/read/json_chunks.h"
#include "ingest/read/structural_scan.h"
#include "issue_lines.h"

namespace tracedb {
namespace {

// Hands out at most `piece` bytes a call, as a pipe would.
class PieceSource : public ByteSource {
 public:
  PieceSource(std::string_view data, std::size_t piece) : data_(data), piece_(piece) {}
  std::size_t read(char* destination, std::size_t capacity) override {
    const std::size_t size = std::min({piece_, capacity, data_.size() - at_});
    data_.copy(destination, size, at_);
    at_ += size;
    return size;
  }
  [[nodiscard]] std::uint64_t consumed() const override { return at_; }
  [[nodiscard]] ContentHash hash() const override { return {}; }
  void drain() override { at_ = data_.size(); }

 private:
  std::string_view data_;
  std::size_t piece_;
  std::size_t at_ = 0;
};

struct Outcome {
  std::string elements;  // with their places
  std::string rest;      // header, issues, counts; or why the trace was refused
  bool loses_nothing = false;
  std::vector<std::pair<std::size_t, std::size_t>> covered;  // bytes of the chunks: first, behind the last
};

void note_elements(const Chunk& chunk, Outcome& out, IssueLog& issues) {
  if (chunk.damaged) {
    out.elements += fmt::format("{} damaged {}\n", chunk.offset, chunk.elements());
    return;
  }
  for (const CutElement& element : cut_elements(chunk.elements()).elements) {
    const std::uint64_t start = chunk.offset + element.start;
    if (element.text.empty()) {
      issues.add(IssueKind::kStrayComma, static_cast<std::int64_t>(start), {});
    } else {
      const auto place = chunk.offset + static_cast<std::size_t>(element.text.data() - chunk.elements().data());
      out.elements += fmt::format("{} {}\n", place, element.text);
    }
  }
}

Outcome cut(std::string_view text, std::size_t chunk_size, std::size_t piece, const JsonLimits& limits) {
  Outcome out;
  PieceSource source(text, piece);
  JsonChunks chunks(source, "trace", chunk_size, limits);
  Chunk chunk;
  IssueLog issues;
  try {
    while (chunks.next(chunk)) {
      require(chunk.buffer.size() >= chunk.size + Chunk::kPadding, "chunks are padded");
      require(chunk.text().front() == '[' && chunk.text().back() == ']', "chunks are arrays");
      require_same(chunk.elements(), text.substr(chunk.offset, chunk.elements().size()),
                   "chunks are the trace's bytes");
      out.covered.emplace_back(chunk.offset, chunk.offset + chunk.elements().size());
      note_elements(chunk, out, issues);
    }
  } catch (const Error& error) {
    out.rest = error.what();
    return out;
  }
  issues.merge(chunks.issues());
  for (const auto& [key, value, offset] : chunks.header()) out.rest += fmt::format("{}={}\n", key, value);
  out.rest += fmt::format("{}complete {}, {} oversized, {} bytes\n", issue_lines(issues), chunks.complete(),
                          chunks.oversized_events(), chunks.bytes());
  out.loses_nothing = std::all_of(issues.issues().begin(), issues.issues().end(), [](const Issue& issue) {
    return issue.kind == IssueKind::kStrayComma || issue.kind == IssueKind::kByteOrderMark;
  });
  return out;
}

// Where nothing is reported, only separators stand between the chunks of a bare array.
void check_coverage(std::string_view text, const Outcome& outcome) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (!outcome.loses_nothing || first == std::string_view::npos || text[first] != '[') return;
  std::string gaps;
  std::size_t at = 0;
  for (const auto& [begin, end] : outcome.covered) {
    require(begin >= at && end >= begin, "chunks follow one another");
    gaps += text.substr(at, begin - at);
    at = end;
  }
  gaps += text.substr(at);
  require(gaps.find_first_not_of(" \t\r\n,[]}") == std::string::npos, "no byte of an event is dropped in silence");
}

void check_scan(std::string_view text, FuzzInput settings) {
  ScanState scalar;
  scalar.depth = settings.byte() % 4;
  scalar.opener = scalar.depth == 0 ? '\0' : (settings.byte() & 1U) != 0 ? '{' : '[';
  scalar.in_string = (settings.byte() & 1U) != 0;
  scalar.escaped = scalar.in_string && (settings.byte() & 1U) != 0;
  scalar.after_string = !scalar.in_string && (settings.byte() & 1U) != 0;
  scalar.length = scalar.depth == 0 ? 0 : settings.byte() * 256;
  ScanState simd = scalar;
  for (std::string_view rest = text; !rest.empty() && scalar.depth >= 0;) {
    const std::string_view piece = rest.substr(0, 1 + settings.byte());
    const ScanResult expected = scan_structure_scalar(piece, scalar);
    ScanResult actual;
    if (!scan_structure_simd(piece, simd, actual)) return;
    require(actual.last_comma == expected.last_comma && actual.end == expected.end && actual.stop == expected.stop &&
                actual.suspicion == expected.suspicion,
            "both scans find the same");
    require(simd.depth == scalar.depth && simd.in_string == scalar.in_string && simd.escaped == scalar.escaped &&
                simd.after_string == scalar.after_string && (scalar.depth <= 0 || simd.opener == scalar.opener) &&
                simd.length == scalar.length,
            "both scans end in the same state");
    if (expected.suspicion == Suspicion::kBroken) return;
    rest.remove_prefix(expected.suspicion == Suspicion::kLarge ? expected.stop : piece.size());
  }
}

void check_cutting(const std::uint8_t* data, std::size_t size) {
  FuzzInput input(data, size);
  std::size_t chunk_size = 64 + input.byte();
  std::size_t piece = 1 + input.byte();
  const std::uint8_t settings = input.byte();
  check_scan(input.rest(), FuzzInput(data, size));
  JsonLimits limits;
  std::string text(input.rest());
  if (settings >= 128) limits = {settings, settings / std::size_t{4}};
  if (settings >= 64 && settings < 128) {  // elements that are large, and some that are too large
    text = stretched(text);
    chunk_size *= settings % 32;
    piece *= 64;
    if (settings >= 96) limits = {settings * std::size_t{1000}, settings * std::size_t{250}};
  }
  const Outcome whole = cut(text, std::size_t{1} << 20U, std::size_t{1} << 20U, limits);
  check_coverage(text, whole);
  const Outcome parts = cut(text, chunk_size, piece, limits);
  require_same(parts.elements, whole.elements, "the elements do not depend on chunk size and read size");
  require_same(parts.rest, whole.rest, "header and issues do not depend on chunk size and read size");
}

}  // namespace
}  // namespace tracedb

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {  // NOLINT
  tracedb::check_cutting(data, size);
  return 0;
}
