// What the tables of two traces say beside their steps: framework operators by name, which one side adds or lacks,
// which run more often, or longer; by shape, how near both come to the peaks of their devices; the memory that was
// allocated; and what stands out in either.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/index.h"
#include "passes/steps/step_set.h"
#include "sql/database.h"

namespace tracedb {

struct OperatorSums {
  std::int64_t calls = 0;
  std::int64_t host = 0;    // ns: of the calls themselves, without the operators in them
  std::int64_t device = 0;  // ns: of the kernels, copies and fills they launch themselves; concurrent ones count twice
};

enum class OperatorStatus { kNew, kGone, kMore, kFewer, kSlower, kFaster, kSame };
std::string_view to_string(OperatorStatus status);

struct OperatorChange {
  std::string name;
  OperatorSums baseline, candidate;
  double host_change = 0, device_change = 0;  // per unit
  OperatorStatus status = OperatorStatus::kSame;
  std::string under;  // of one that is new or gone: the nearest operator around most of its calls that both sides have
};

struct ComparedOperators {
  const Index& index;
  const StepSet* steps;  // what is in them counts, a step being the unit; null: all, in one unit
  [[nodiscard]] double units() const { return steps == nullptr ? 1 : static_cast<double>(steps->steps.size()); }
};

// Largest change of host and device first. Linear in the operators and their device work.
std::vector<OperatorChange> operator_changes(const ComparedOperators& baseline, const ComparedOperators& candidate);

// An operator with inputs of the same shapes on both sides, of the same types or of others ("a -> b"); ns a call, of
// calls that launch work themselves.
struct ShapeChange {
  struct Side {
    std::int64_t calls = 0;
    double busy = 0;             // while work of the call ran on the device
    std::optional<double> roof;  // the least time by the device's peaks (schema/METRICS.md 13)
    double flops = 0, bytes = 0;
    [[nodiscard]] std::optional<double> share() const { return roof ? std::optional(*roof / busy) : std::nullopt; }
  };
  std::string operator_name, shape, types;
  Side baseline, candidate;

  [[nodiscard]] double change() const { return candidate.busy - baseline.busy; }
  // Shapes do not say all: lengths of attention lie in tensors. By 1 %.
  [[nodiscard]] bool is_same_work() const {
    const auto alike = [](double a, double b) { return std::abs(a - b) <= 0.01 * std::max(a, b); };
    return alike(baseline.flops, candidate.flops) && alike(baseline.bytes, candidate.bytes);
  }
  // The larger share of the two; nullopt where either is not known, or the work differs.
  [[nodiscard]] std::optional<double> best_share() const {
    if (!baseline.roof || !candidate.roof || !is_same_work()) return std::nullopt;
    return std::max(*baseline.share(), *candidate.share());
  }
  // Of the change: what the other device brings if both come as near to their roofs. The rest is how well it is used.
  [[nodiscard]] std::optional<double> hardware() const {
    const std::optional<double> share = best_share();
    return share ? std::optional((*candidate.roof - *baseline.roof) / *share) : std::nullopt;
  }
};

// By operator, shape and types. The database has the pass table operator_work.
using ShapeSides = std::map<std::array<std::string, 3>, ShapeChange::Side>;
ShapeSides shape_sides(Database& database);

// What both have, baseline and candidate; the largest change over all calls first.
std::vector<ShapeChange> shape_changes(const ShapeSides& before, const ShapeSides& after);

// The most memory that a trace has allocated at once, and what that was.

struct MemoryPeak {
  std::string device;      // "cuda 0", "hip 0", "cpu"
  std::int64_t bytes = 0;  // allocated, with what was there before the trace where that is recorded
  std::map<std::string, std::int64_t, std::less<>>
      of_operators;  // all of them: of the trace's allocations alive then, "[none]" outside of all; and the rest
  std::optional<std::int64_t> step = {};  // number of the step marked on the host then
};

// Largest peak first; empty: the trace has no events of memory. The database has the pass table memory_events.
std::vector<MemoryPeak> memory_peaks(Database& database);

// Of one device, on both sides: the peak, and what of it the operators allocated; largest change first.
struct MemoryChange {
  std::string device, operator_name;  // operator_name "": the peak
  std::int64_t baseline = 0, candidate = 0;
  std::optional<std::int64_t> step = {};  // of the higher of two peaks
};
// Devices of a number that both sides have, or the only one of each side.
std::vector<MemoryChange> memory_changes(const std::vector<MemoryPeak>& baseline,
                                         const std::vector<MemoryPeak>& candidate);

// What stands out in where a trace spends its time: the report `findings` (schema/reports/findings.sql) for those that
// say it in words beside something else.

struct TraceFinding {
  std::string name;  // "data_loader"; schema/reports/findings.sql has them
  double share_pct = 0;
  bool stands_out = false;
  std::string text;  // "input bound: 22.9 % of the step waits for the data loader"
};

// What stands out first. The database has the pass tables of a workload (passes/tables/pass_tables.h).
// `beside_ledger`: without what a ledger of steps says, too.
std::vector<TraceFinding> findings_of(Database& database, bool beside_ledger = false);

}  // namespace tracedb
