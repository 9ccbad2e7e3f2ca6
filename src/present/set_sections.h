// The comparison of two sets of runs as tables, one for each section, and as a page of sentences. Pure.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "compare/runs/run_sets.h"
#include "compare/runs/set_comparison.h"
#include "present/cells.h"
#include "present/gate.h"
#include "present/page_text.h"

namespace tracedb {

inline constexpr const char* kSideNames[] = {"baseline", "candidate"};

struct RunSource {
  std::string name;
  std::vector<std::string> traces;  // paths as given or found, by rank
  std::int64_t date_ns = 0;         // 0: not known
  std::string gpu;                  // "": not known
  bool left_out = false;            // --leave-out
  std::string hash;                 // of the content of its first trace
};

struct NamedRun {
  Run run;
  RunSource source;
};

struct PhaseAnswer {
  RunPhase phase;
  SetComparison comparison;
  [[nodiscard]] std::string measure() const { return phase.by_period ? "period" : "span"; }
  [[nodiscard]] std::string measure_at_equal_speed() const { return measure() + " at equal speed"; }
};

struct SetsAnswer {
  std::array<std::vector<RunSource>, 2> runs;  // baseline, candidate
  std::vector<PhaseAnswer> phases;             // longest first
  SetOptions options;
  bool paired = false;
  std::optional<Gate> gate;
  std::vector<std::string> warnings;

  [[nodiscard]] GateOutcome gate_outcome() const;  // fail where a phase fails; else pass where all that are judged do
  [[nodiscard]] bool gate_is_idle() const;  // nothing that it is about can be judged, however many runs there are
  [[nodiscard]] bool gate_failed() const { return fails(*gate, gate_outcome(), gate_is_idle()); }
};

std::string gate_text(const SetsAnswer& answer);

using SetSection = SectionOf<SetsAnswer>;
std::span<const SetSection> set_sections();

inline constexpr int kSetsVersion = 1;  // of the shape of its JSON

// At most 30 lines: headline, verdict by phase, reasons, what else moved, runs that stand out, warnings, commands.
Page sets_page(const SetsAnswer& answer, std::size_t width);

}  // namespace tracedb
