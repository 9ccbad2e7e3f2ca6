#include "ingest/kineto/local_ids.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <utility>

#include "base/text/decimal.h"
#include "base/text/json_text.h"
#include "base/unknown.h"
#include "trace/step_grammar.h"

namespace tracedb {
namespace {

// "stream 7" and "7" alike; text that ends in no number stays text.
TrackKey stream_key(std::string_view token) {
  TrackKey key = track_key(token);
  constexpr std::string_view kPrefix = "stream ";
  if (key.number == kUnknownValue && key.text.starts_with(kPrefix)) {
    if (const auto number = parse_int64(std::string_view(key.text).substr(kPrefix.size()))) return {*number, {}};
  }
  return key;
}

// The three numbers of "grid": [x, y, z]; some producers write the list as text.
std::array<std::int64_t, 3> triple(std::string_view token) {
  std::array<std::int64_t, 3> out = {kUnknownValue, kUnknownValue, kUnknownValue};
  const std::vector<std::string_view> elements = json_elements(number_text(token));
  for (std::size_t i = 0; i < std::min(elements.size(), out.size()); ++i) {
    out[i] = parse_integral(number_text(elements[i])).value_or(kUnknownValue);
  }
  return out;
}

// "id2": {"local": "0x1"}, unique in its process, or {"global": "0x1"}.
JsonMember second_id(const RawEvent& event) {
  if (!event.gives(EventField::kId2)) return {};
  const std::vector<JsonMember> members = json_members(event[EventField::kId2]);
  return members.empty() ? JsonMember{} : members.front();
}

// nullopt: to be kept as text. A quoted number is the number it would be without the quotes, if it is written as one:
// "7" is 7, "007" is not.
std::optional<EventId> number_id(std::string_view token) {
  const bool quoted = is_json_string(token);
  const std::string_view text = raw_string(token);
  const auto same = [&](const std::string& written) { return !quoted || written == text; };
  if (const auto id = parse_uint64(text); id && same(std::to_string(*id))) return EventId{*id, EventIdType::kInteger};
  if (const auto id = quoted ? parse_int64(text) : parse_integral(text); id && same(std::to_string(*id))) {
    if (*id >= 0) return EventId{static_cast<std::uint64_t>(*id), EventIdType::kInteger};
    if (*id >= kLeastNumber) return EventId{static_cast<std::uint64_t>(*id), EventIdType::kNegative};
  }
  std::uint64_t hex = 0;
  if (!quoted || !text.starts_with("0x")) return std::nullopt;
  std::from_chars(text.data() + 2, text.data() + text.size(), hex, 16);
  return fmt::format("0x{:x}", hex) == text ? std::optional(EventId{hex, EventIdType::kHex}) : std::nullopt;
}

// A key for all the tokens together. Each is a whole JSON value or empty, so no two lists of tokens make the same key.
template <std::size_t N>
void join_tokens(const EventFields& fields, const std::array<EventField, N>& wanted, std::string& out) {
  out.clear();
  for (const EventField field : wanted) out.append(fields[field]).append("\n");
}

// Of a backward operator the thread of its forward one, of an operator that is one generated kernel which: a JSON
// object of the members that are of the right type. Empty: there is none.
std::string operator_detail(const RawEvent& event) {
  struct Member {
    std::string_view name;
    bool is_number;
  };
  constexpr Member kMembers[] = {{"kernel_backend", false}, {"kernel_hash", false}, {"kernel_file", false},
                                 {"kernel_kwargs", false},  {"num_warps", true},    {"num_stages", true},
                                 {"stream", true}};
  std::string out;
  const auto add = [&out](std::string_view key, const std::string& value) {
    out += fmt::format("{}\"{}\":{}", out.empty() ? "{" : ",", key, value);
  };
  if (event.gives(EventField::kForwardThread)) {
    const std::int64_t thread = event.integer(EventField::kForwardThread);
    if (thread != 0 && thread != kUnknownValue) add("Fwd thread id", std::to_string(thread));
  }
  for (const Member& key : event.fields.has(EventField::kGenerated) ? std::span(kMembers) : std::span<const Member>()) {
    const std::string_view token = event.argument(key.name);
    if (token.empty()) continue;
    if (const auto number = parse_integral(number_text(token)); key.is_number && number) {
      add(key.name, std::to_string(*number));
    } else if (!key.is_number && is_json_string(token)) {
      add(key.name, quote_json(unescape(raw_string(token)).text));
    } else if (key.is_number) {
      event.issue(IssueKind::kBadNumber, token);
    }
  }
  return out.empty() ? out : out + "}";
}

struct Entry {
  std::string_view name;
  EventCategory category;
};

constexpr std::array<Entry, 23> kCategories = {{
    {"kernel", EventCategory::kKernel},
    {"Kernel", EventCategory::kKernel},
    {"gpu_memcpy", EventCategory::kMemcpy},
    {"Memcpy", EventCategory::kMemcpy},
    {"gpu_memset", EventCategory::kMemset},
    {"Memset", EventCategory::kMemset},
    {"cpu_op", EventCategory::kOperator},
    {"Operator", EventCategory::kOperator},
    {"cuda_runtime", EventCategory::kCall},
    {"cuda_driver", EventCategory::kCall},
    {"Runtime", EventCategory::kCall},
    {"xpu_runtime", EventCategory::kCall},
    {"xpu_driver", EventCategory::kCall},
    {"hpu_op", EventCategory::kCall},
    {"glow_runtime", EventCategory::kCall},
    {"privateuse1_runtime", EventCategory::kCall},
    {"privateuse1_driver", EventCategory::kCall},
    {"python_function", EventCategory::kPython},
    {"user_annotation", EventCategory::kAnnotation},
    {"gpu_user_annotation", EventCategory::kGpuAnnotation},
    {"mtia_runtime", EventCategory::kCall},
    {kMtiaCategory, EventCategory::kMtia},
    {"cuda_profiler_range", EventCategory::kCounterRange},
}};

EventCategory event_category(std::string_view name) {
  const auto found = std::ranges::find_if(kCategories, [name](const Entry& entry) { return entry.name == name; });
  return found == kCategories.end() ? EventCategory::kOther : found->category;
}

}  // namespace

std::uint32_t LocalIds::text(std::string_view raw, const RawEvent& event) {
  const Interner::Entry entry = texts_.intern(raw);
  if (entry.is_new) {
    Unescaped text = unescape(raw);
    texts_about_.push_back({event_category(text.text), text.replaced > 0, Mark::kNotAsked});
    event.batch.strings.push_back(std::move(text.text));
  }
  if (texts_about_[entry.id - 1].has_replaced) event.issue(IssueKind::kReplacedCharacter, raw);
  return entry.id;
}

bool LocalIds::is_mark(std::uint32_t text, std::string_view raw) {
  Mark& mark = texts_about_[text - 1].mark;
  if (mark == Mark::kNotAsked) mark = is_mark_among_operators(unescape(raw).text) ? Mark::kYes : Mark::kNo;
  return mark == Mark::kYes;
}

std::int64_t LocalIds::integer(const RawEvent& event, EventField field) {
  const std::string_view token = event[field];
  if (token.empty() || is_null_token(token)) return kUnknownValue;
  const std::string_view text = number_text(token);
  const auto value = parse_int64(text);
  if (value && *value >= kLeastNumber) return *value;
  const auto integral = parse_integral(text);
  return integral && *integral >= kLeastNumber ? *integral : kUnknownValue + wide_number(text, event);
}

std::uint32_t LocalIds::python_id(const RawEvent& event, EventField field) {
  const std::string_view token = event[field];
  if (token.empty()) return kNoPythonId;
  if (is_null_token(token)) return kRootPythonId;
  const std::string_view text = number_text(token);
  if (const auto value = parse_integral(text); value && *value >= 0 && *value < kWidePythonId) {
    return static_cast<std::uint32_t>(*value);
  }
  const std::uint32_t wide = wide_number(text, event);
  return wide == 0 ? kNoPythonId : kWidePythonId + wide;
}

std::uint32_t LocalIds::wide_number(std::string_view text, const RawEvent& event) {
  std::string decimal;
  if (const auto value = parse_integral(text)) {
    decimal = std::to_string(*value);
  } else if (const auto large = parse_uint64(text)) {
    decimal = std::to_string(*large);
  } else {
    event.issue(IssueKind::kBadNumber, text);
    return 0;
  }
  return numbers_.id_of(decimal, [&] { event.batch.numbers.push_back(decimal); });
}

EventId LocalIds::event_id(const RawEvent& event) {
  const std::string_view token = event.gives(EventField::kId) ? event[EventField::kId] : second_id(event).value;
  if (token.empty() || is_null_token(token)) return {};
  if (const auto id = number_id(token)) return *id;
  return {text(raw_string(token), event), EventIdType::kText};
}

std::uint32_t LocalIds::scope(const RawEvent& event) {
  const bool local = !event.gives(EventField::kId) && second_id(event).key == "local";
  if (!local && !event.gives(EventField::kScope)) return 0;
  key_.assign(event.gives(EventField::kScope) ? raw_string(event[EventField::kScope]) : std::string_view());
  key_.append("\n").append(local ? number_text(event[EventField::kPid]) : std::string_view());
  return scopes_.id_of(key_, [&] { event.batch.scopes.push_back(key_); });
}

std::uint32_t LocalIds::other_thread(const RawEvent& event) {
  const std::string_view pid = event[EventField::kPid];
  const std::string_view tid = event[EventField::kTid];
  key_.assign(pid).append("\n").append(tid);
  last_pid_ = pid;
  last_tid_ = tid;
  last_thread_ = threads_.id_of(key_, [&] { event.batch.threads.push_back({track_key(pid), track_key(tid)}); });
  return last_thread_;
}

std::uint32_t LocalIds::stream(const RawEvent& event) {
  const EventFields& fields = event.fields;
  const std::string_view device = fields[event.gives(EventField::kDevice) ? EventField::kDevice : EventField::kPid];
  const std::string_view stream = fields[event.gives(EventField::kStream) ? EventField::kStream : EventField::kTid];
  const std::string_view pid = event[EventField::kPid];
  const std::string_view tid = event[EventField::kTid];
  const std::array given{device, stream, pid, tid};
  if (last_stream_ != 0 && std::equal(given.begin(), given.end(), last_stream_tokens_.begin())) return last_stream_;
  key_.assign(device).append("\n").append(stream).append("\n").append(pid).append("\n").append(tid);
  last_stream_tokens_ = {std::string(device), std::string(stream), std::string(pid), std::string(tid)};
  last_stream_ = streams_.id_of(key_, [&] {
    event.batch.streams.push_back({{track_key(device), stream_key(stream)}, {track_key(pid), track_key(tid)}});
  });
  return last_stream_;
}

std::uint32_t LocalIds::launch_config(const RawEvent& event) {
  constexpr std::array kFields = {
      EventField::kGrid,      EventField::kBlock,       EventField::kRegisters,  EventField::kSharedMemory,
      EventField::kOccupancy, EventField::kBlocksPerSm, EventField::kWarpsPerSm, EventField::kTheoreticalOccupancy};
  join_tokens(event.fields, kFields, key_);
  if (key_.size() == kFields.size()) return 0;
  const std::int64_t registers = event.integer(EventField::kRegisters);
  const std::int64_t shared_memory = event.integer(EventField::kSharedMemory);
  return configs_.id_of(key_, [&] {
    const auto grid = triple(event[EventField::kGrid]);
    const auto block = triple(event[EventField::kBlock]);
    event.batch.configs.push_back(
        {{grid[0], grid[1], grid[2], block[0], block[1], block[2], registers, shared_memory},
         {rate_of(event[EventField::kOccupancy]), rate_of(event[EventField::kTheoreticalOccupancy]),
          rate_of(event[EventField::kBlocksPerSm]), rate_of(event[EventField::kWarpsPerSm])}});
  });
}

std::uint32_t LocalIds::shape(const RawEvent& event) {
  constexpr std::array kFields = {EventField::kInputDims, EventField::kInputTypes, EventField::kInputStrides,
                                  EventField::kConcreteInputs};
  const auto has = [&](EventField field) { return event.gives(field); };
  const std::string detail = operator_detail(event);
  if (std::ranges::none_of(kFields, has) && detail.empty()) return 0;
  join_tokens(event.fields, kFields, key_);
  key_.append(detail);
  return shapes_.id_of(key_, [&] {
    const auto given = [&](EventField field) { return has(field) ? minify(event[field]) : std::string(); };
    event.batch.shapes.push_back({given(EventField::kInputDims), given(EventField::kInputTypes),
                                  given(EventField::kInputStrides), given(EventField::kConcreteInputs), detail});
  });
}

}  // namespace tracedb
