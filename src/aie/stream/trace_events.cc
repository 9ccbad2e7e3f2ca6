#include "aie/stream/trace_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <unordered_map>

#include "base/error.h"
#include "base/failure.h"
#include "base/python/failure.h"
#include "base/python/integer.h"
#include "base/python/json_reader.h"
#include "base/python/text.h"
#include "base/text/decimal.h"

namespace tracedb::stream {
namespace {

using python::Kind;
using python::Value;

constexpr Cycles kTimeLimit = Cycles{1} << 60U;  // three times a difference still fits

Cycles cycles_of(const std::string& digits) {
  const std::optional<std::int64_t> value = parse_int64(digits);
  if (value && *value > -kTimeLimit && *value < kTimeLimit) return *value;
  throw Error(ErrorCode::kInput, fmt::format("a time of {} cycles: --compat stream has no numbers that large", digits));
}

// Equal for what Python's dict takes for the same key: 0, 0.0 and false are one, "0" is another.
std::string key_of(const Value& pid) {
  switch (pid.kind) {
    case Kind::kNone:
      return "none";
    case Kind::kBool:
      return pid.flag ? "n1" : "n0";
    case Kind::kInt:
      return "n" + pid.text;
    case Kind::kFloat:
      return std::isfinite(pid.number) && pid.number == std::trunc(pid.number)
                 ? fmt::format("n{:.0f}", pid.number + 0.0)
                 : "f" + python::float_text(pid.number);
    case Kind::kText:
      return "t" + pid.text;
    default:
      throw python::failure("TypeError", fmt::format("unhashable type: '{}'", type_name(pid)));
  }
}

const Value& member(const Value& dict, std::string_view key) {
  static const Value kNone;
  const Value* found = dict.find(key);
  return found == nullptr ? kNone : *found;
}

[[noreturn]] void throw_without_get(std::string_view type) {
  throw python::failure("AttributeError", fmt::format("'{}' object has no attribute 'get'", type));
}

class Events {
 public:
  // Elements behind one that the program fails at are read, since it reads the whole file first, but not looked at.
  void add(const Value& event) {
    if (event.kind != Kind::kDict) throw_without_get(type_name(event));
    const Value& name = member(event, "name");
    const Value& phase = member(event, "ph");
    if (name.is_text("process_name") && phase.is_text("M")) return set_name(event);
    std::vector<Cycles> ProcessEvents::*list = list_of(name, phase);
    if (list == nullptr) return;
    ProcessEvents& process = process_of(event);
    (process.*list).push_back(cycles_of(python::to_int(member(event, "ts"))));
  }

  std::vector<ProcessEvents> take() {
    for (ProcessEvents& process : processes_) {
      for (std::vector<Cycles>* list : {&process.starts, &process.ends, &process.stall_begins, &process.stall_ends}) {
        std::sort(list->begin(), list->end());
      }
    }
    return std::move(processes_);
  }

 private:
  static std::vector<Cycles> ProcessEvents::*list_of(const Value& name, const Value& phase) {
    if (name.is_text("INSTR_EVENT_0") && phase.is_text("B")) return &ProcessEvents::starts;
    if (name.is_text("INSTR_EVENT_1") && phase.is_text("E")) return &ProcessEvents::ends;
    if (name.is_text("LOCK_STALL") && phase.is_text("B")) return &ProcessEvents::stall_begins;
    if (name.is_text("LOCK_STALL") && phase.is_text("E")) return &ProcessEvents::stall_ends;
    return nullptr;
  }

  void set_name(const Value& event) {
    const Value* args = event.find("args");
    if (args != nullptr && args->kind != Kind::kDict) throw_without_get(type_name(*args));
    Value name = args == nullptr ? Value() : member(*args, "name");
    process_of(event).name = std::move(name);
  }

  ProcessEvents& process_of(const Value& event) {
    const Value& pid = member(event, "pid");
    const auto [entry, is_new] = positions_.try_emplace(key_of(pid), processes_.size());
    if (is_new) processes_.emplace_back().pid = pid;
    return processes_[entry->second];
  }

  std::vector<ProcessEvents> processes_;
  std::unordered_map<std::string, std::size_t> positions_;
};

}  // namespace

std::vector<Span> first_fit(const std::vector<Cycles>& begins, const std::vector<Cycles>& ends) {
  std::vector<Span> spans;
  auto begin = begins.begin();
  for (const Cycles end : ends) {
    if (begin == begins.end()) break;
    if (end > *begin) spans.push_back({*begin++, end});
  }
  return spans;
}

std::vector<ProcessEvents> read_trace_events(const std::filesystem::path& file) {
  const std::string text = python::read_text(file);
  Events events;
  std::optional<Error> failed;
  const auto add = [&](const Value& event) {
    if (!failed) failed = catch_error([&] { events.add(event); });
  };
  const Value document = python::read_json(text, add);
  // Of a dict the program takes the keys for events, of a text the characters.
  if (document.kind == Kind::kDict || document.kind == Kind::kText) {
    if (document.is_true()) throw_without_get("str");
  } else if (document.kind != Kind::kList) {
    throw python::failure("TypeError", fmt::format("'{}' object is not iterable", type_name(document)));
  }
  if (failed) throw Error(*failed);
  return events.take();
}

}  // namespace tracedb::stream
