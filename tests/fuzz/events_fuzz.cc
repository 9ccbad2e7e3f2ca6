// Events of one chunk parsed together, a second time when their shapes are known, and each by a parser that has seen no
// other, through simdjson: the same facts in the same order. Every element is counted, as
// stored, with a reason, or as text that is no event; and where the whole chunk is JSON to simdjson's DOM, each event
// is counted under the category and phase the DOM sees, nothing is called damaged, and no comma matters. No text at all
// is dropped in silence.
#include <fmt/format.h>
#include <simdjson.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cut_elements.h"
#include "fuzz_input.h"
#include "ingest/kineto/chunk_parser.h"
#include "ingest/read/json_shape.h"
#include "ingest/store/trace_store.h"
#include "store_text.h"
#include "support/parsed_events.h"

namespace tracedb {
namespace {

std::string metadata_text(const MetadataRecord& record) {
  return fmt::format("{} {} {} {} {}\n", static_cast<int>(record.kind), track_text(record.pid), track_text(record.tid),
                     record.text, record.number);
}

// What batches turn into in the store, where ids no longer depend on who parsed what.
class Facts {
 public:
  Facts() : store_({".", std::size_t{1} << 20U}) {}

  void add(EventBatch& batch) {
    count(batch);
    for (const MetadataRecord& record : batch.metadata) metadata_ += metadata_text(record);
    store_.add(batch);  // makes ids global in the records
    std::size_t kind = 0;
    const auto append = [&](const auto& records) { append_bytes(records_[kind++], records.data(), records.size()); };
    for_each_records(batch, append);
    append(batch.collectives);
    for (const SliceEndpointRecord& edge : batch.endpoints) {  // has padding, so not byte by byte
      edges_ +=
          fmt::format("edge {} {} {} {} {} {}\n", edge.ts, edge.category, edge.name, edge.track, edge.args, edge.ph);
    }
  }

  void add_issue(IssueKind kind, std::uint64_t offset) {
    store_.issues.add(kind, static_cast<std::int64_t>(offset), {});
  }

  void require_same_as(Facts& other) {
    require_same(dictionaries(store_), dictionaries(other.store_),
                 "dictionaries, counts and issues do not depend on the cut");
    require_same(metadata_, other.metadata_, "metadata does not depend on the cut");
    require_same(edges_, other.edges_, "edges do not depend on the cut");
    require(records_ == other.records_, "records do not depend on the cut");
  }

  // Events read, by category and phase.
  [[nodiscard]] std::map<std::pair<std::string, std::string>, std::uint64_t> kinds() const {
    std::map<std::pair<std::string, std::string>, std::uint64_t> out;
    for (const auto& [key, kind] : store_.kinds) {
      out[{key.first == 0 ? "" : std::string(store_.strings.text(key.first)), key.second}] += kind.read;
    }
    return out;
  }
  [[nodiscard]] std::uint64_t read() const { return read_; }
  [[nodiscard]] const IssueLog& issues() const { return store_.issues; }

 private:
  void count(const EventBatch& batch) {
    std::uint64_t skipped = 0;
    std::uint64_t read = 0;
    for (const EventCount& kind : batch.kinds) {
      read += kind.read;
      for (const std::uint64_t reason : kind.skipped) skipped += reason;
    }
    std::uint64_t stored = batch.endpoints.size();
    for_each_records(batch, [&](const auto& records) { stored += records.size(); });
    for (const CounterRecord& counter : batch.counters) stored -= counter.continued == 0 ? 0 : 1;
    require(stored + skipped == read, "every event read is stored or skipped with a reason");
    read_ += read;
  }

  TraceStore store_;
  std::uint64_t read_ = 0;
  std::string metadata_, edges_;
  std::array<std::string, 10> records_;  // of each kind
};

// What the parser takes for a bracket too many before events.
bool begins_with_event(const simdjson::dom::element& element) {
  simdjson::dom::array list;
  std::string_view phase;
  return element.get(list) == simdjson::SUCCESS && list.at(0)["ph"].get(phase) == simdjson::SUCCESS;
}

// How the DOM would count the events; nullopt where the text is not strictly JSON, or means something this oracle does
// not follow: escapes, categories and phases that are no strings, and lists of events within the list.
using Kinds = std::map<std::pair<std::string, std::string>, std::uint64_t>;
std::optional<Kinds> dom_kinds(std::string_view text) {
  if (text.find('\\') != std::string_view::npos) return std::nullopt;
  simdjson::dom::parser parser;
  simdjson::dom::array elements;
  if (parser.parse(simdjson::padded_string(text)).get(elements) != simdjson::SUCCESS) return std::nullopt;
  Kinds kinds;
  for (const simdjson::dom::element element : elements) {
    if (begins_with_event(element)) return std::nullopt;
    std::pair<std::string, std::string> kind;
    simdjson::dom::object object;
    if (element.get(object) == simdjson::SUCCESS) {
      for (const auto& [key, value] : object) {
        std::string* part = key == "cat" ? &kind.first : key == "ph" ? &kind.second : nullptr;
        if (part == nullptr) continue;
        std::string_view string;
        if (value.get(string) != simdjson::SUCCESS) return std::nullopt;
        *part = string;
      }
    }
    ++kinds[kind];
  }
  return kinds;
}

// False: the text is not what the DOM can tell about.
bool check_against_dom(std::string_view text, const Facts& facts) {
  const auto expected = dom_kinds(text);
  if (!expected) return false;
  for (const IssueKind damage : {IssueKind::kMalformedEvent, IssueKind::kRepairedText, IssueKind::kStrayComma,
                                 IssueKind::kStrayText, IssueKind::kMissingComma}) {
    require(facts.issues().count(damage) == 0, "what is JSON is not called damaged");
  }
  std::string counted;
  std::string seen;
  for (const auto& [kind, count] : facts.kinds()) counted += fmt::format("{}/{} {}\n", kind.first, kind.second, count);
  for (const auto& [kind, count] : *expected) seen += fmt::format("{}/{} {}\n", kind.first, kind.second, count);
  require_same(counted, seen, "events are counted under their category and phase");
  return true;
}

bool is_event(std::string_view element) {
  const ShapeCheck check = check_shape(element, 30);  // what salvage looks for, and never at the edge of it
  return element.starts_with('{') && check.shape == Shape::kWhole && check.has_phase;
}

// Sound events are found whatever stands between them, also where the cutter gave up.
void check_salvage(const CutList& cut, const EventOptions& options, const Facts& sound) {
  std::string text;
  for (const CutElement& element : cut.elements) {
    if (!is_event(element.text)) return;
    text += fmt::format("{} ", element.text);
  }
  for (const bool damaged : {false, true}) {
    EventBatch batch;
    Facts salvaged;
    Chunk chunk = chunk_of(text);
    chunk.damaged = damaged;
    ChunkParser(0, options).parse(chunk, batch);
    salvaged.add(batch);
    require(salvaged.kinds() == sound.kinds(), "events without commas between them are the same events");
    require(salvaged.issues().count(IssueKind::kMissingComma) == cut.elements.size() - 1, "each comma is missed");
  }
}

// Whatever the cutter gave up on: any text at all.
void check_damaged(std::string_view text, const EventOptions& options) {
  EventBatch batch;
  Facts facts;
  Chunk chunk = chunk_of(text);
  chunk.damaged = true;
  ChunkParser(0, options).parse(chunk, batch);
  facts.add(batch);
  const bool blank = text.find_first_not_of(" \t\r\n,") == std::string_view::npos;
  require(blank == (facts.read() == 0 && facts.issues().issues().empty()), "no text is dropped in silence");
}

void check_events(FuzzInput input) {
  EventOptions options;
  const std::uint8_t settings = input.byte();
  options.arguments = (settings & 1U) != 0 ? EventArguments::kKeep : EventArguments::kOmit;
  options.python_calls = (settings & 2U) != 0 ? PythonCalls::kOmit : PythonCalls::kKeep;
  check_damaged(input.rest(), options);
  const CutList cut = cut_elements(input.rest());
  if (!cut.whole) return;  // the cutter never hands that out
  const std::string_view list = input.rest().substr(0, cut.size);

  EventBatch batch;
  Facts together, twice, one_by_one;
  ChunkParser(0, options).parse(chunk_of(list), batch);
  together.add(batch);
  ChunkParser parser(0, options);
  std::uint64_t elements = 0, objects = 0;
  unsigned worker = 0;
  for (const bool again : {false, true}) {
    parser.parse(chunk_of(list), batch);
    twice.add(batch);
    for (const CutElement& element : cut.elements) {
      if (element.text.empty()) {
        if (!trim_json_space(list).empty()) one_by_one.add_issue(IssueKind::kStrayComma, 1 + element.start);
        continue;
      }
      if (!again) ++elements, objects += element.objects;
      const auto offset = static_cast<std::size_t>(element.text.data() - list.data());
      ChunkParser(worker++, options).parse(chunk_of(element.text, 1 + offset), batch);
      one_by_one.add(batch);
    }
  }
  const IssueLog& issues = together.issues();
  const std::uint64_t stray = issues.count(IssueKind::kStrayText);
  require(together.read() + stray >= elements, "every element is counted");
  const bool damaged = stray + issues.count(IssueKind::kMalformedEvent) + issues.count(IssueKind::kRepairedText) > 0;
  require(damaged || together.read() >= objects, "no object is dropped in silence");
  twice.require_same_as(one_by_one);
  if (check_against_dom(chunk_of(list).text(), together)) check_salvage(cut, options, together);
}

}  // namespace
}  // namespace tracedb

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {  // NOLINT
  tracedb::check_events(tracedb::FuzzInput(data, size));
  return 0;
}
