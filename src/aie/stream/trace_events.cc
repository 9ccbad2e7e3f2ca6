#include "aie/stream/trace_events.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>

#include "base/error.h"
#include "base/files/input_file.h"
#include "base/python/json.h"
#include "base/stream/csv_reader.h"
#include "base/text/decimal.h"

namespace tracedb::stream {
namespace {

using python::Kind;
using python::Value;

constexpr double kTimeLimit = 1e18;  // three times a difference still fits

// int(ts)
Cycles cycles_of(const Value* time) {
  if (time != nullptr) {
    const bool truncates = time->kind == Kind::kFloat || time->kind == Kind::kBool;
    if (truncates && std::abs(time->number) < kTimeLimit) return static_cast<Cycles>(time->number);
    const auto value = parse_int64(trim_space(time->text));
    if (value && std::abs(static_cast<double>(*value)) < kTimeLimit) return *value;
  }
  throw Error(ErrorCode::kInput, "its ts is no number of cycles below 1e18");
}

const Value& member(const Value& dict, std::string_view key) {
  static const Value kNone;
  const Value* found = dict.find(key);
  return found == nullptr ? kNone : *found;
}

class Events {
 public:
  void add(const Value& event) {
    const Value& name = member(event, "name");
    const Value& phase = member(event, "ph");
    if (name.is_text("process_name") && phase.is_text("M")) return set_name(event);
    std::vector<Cycles> ProcessEvents::*list = list_of(name, phase);
    if (list == nullptr) return;
    ProcessEvents& process = process_of(event);
    (process.*list).push_back(cycles_of(event.find("ts")));
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
    if (args != nullptr && args->kind != Kind::kDict) throw Error(ErrorCode::kInput, "its args are no JSON object");
    const Value& name = member(member(event, "args"), "name");
    if (name.kind != Kind::kText && name.is_true()) throw Error(ErrorCode::kInput, "the name of a process is no text");
    process_of(event).name = name.text;
  }

  ProcessEvents& process_of(const Value& event) {
    const Value& pid = member(event, "pid");
    if (pid.kind == Kind::kList || pid.kind == Kind::kDict)
      throw Error(ErrorCode::kInput, "its pid is no number or text");
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

std::vector<ProcessEvents> read_trace_events(const std::string& file) {
  Events events;
  const std::string name = printable_path(file);
  require_list(python::read_json_file(file, python::numbered_events(name, [&](const Value& e) { events.add(e); })),
               name);
  return events.take();
}

}  // namespace tracedb::stream
