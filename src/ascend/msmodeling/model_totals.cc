#include "ascend/msmodeling/model_totals.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/files/input_file.h"
#include "base/python/json.h"
#include "base/python/literal.h"
#include "base/text/ascii.h"

namespace tracedb::msmodeling {
namespace {

using python::Kind;
using python::Value;

[[noreturn]] void refuse(std::string_view what) { throw Error(ErrorCode::kInput, std::string(what)); }

// nullptr: the event has no such argument.
const Value* argument(const Value& event, std::string_view key) {
  const Value* args = event.find("args");
  if (args != nullptr && args->kind != Kind::kDict) refuse("its args are no JSON object");
  return args == nullptr ? nullptr : args->find(key);
}

bool has_text(const Value& event, std::string_view key, std::string_view text) {
  const Value* value = event.find(key);
  return value != nullptr && value->is_text(text);
}

// Whether the event names a process as the one of the model.
bool names_model(const Value& event) {
  if (!has_text(event, "ph", "M") || !has_text(event, "name", "process_name")) return false;
  const Value* process = argument(event, "name");
  if (process != nullptr && process->kind != Kind::kText) refuse("the name of a process is no text");
  const std::string lower = process == nullptr ? std::string() : ascii_lower(process->text);
  return lower.find("profiling") != std::string::npos || lower.find("empirical") != std::string::npos;
}

const Value& pid_of(const Value& event) {
  const Value* pid = event.find("pid");
  if (pid == nullptr || pid->is_sequence() || pid->kind == Kind::kDict) refuse("its pid is no number or text");
  return *pid;
}

using EventLoop = std::function<void(const python::EventVisit&)>;

// The key of the model's pid: of the first process that is named so, unless its pid is null; else of the only one.
std::string model_pid(const EventLoop& for_each, const std::string& path, std::ostream& warnings) {
  const Value* named = nullptr;
  for_each([&](const Value& event) {
    if (named == nullptr && names_model(event)) named = &pid_of(event);
  });
  if (named != nullptr && named->kind != Kind::kNone) return key_of(*named);
  std::map<std::string, std::string> pids;  // what is printed, by key
  for_each([&](const Value& event) {
    if (has_text(event, "ph", "X")) pids.try_emplace(key_of(pid_of(event)), str(pid_of(event)));
  });
  if (pids.size() != 1) {
    std::string found;
    for (const auto& [key, pid] : pids) found += (found.empty() ? "" : ", ") + pid;
    throw Error(ErrorCode::kInput,
                fmt::format("{}: no process is named as profiling or empirical, and slices have {} pids: {}",
                            printable_path(path), pids.size(), found));
  }
  const auto& [key, pid] = *pids.begin();
  warnings << fmt::format("Warning: profiling PID not found by name in {}, using sole PID {}\n", path, pid);
  return key;
}

struct SubKernel {
  std::string name;
  double us;
};

// Empty: the event does not say.
std::vector<SubKernel> sub_kernels_of(const Value* given) {
  if (given == nullptr || given->kind != Kind::kText) return {};
  const auto literal = python::parse_literal(given->text);
  if (!literal || literal->kind != Kind::kList) return {};
  const auto is_pair = [](const Value& x) { return x.is_sequence() && x.items.size() == 2; };
  if (!std::all_of(literal->items.begin(), literal->items.end(), is_pair)) return {};
  std::vector<SubKernel> out;
  for (const Value& pair : literal->items) {
    const bool fits = pair.items[0].kind == Kind::kText && pair.items[1].is_number();
    if (!fits) refuse("its sub_kernel_durations are no pairs of a name and a number");
    out.push_back({pair.items[0].text, pair.items[1].number});
  }
  return out;
}

class ModelReader {
 public:
  explicit ModelReader(const OpMapping& mapping) : mapping_(mapping) {}

  void add(const Value& event) {
    const Value* name = event.find("name");
    if (name == nullptr || name->kind != Kind::kText) refuse("its name is no text");
    const std::string& op = name->text;
    const Value* dur = event.find("dur");
    const OpMappingEntry* entry = mapping_.find(op);
    if (entry != nullptr && entry->zero_cost) return;
    const Value* kernel = argument(event, "kernel_type");
    if (kernel != nullptr && kernel->is_true() && !kernel->is_text("?")) {
      if (kernel->kind == Kind::kList || kernel->kind == Kind::kDict) refuse("its kernel_type is no text");
      add_hit(op, str(*kernel), dur, argument(event, "sub_kernel_durations"));
    } else {
      const std::string& type = entry == nullptr || entry->kernel_type.empty() ? op : entry->kernel_type;
      ModelTotal& total = touch(type, op);
      ++total.misses;
      total.us += duration(dur);
    }
  }

  [[nodiscard]] ModelTotals take() { return std::move(totals_); }

 private:
  static double duration(const Value* dur) {
    if (dur != nullptr && !dur->is_number()) refuse("its dur is no number");
    return dur == nullptr ? 0 : dur->number;
  }

  ModelTotal& touch(std::string_view type, std::string_view op) {
    ModelTotal& total = totals_[std::string(type)];
    const std::string function = short_op_name(op);
    std::vector<std::string>& all = total.functions;
    if (std::find(all.begin(), all.end(), function) == all.end()) all.push_back(function);
    return total;
  }

  void hit(std::string_view type, std::string_view op, double us) {
    ModelTotal& total = touch(type, op);
    ++total.hits;
    total.us += us;
  }

  void add_hit(const std::string& op, const std::string& kernel, const Value* dur, const Value* sub_kernels) {
    const std::vector<SubKernel> parts = sub_kernels_of(sub_kernels);
    for (const SubKernel& part : parts) hit(part.name, op, part.us);
    if (!parts.empty()) return;
    const std::vector<std::string> names = kernel_types_in(kernel);
    const double each = names.empty() ? 0 : duration(dur) / static_cast<double>(names.size());
    for (const std::string& name : names) hit(name, op, each);
    const bool counts_all_reduce = ascii_lower(op).find("all_reduce") != std::string::npos &&
                                   std::find(names.begin(), names.end(), kAllReduceKernel) == names.end();
    if (counts_all_reduce) hit(kAllReduceKernel, op, 0);
  }

  const OpMapping& mapping_;
  ModelTotals totals_;
};

}  // namespace

ModelTotals read_model(const std::string& path, const OpMapping& mapping, std::ostream& warnings) {
  const Value trace = python::read_json_file(path);
  const Value none = python::list({});
  const Value* given = trace.find("traceEvents");
  const Value& events = given == nullptr ? none : *given;
  require_list(events, printable_path(path));
  const EventLoop for_each = [&](const python::EventVisit& visit) {
    std::for_each(events.items.begin(), events.items.end(), numbered_events(printable_path(path), visit));
  };
  const std::string pid = model_pid(for_each, path, warnings);
  ModelReader reader(mapping);
  for_each([&](const Value& event) {
    if (!has_text(event, "ph", "X")) return;
    const Value* own = event.find("pid");
    if (key_of(own == nullptr ? Value() : *own) == pid) reader.add(event);
  });
  return reader.take();
}

}  // namespace tracedb::msmodeling
