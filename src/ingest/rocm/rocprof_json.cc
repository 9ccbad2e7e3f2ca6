#include <simdjson.h>

#include <array>
#include <new>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/lookup.h"
#include "base/text/json_text.h"
#include "base/unknown.h"
#include "ingest/read/json_shape.h"
#include "ingest/read/json_walk.h"
#include "ingest/rocm/readers.h"
#include "ingest/rocm/rocprof_records.h"
#include "ingest/rows/source_rows.h"

namespace tracedb {
namespace {

using Value = simdjson::dom::element;

// One value of the document as a tree.
class ValueParser {
 public:
  // nullopt: no JSON, even after what can be mended was.
  std::optional<Value> parse(std::string_view text) {
    Value value;
    const simdjson::error_code error = parser_.parse(text.data(), text.size()).get(value);
    if (error == simdjson::MEMALLOC) throw std::bad_alloc();
    if (error == simdjson::SUCCESS) return value;
    repaired_ = repaired_event(text);
    if (parser_.parse(repaired_).get(value) != simdjson::SUCCESS) return std::nullopt;
    was_repaired_ = true;
    return value;
  }
  // Since it was last asked.
  bool take_repaired() { return std::exchange(was_repaired_, false); }

 private:
  simdjson::dom::parser parser_;
  std::string repaired_;
  bool was_repaired_ = false;
};

std::int64_t number_at(const Value& value, const char* path) {
  std::int64_t number = 0;
  return value.at_pointer(path).get(number) == simdjson::SUCCESS && number >= kLeastNumber ? number : kUnknownValue;
}

std::string_view text_at(const Value& value, const char* path) {
  std::string_view text;
  return value.at_pointer(path).get(text) == simdjson::SUCCESS ? text : std::string_view();
}

std::array<std::int64_t, 3> size_at(const Value& value, const std::string& path) {
  return {number_at(value, (path + "/x").c_str()), number_at(value, (path + "/y").c_str()),
          number_at(value, (path + "/z").c_str())};
}

class RocprofJson {
 public:
  RocprofJson(ByteSource& source, RowSink& sink, TraceFacts& facts) : walk_(source), sink_(sink), facts_(facts) {}

  void run() {
    std::string key;
    bool seen = false;
    if (!walk_.enter('{')) walk_.break_off();
    while (walk_.next_member(key)) {
      if (key == "rocprofiler-sdk-tool" && walk_.enter('[')) {
        seen = true;
        while (walk_.next_element()) read_process();
      } else {
        seen ? walk_.skip() : void(walk_.break_off());  // its name is damaged
      }
    }
    if (walk_.broke_off()) salvage();
    if (!devices_.empty()) facts_.header.push_back({"deviceProperties", "[" + devices_ + "]", -1});
    if (kinds_.contains(std::string(kCounters)))
      facts_.header.push_back({"tables_not_read", "[" + quote_json(kCounters) + "]", -1});
    facts_.vendor = "amd";
    facts_.bytes = walk_.position();
  }
  [[nodiscard]] bool saw_records() const { return saw_records_; }

 private:
  // Calls visit(element) for each element of the list that comes next.
  template <class Visit>
  void for_each(Visit visit) {
    if (!walk_.enter('[')) return walk_.skip();
    while (walk_.next_element()) {
      const auto offset = static_cast<std::int64_t>(walk_.position());
      const std::string_view text = walk_.value();
      if (walk_.broke_off()) return;
      const std::optional<Value> value = parser_.parse(text);
      if (parser_.take_repaired()) sink_.issue(IssueKind::kRepairedText, offset, text);
      if (!value && !is_one_element(text)) return break_off(text);
      visit(value, text, offset);
    }
  }
  // The same of elements that only describe others.
  template <class Visit>
  void look_up(Visit visit) {
    for_each([&](const std::optional<Value>& value, std::string_view text, std::int64_t offset) {
      if (value) {
        visit(*value);
      } else {
        sink_.issue(IssueKind::kMalformedHeader, offset, text);
      }
    });
  }

  // Of text that is no JSON: whether the element ends where it does.
  static bool is_one_element(std::string_view text) {
    if (is_value(text)) return true;
    const std::size_t sign = text.find(kSign);
    return sign != std::string_view::npos && text.find(kSign, sign + 1) == std::string_view::npos;
  }

  // At `text`, a value that is none: brackets and quotes of what follows mean nothing.
  void break_off(std::string_view text) {
    walk_.step_back(text);
    const auto offset = static_cast<std::int64_t>(walk_.position());
    const bool is_record = text.find(kSign) != std::string_view::npos;  // counted among those that are lost
    if (!is_record) sink_.issue(IssueKind::kMalformedHeader, offset, text);
    noted_ = true;
    walk_.break_off();
  }

  // From where the document broke off to its end: what is whole is told by its members.
  void salvage() {
    const auto broken = static_cast<std::int64_t>(walk_.position());
    const std::string sample(walk_.ahead());
    std::int64_t begin = broken;
    std::uint64_t lost = 0;
    facts_.complete = walk_.salvage(kSign, lost, [&](std::string_view text, std::int64_t offset) {
      const std::optional<Value> value = parser_.parse(text);
      if (!value || !take(*value, text, offset)) return false;
      note_lost(lost, begin);
      begin = offset + std::ssize(text);
      return true;
    });
    note_lost(lost, begin);
    if (noted_ && facts_.complete) return;
    sink_.issue(facts_.complete ? IssueKind::kStrayText : IssueKind::kTruncated, broken, sample);
  }

  void note_lost(std::uint64_t& lost, std::int64_t offset) {
    if (lost == 0) return;
    const RowSink::Kind kind = kind_of(list_);
    sink_.read(kind, lost);
    sink_.issue(IssueKind::kMalformedEvent, offset, {}, lost);
    sink_.skip(kind, SkipReason::kMalformed, std::exchange(lost, 0));
  }

  // Whether it is a part of the document that is read here.
  bool take(const Value& value, std::string_view text, std::int64_t offset) {
    const auto has = [&](const char* path) { return value.at_pointer(path).error() == simdjson::SUCCESS; };
    if (has("/start_timestamp") && has("/end_timestamp")) {
      if (!walk_.list().empty()) list_ = walk_.list();
      const bool is_copy = has("/src_agent_id") || has("/dst_agent_id");
      add_whole_record(has("/dispatch_info") ? "kernel_dispatch" : is_copy ? "memory_copy" : list_, value, offset);
      return saw_records_ = true;
    }
    if (has("/dispatch_data")) return add_whole_record(std::string(kCounters), value, offset), true;
    if (has("/kernel_id") && has("/kernel_name")) return add_symbol(value), true;
    if (has("/logical_node_type_id")) return add_agent(value), true;
    if (has("/pid") && has("/command")) return take_metadata(value, text, offset), true;
    if (has("/key") && has("/value") && walk_.list() == "marker_api") return add_message(value), true;
    if (has("/operations") && walk_.list() == "buffer_records") return add_domain(value), true;
    return false;
  }

  void read_process() {
    pid_ = {};
    devices_by_agent_.clear();
    kernel_names_.clear();
    domains_.clear();
    messages_.clear();
    std::string key;
    if (!walk_.enter('{')) return void(walk_.break_off());
    while (walk_.next_member(key)) read_member(key);
  }

  void read_member(const std::string& key) {
    if (key == "metadata") return read_metadata();
    if (key == "agents") return look_up([&](const Value& agent) { add_agent(agent); });
    if (key == "kernel_symbols") return look_up([&](const Value& symbol) { add_symbol(symbol); });
    if (key == "strings") return read_strings();
    if (key != "buffer_records" && key != "callback_records") return walk_.skip();
    saw_records_ = saw_records_ || key == "buffer_records";
    std::string list;
    if (!walk_.enter('{')) return walk_.skip();
    while (walk_.next_member(list)) read_records(list);
  }

  void read_metadata() {
    const auto offset = static_cast<std::int64_t>(walk_.position());
    const std::string_view text = walk_.value();
    const std::optional<Value> metadata = parser_.parse(text);
    if (!metadata && !walk_.broke_off()) return break_off(text);
    if (metadata) take_metadata(*metadata, text, offset);
  }

  void take_metadata(const Value& metadata, std::string_view text, std::int64_t offset) {
    pid_.number = number_at(metadata, "/pid");
    const std::string_view program = text_at(metadata, "/command/0");
    if (!program.empty()) sink_.name_process(pid_, program);
    facts_.header.push_back({"metadata", storable_json(text).text, offset});
  }

  void add_agent(const Value& agent) {
    constexpr std::int64_t kGpu = 2;  // of rocprofiler_agent_type_t
    if (number_at(agent, "/type") != kGpu) return;
    const std::int64_t id = number_at(agent, "/id/handle");
    const std::int64_t number = number_at(agent, "/logical_node_type_id");
    if (id == kUnknownValue || number == kUnknownValue) return;
    devices_by_agent_[id] = number;
    const std::string_view product = text_at(agent, "/product_name");
    append_rocprof_device(number, product.empty() ? text_at(agent, "/name") : product, number_at(agent, "/cu_count"),
                          number_at(agent, "/wave_front_size"), devices_);
  }

  void add_symbol(const Value& symbol) {
    const std::int64_t id = number_at(symbol, "/kernel_id");
    const std::string_view formatted = text_at(symbol, "/formatted_kernel_name");
    if (id != kUnknownValue) kernel_names_[id] = formatted.empty() ? text_at(symbol, "/kernel_name") : formatted;
  }

  void read_strings() {
    std::string key;
    if (!walk_.enter('{')) return walk_.skip();
    while (walk_.next_member(key)) {
      if (key == "buffer_records") {
        look_up([&](const Value& domain) { add_domain(domain); });
        if (walk_.broke_off()) domains_.clear();  // they count from the first one
      } else if (key == "marker_api") {
        look_up([&](const Value& entry) { add_message(entry); });
      } else {
        walk_.skip();
      }
    }
  }

  void add_message(const Value& entry) { messages_[number_at(entry, "/key")] = text_at(entry, "/value"); }

  void add_domain(const Value& domain) {
    Domain& entry = domains_.emplace_back();
    entry.name = text_at(domain, "/kind");
    simdjson::dom::array operations;
    if (domain.at_key("operations").get(operations) != simdjson::SUCCESS) return;
    for (const Value operation : operations) {
      entry.operations.emplace_back(text_at(operation, ""));
    }
  }

  void read_records(const std::string& list) {
    list_ = list;
    for_each([&](const std::optional<Value>& record, std::string_view text, std::int64_t offset) {
      if (record) return add_whole_record(list, *record, offset);
      sink_.read(kind_of(list));
      sink_.issue(IssueKind::kMalformedEvent, offset, text);
      sink_.skip(kind_of(list), SkipReason::kMalformed);
    });
  }

  RowSink::Kind kind_of(const std::string& list) {
    const auto [entry, is_new] = kinds_.try_emplace(list, 0);
    if (is_new) entry->second = sink_.kind(list);
    return entry->second;
  }

  void add_whole_record(const std::string& list, const Value& record, std::int64_t offset) {
    const RowSink::Kind kind = kind_of(list);
    sink_.read(kind);
    if (list == kCounters) return sink_.skip(kind, SkipReason::kNotRead);
    if (const auto span = span_of(record, kind, offset)) add_record(list, record, *span, offset);
  }

  std::optional<TimeSpan> span_of(const Value& record, RowSink::Kind kind, std::int64_t offset) {
    const std::int64_t start = number_at(record, "/start_timestamp");
    const std::int64_t end = number_at(record, "/end_timestamp");
    if (!is_time(start)) {
      sink_.issue(start == kUnknownValue ? IssueKind::kMissingTimestamp : IssueKind::kBadTimestamp, offset, {});
      sink_.skip(kind, SkipReason::kNoTimestamp);
      return std::nullopt;
    }
    if (is_time(end) && end >= start) return TimeSpan{start, end - start};
    sink_.issue(end == kUnknownValue ? IssueKind::kMissingDuration
                : is_time(end)       ? IssueKind::kNegativeDuration
                                     : IssueKind::kBadDuration,
                offset, {});
    return TimeSpan{start, kUnknownValue};
  }

  void add_record(const std::string& list, const Value& record, const TimeSpan& span, std::int64_t offset) {
    if (list == "kernel_dispatch") return add_kernel(record, span, offset);
    if (list == "memory_copy") return add_copy(record, span);
    RocprofRegion region{.span = span, .thread = sink_.thread(pid_, {number_at(record, "/thread_id"), {}})};
    region.correlation = number_at(record, "/correlation_id/internal");
    const Domain* domain = domain_of(record);
    region.domain = domain == nullptr ? std::string_view(list) : domain->name;
    region.operation = operation_of(domain, record);
    if (const std::string* message = find_in(messages_, region.correlation)) region.message = *message;
    if (region.operation.empty()) sink_.issue(IssueKind::kMissingName, offset, list);
    add_rocprof_region(region, sink_);
  }

  void add_kernel(const Value& record, const TimeSpan& span, std::int64_t offset) {
    RocprofKernel kernel{.span = span, .place = place(record, "/dispatch_info/agent_id/handle")};
    kernel.place.queue = number_at(record, "/dispatch_info/queue_id/handle");
    const std::string* name = find_in(kernel_names_, number_at(record, "/dispatch_info/kernel_id"));
    if (name != nullptr) kernel.name = *name;
    if (kernel.name.empty()) sink_.issue(IssueKind::kMissingName, offset, {});
    kernel.items = size_at(record, "/dispatch_info/grid_size");
    kernel.group = size_at(record, "/dispatch_info/workgroup_size");
    kernel.shared_memory = number_at(record, "/dispatch_info/group_segment_size");
    add_rocprof_kernel(kernel, sink_);
  }

  void add_copy(const Value& record, const TimeSpan& span) {
    const bool to_device = devices_by_agent_.contains(number_at(record, "/dst_agent_id/handle"));
    RocprofCopy copy{.span = span, .place = place(record, to_device ? "/dst_agent_id/handle" : "/src_agent_id/handle")};
    copy.operation = operation_of(domain_of(record), record);
    copy.bytes = number_at(record, "/bytes");
    add_rocprof_copy(copy, sink_);
  }

  RocprofPlace place(const Value& record, const char* agent) {
    RocprofPlace place{.stream = number_at(record, "/stream_id/handle"), .process = pid_};
    if (const auto* device = find_in(devices_by_agent_, number_at(record, agent))) place.device = *device;
    place.correlation = number_at(record, "/correlation_id/internal");
    return place;
  }

  struct Domain {
    std::string name;
    std::vector<std::string> operations;
  };
  [[nodiscard]] const Domain* domain_of(const Value& record) const {
    const std::int64_t kind = number_at(record, "/kind");
    return kind >= 0 && kind < std::ssize(domains_) ? &domains_[static_cast<std::size_t>(kind)] : nullptr;
  }
  static std::string_view operation_of(const Domain* domain, const Value& record) {
    const std::int64_t operation = number_at(record, "/operation");
    if (domain == nullptr || operation < 0 || operation >= std::ssize(domain->operations)) return {};
    return domain->operations[static_cast<std::size_t>(operation)];
  }

  JsonWalk walk_;
  RowSink& sink_;
  TraceFacts& facts_;
  ValueParser parser_;
  static constexpr std::string_view kSign = "\"start_timestamp\"";     // of a record
  static constexpr std::string_view kCounters = "counter_collection";  // the list of what hardware counters counted
  bool saw_records_ = false, noted_ = false;
  std::string list_;                                      // of records, the last one
  std::unordered_map<std::string, RowSink::Kind> kinds_;  // by list
  std::string devices_;                                   // of all processes, as in the header
  // Of the process at hand.
  TrackKey pid_;
  std::unordered_map<std::int64_t, std::int64_t> devices_by_agent_;
  std::unordered_map<std::int64_t, std::string> kernel_names_, messages_;  // messages: by correlation
  std::vector<Domain> domains_;                                            // by kind
};

}  // namespace

bool read_rocprof_json(ByteSource& source, RowSink& sink, TraceFacts& facts) {
  RocprofJson reader(source, sink, facts);
  reader.run();
  return reader.saw_records();
}

}  // namespace tracedb
