// A picture as the page's script draws it: a kind, and what is drawn as JSON. Each kind has a function that makes it
// from the traces of the page; it returns nothing where the traces have nothing for it. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compare/comparison.h"
#include "compare/trace/compared_trace.h"

namespace tracedb {

// `data`: members of a JSON object, without its braces; times are whole ns. What each kind has is in src/web/pictures,
// by the file of its name.
struct Picture {
  std::string id, kind, title, note, data;
};

// One trace, or two that are compared.
struct PictureInput {
  std::vector<const ComparedTrace*> traces;
  std::vector<const Index*> indexes;  // of each
  std::vector<std::string> names;     // of each, as sentences call it
  const KernelNameTable& kernel_names;
  const Comparison& comparison;  // of one trace: groups of steps whose baseline is empty, and nothing else
  // Of one trace, the roles of the kernels of these rows; those of two traces are known (ComparedTrace::roles).
  std::function<KernelRoles(std::span<const std::uint32_t> rows)> roles_of = nullptr;

  [[nodiscard]] bool compares() const { return traces.size() > 1; }
  // As people call it, and its operation class in a group.
  [[nodiscard]] const std::string& kernel(NameId name) const;
  [[nodiscard]] const std::string& op(const GroupComparison& group, NameId name) const;
};

// A group of steps on one side.
struct PictureGroupSide {
  const ComparedTrace& trace;
  const GroupSide& steps;
  const GroupWork& work;
  std::int64_t units;  // that times are divided by
};
std::vector<PictureGroupSide> sides_of(const PictureInput& in, const GroupComparison& group);

// Groups that have pictures: those that take most time, the first of the comparison.
std::span<const GroupComparison> shown_groups(const PictureInput& in);

// "decode", "all" for a trace without steps; as part of an id, without blanks: "prefill-4096..8191-tokens".
std::string phase_of(const GroupComparison& group);
std::string id_of(std::string_view kind, std::string_view phase);
inline std::string id_of(std::string_view kind, const GroupComparison& group) { return id_of(kind, phase_of(group)); }

// "a decode step", "a step", "all of it": what a time of a group is of.
std::string unit_words(const PictureInput& in, const GroupComparison& group);

// Divides so that quotients add up: each is rounded with what rounding took from those before.
class SharedOut {
 public:
  explicit SharedOut(std::int64_t units) : units_(units) {}
  std::int64_t next(std::int64_t sum);

 private:
  std::int64_t units_, given_ = 0;
  std::int64_t sum_ = 0;
};

using Pictures = std::vector<Picture>;

// What `make` makes of each shown group.
template <class Make>
Pictures of_groups(const PictureInput& in, Make make) {
  Pictures out;
  for (const GroupComparison& group : shown_groups(in)) {
    if (std::optional<Picture> picture = make(group)) out.push_back(*std::move(picture));
  }
  return out;
}

// One for each group of steps that has it.
Pictures waterfalls(const PictureInput& in);
Pictures distributions(const PictureInput& in);
Pictures operation_pictures(const PictureInput& in);
Pictures layer_pictures(const PictureInput& in);
Pictures lane_pictures(const PictureInput& in);
Pictures flames(const PictureInput& in);
Pictures module_flames(const PictureInput& in);
Pictures timelines_of_steps(const PictureInput& in);
Pictures rooflines(const PictureInput& in);
Pictures memory_curves(const PictureInput& in);  // of one trace, with its pass tables

}  // namespace tracedb
