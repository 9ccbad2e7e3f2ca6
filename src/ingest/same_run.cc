#include "ingest/same_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include "base/files/input_file.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

struct SourceKind {
  std::string_view begin, end;  // of names; before `begin` may stand anything
  std::string_view why;         // it is preferred to the kinds below
};
// The fullest first.
constexpr std::array kKinds = {
    SourceKind{"ascend_pytorch_profiler", ".db", "operators, Python calls, kernels and their shapes"},
    SourceKind{"ascend_mindspore_profiler", ".db", "operators, kernels and their shapes"},
    SourceKind{"trace_view", ".json", "operators and launches beside the kernels"},
    SourceKind{"msprof_", ".db", "calls, kernels and their shapes"},
    SourceKind{"msprof_", ".json", "calls beside the kernels"},
    SourceKind{"kernel_details", ".csv", "kernels and their shapes"},
    SourceKind{"op_summary", ".csv", "kernels and their shapes"},
};
// What the profilers write beside them, as far as it is searched for, and is no trace.
constexpr std::array<std::string_view, 5> kOtherFiles = {"communication.json", "communication_matrix.json",
                                                         "profiler_info", "profiler_metadata.json", "sample.json"};

// A file that holds a run, or that lies beside those that do.
struct Source {
  fs::path file;
  std::size_t kind = kKinds.size();  // position in kKinds; behind the last: no trace
};

std::string_view uncompressed_name(std::string_view name) {
  for (const std::string_view end : {".gz", ".zst"}) {
    if (name.ends_with(end)) name.remove_suffix(end.size());
  }
  return name;
}

std::optional<std::string> run_folder(const fs::path& file) {
  std::error_code error;
  const fs::path real = fs::weakly_canonical(file, error);
  std::optional<std::string> nearest;
  for (fs::path folder = real.parent_path(); folder != folder.parent_path(); folder = folder.parent_path()) {
    const std::string name = folder.filename().string();
    if (name.ends_with("_ascend_pt") || name.ends_with("_ascend_ms")) return folder.string();
    if (!nearest && (name == "ASCEND_PROFILER_OUTPUT" || name.starts_with("PROF_"))) nearest = folder.string();
  }
  return nearest;
}

class Runs {
 public:
  void add(const fs::path& file) {
    const std::string name = file.filename().string();
    const std::string_view plain = uncompressed_name(name);
    const std::optional<std::string> folder = run_folder(file);
    for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
      const std::size_t at = plain.find(kKinds[kind].begin);
      if (at == std::string_view::npos || !plain.ends_with(kKinds[kind].end)) continue;
      Run& run = runs_[folder ? *folder : (file.parent_path() / plain.substr(0, at)).string() + "*"];
      run.is_folder = folder.has_value();
      run.sources.push_back({file, kind});
      return;
    }
    const bool known = std::any_of(kOtherFiles.begin(), kOtherFiles.end(),
                                   [&](std::string_view other) { return plain.starts_with(other); });
    if (known && folder) runs_[*folder].sources.push_back({file});
  }

  void choose(TraceList& list) {
    std::set<fs::path> dropped;
    for (auto& [place, run] : runs_) run.choose(list, dropped);
    std::erase_if(list.traces, [&](const fs::path& trace) { return dropped.contains(trace); });
  }

 private:
  struct Run {
    std::vector<Source> sources;
    bool is_folder = false;  // else files beside each other

    void choose(TraceList& list, std::set<fs::path>& dropped) const {
      const auto best = std::min_element(sources.begin(), sources.end(),
                                         [](const Source& a, const Source& b) { return a.kind < b.kind; });
      if (best->kind == kKinds.size() || (!is_folder && has_two_of_a_kind())) return;
      std::string others;
      for (const Source& source : sources) {
        if (source.kind == best->kind) continue;
        const bool trace = source.kind < kKinds.size();
        const std::string name = printable_path(best->file.filename());
        list.same_run.push_back({source.file, trace ? fmt::format("same run as {}", name)
                                                    : fmt::format("no trace, but a table of the run of {}", name)});
        dropped.insert(source.file);
        if (trace) others += (others.empty() ? "" : ", ") + printable_path(source.file.filename());
      }
      if (others.empty()) return;
      list.choices.push_back(fmt::format("{}: read, for it has {}; same run: {} (name a file to read it too)",
                                         printable_path(best->file), kKinds[best->kind].why, others));
    }

    [[nodiscard]] bool has_two_of_a_kind() const {
      std::set<std::size_t> kinds;
      return std::any_of(sources.begin(), sources.end(),
                         [&](const Source& source) { return !kinds.insert(source.kind).second; });
    }
  };

  std::map<std::string, Run> runs_;  // by where they are
};

}  // namespace

void keep_one_source_a_run(TraceList& list, const std::vector<fs::path>& named) {
  Runs runs;
  for (const fs::path& trace : list.traces) {
    if (std::find(named.begin(), named.end(), trace) == named.end()) runs.add(trace);
  }
  runs.choose(list);
}

}  // namespace tracedb
