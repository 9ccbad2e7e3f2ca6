#include "ascend/msmodeling/model_totals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "base/python/display.h"
#include "base/python/failure.h"
#include "base/python/json_reader.h"
#include "base/python/literal.h"
#include "base/python/number.h"
#include "base/python/text.h"
#include "base/text/ascii.h"

namespace tracedb::msmodeling {
namespace {

using python::Kind;
using python::Value;

constexpr std::string_view kAllReduce = "hcom_allReduce_";

[[noreturn]] void throw_no_attribute(std::string_view type, std::string_view attribute) {
  throw python::failure("AttributeError", fmt::format("'{}' object has no attribute '{}'", type, attribute));
}

// value.get(key); nullptr: no such key.
const Value* get(const Value& value, std::string_view key) {
  if (value.kind != Kind::kDict) throw_no_attribute(python::type_name(value), "get");
  return value.find(key);
}

// value[key]
const Value& item(const Value& value, std::string_view key) {
  if (const Value* found = value.find(key)) return *found;
  throw python::failure("KeyError", python::repr(key));
}

// value.lower() and the like need a text.
const std::string& text_for(const Value& value, std::string_view method) {
  if (value.kind != Kind::kText) throw_no_attribute(python::type_name(value), method);
  return value.text;
}

bool has_phase(const Value& event, std::string_view phase) {
  const Value* ph = get(event, "ph");
  return ph != nullptr && ph->is_text(phase);
}

// What a loop over trace["traceEvents"] visits.
std::span<const Value> events_of(const Value& trace) {
  const Value* events = get(trace, "traceEvents");
  if (events == nullptr || events->kind == Kind::kList)
    return events == nullptr ? std::span<const Value>() : events->items;
  const bool visits_texts = events->kind == Kind::kText || events->kind == Kind::kDict;
  if (!visits_texts) {
    throw python::failure("TypeError", fmt::format("'{}' object is not iterable", python::type_name(*events)));
  }
  if (events->is_true()) throw_no_attribute("str", "get");
  return {};
}

// Of numbers the value counts, not the type; nullopt: not a number.
std::optional<double> number_of(const Value& value) {
  if (value.kind == Kind::kBool) return value.flag ? 1 : 0;
  if (value.kind == Kind::kInt) return std::strtod(value.text.c_str(), nullptr);
  if (value.kind == Kind::kFloat) return value.number;
  return std::nullopt;
}

// a == b of two pids.
bool equal(const Value& a, const Value& b) {
  if (a.kind == Kind::kInt && b.kind == Kind::kInt) return a.text == b.text;
  const auto x = number_of(a);
  const auto y = number_of(b);
  if (x || y) return x && y && *x == *y;
  return a.kind == b.kind && python::repr(a) == python::repr(b);
}

// The pid of the first process that is named so; nullptr: none, or its pid is null.
const Value* named_pid(std::span<const Value> events) {
  for (const Value& event : events) {
    if (!has_phase(event, "M")) continue;
    const Value* name = event.find("name");
    if (name == nullptr || !name->is_text("process_name")) continue;
    const Value* args = event.find("args");
    const Value* process = args == nullptr ? nullptr : get(*args, "name");
    const std::string lower = process == nullptr ? std::string() : ascii_lower(text_for(*process, "lower"));
    if (lower.find("profiling") == std::string::npos && lower.find("empirical") == std::string::npos) continue;
    const Value& pid = item(event, "pid");
    return pid.kind == Kind::kNone ? nullptr : &pid;
  }
  return nullptr;
}

std::vector<Value> pids_of_slices(std::span<const Value> events) {
  std::vector<Value> pids;
  std::set<std::string> seen;
  for (const Value& event : events) {
    if (!has_phase(event, "X")) continue;
    const Value& pid = item(event, "pid");
    if (pid.kind == Kind::kList || pid.kind == Kind::kDict) {
      throw python::failure("TypeError", fmt::format("unhashable type: '{}'", python::type_name(pid)));
    }
    if (!seen.insert(python::repr(pid)).second) continue;
    const bool known = std::any_of(pids.begin(), pids.end(), [&](const Value& other) { return equal(pid, other); });
    if (!known) pids.push_back(pid);
  }
  return pids;
}

Value model_pid(std::span<const Value> events, const std::string& path, std::ostream& warnings) {
  if (const Value* pid = named_pid(events)) return *pid;
  const std::vector<Value> pids = pids_of_slices(events);
  if (pids.size() != 1) {
    throw python::failure(
        "ValueError", fmt::format("Cannot identify profiling PID in {}. Found PIDs: {}", path, python::set_text(pids)));
  }
  warnings << fmt::format("Warning: profiling PID not found by name in {}, using sole PID {}\n", path,
                          python::str(pids[0]));
  return pids[0];
}

[[noreturn]] void throw_unsupported(std::string_view operation, std::string_view left, std::string_view right) {
  throw python::failure("TypeError",
                        fmt::format("unsupported operand type(s) for {}: '{}' and '{}'", operation, left, right));
}

// What `operation` takes for a number.
double operand(const Value& value, std::string_view operation) {
  const auto number = number_of(value);
  if (!number) {
    if (operation == "/") throw_unsupported(operation, python::type_name(value), "int");
    throw_unsupported(operation, "float", python::type_name(value));
  }
  if (value.kind == Kind::kInt && std::isinf(*number)) {
    throw python::failure("OverflowError", operation == "/" ? "integer division result too large for a float"
                                                            : "int too large to convert to float");
  }
  return *number;
}

struct SubKernel {
  std::string name;
  double us;
};

// Empty: the event does not say.
std::vector<SubKernel> sub_kernels_of(const Value* given) {
  using python::LiteralKind;
  if (given == nullptr || given->kind != Kind::kText) return {};
  const auto literal = python::parse_literal(given->text);
  if (!literal || literal->kind != LiteralKind::kList) return {};
  const auto is_pair = [](const python::Literal& x) {
    return (x.kind == LiteralKind::kList || x.kind == LiteralKind::kTuple) && x.items.size() == 2;
  };
  if (!std::all_of(literal->items.begin(), literal->items.end(), is_pair)) return {};
  std::vector<SubKernel> out;
  for (const python::Literal& pair : literal->items) {
    const python::Literal& name = pair.items[0];
    const python::Literal& us = pair.items[1];
    if (!python::is_hashable(name)) {
      throw python::failure("TypeError", fmt::format("unhashable type: '{}'", python::type_name(name)));
    }
    if (us.kind < LiteralKind::kBool || us.kind > LiteralKind::kFloat) {
      throw_unsupported("+=", "float", python::type_name(us));
    }
    if (name.kind != LiteralKind::kText) throw_unsupported("<", python::type_name(name), "str");
    out.push_back({name.text, us.number});
  }
  return out;
}

// Names separated by commas.
std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view name = python::strip(text.substr(at, end - at));
    if (!name.empty()) names.emplace_back(name);
    at = end + 1;
  }
  return names;
}

class ModelReader {
 public:
  explicit ModelReader(const OpMapping& mapping) : mapping_(mapping) {}

  void add(const Value& event) {
    const std::string& op = text_for(item(event, "name"), "replace");
    const Value* dur = event.find("dur");
    const Value* args = event.find("args");
    if (mapping_.root_type() != "dict") throw_no_attribute(mapping_.root_type(), "get");
    const OpMappingEntry* entry = mapping_.find(op);
    if (entry != nullptr && entry->zero_cost) return;
    const Value* kernel = args == nullptr ? nullptr : get(*args, "kernel_type");
    if (kernel != nullptr && kernel->is_true() && !kernel->is_text("?")) {
      add_hit(op, python::str(*kernel), dur, args->find("sub_kernel_durations"));
    } else {
      const std::string& type = entry == nullptr || entry->kernel_type.empty() ? op : entry->kernel_type;
      ModelTotal& total = touch(type, op);
      ++total.misses;
      total.us += duration(dur, "+=");
    }
  }

  [[nodiscard]] ModelTotals take() { return std::move(totals_); }

 private:
  static double duration(const Value* dur, std::string_view operation) {
    return dur == nullptr ? 0 : operand(*dur, operation);
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
    const std::vector<std::string> names = names_in(kernel);
    const double each = names.empty() ? 0 : duration(dur, "/") / static_cast<double>(names.size());
    for (const std::string& name : names) hit(name, op, each);
    const bool counts_all_reduce = ascii_lower(op).find("all_reduce") != std::string::npos &&
                                   std::find(names.begin(), names.end(), kAllReduce) == names.end();
    if (counts_all_reduce) hit(kAllReduce, op, 0);
  }

  const OpMapping& mapping_;
  ModelTotals totals_;
};

}  // namespace

ModelTotals read_model(const std::string& path, const OpMapping& mapping, std::ostream& warnings) {
  const Value trace = python::read_json(python::read_text(path));
  const std::span<const Value> events = events_of(trace);
  const Value pid = model_pid(events, path, warnings);
  const Value none;
  ModelReader reader(mapping);
  for (const Value& event : events) {
    if (!has_phase(event, "X")) continue;
    const Value* own = event.find("pid");
    if (equal(own == nullptr ? none : *own, pid)) reader.add(event);
  }
  return reader.take();
}

}  // namespace tracedb::msmodeling
