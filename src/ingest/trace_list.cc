#include "ingest/trace_list.h"

#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <deque>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "base/files/input_file.h"
#include "base/stream/compressed_source.h"
#include "base/text/split.h"
#include "index/locate.h"
#include "ingest/formats.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

class FolderSearch {
 public:
  FolderSearch(TraceList& list, const std::vector<std::string>& globs, fs::path excluded, Indexes indexes)
      : list_(list), globs_(globs), indexes_(indexes), excluded_(std::move(excluded)) {}

  void search(const fs::path& folder) {
    top_ = folder;
    links_.clear();
    linked_folders_.clear();
    const std::size_t before = list_.traces.size() + list_.skipped.size() + list_.unreadable.size();
    enter(folder);
    while (!linked_folders_.empty()) {
      const fs::path next = linked_folders_.front();
      linked_folders_.pop_front();
      enter(next);
    }
    take_links();
    std::sort(list_.traces.begin() + static_cast<std::ptrdiff_t>(first_), list_.traces.end());
    first_ = list_.traces.size();
    if (before == list_.traces.size() + list_.skipped.size() + list_.unreadable.size()) list_.empty.push_back(folder);
  }

  void take_named(const fs::path& file) {
    if (file != "-" && !taken_.insert(real_path(file)).second) return;
    list_.traces.push_back(file);
    first_ = list_.traces.size();
  }

 private:
  static fs::path real_path(const fs::path& path) {
    std::error_code error;
    fs::path real = fs::canonical(path, error);
    return error ? path : real;
  }

  void enter(const fs::path& folder) {
    struct stat status {};
    if (::stat(folder.c_str(), &status) == 0 && !entered_.emplace(status.st_dev, status.st_ino).second) return;
    list_.folders.push_back(folder);
    std::error_code error;
    std::vector<fs::directory_entry> entries;
    fs::directory_iterator entry(folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) entries.push_back(*entry);
    if (error) list_.unreadable.push_back({folder, error.message()});
    std::ranges::sort(entries);
    for (const fs::directory_entry& found : entries) consider(found);
  }

  void consider(const fs::directory_entry& entry) {
    std::error_code error;
    const bool link = entry.is_symlink(error);
    if (entry.is_directory(error)) {
      if (link) {
        linked_folders_.push_back(entry.path());
      } else {
        enter(entry.path());
      }
      return;
    }
    if (!fits(entry.path())) return;
    if (link) {
      links_.push_back(entry.path());
    } else if (entry.is_regular_file(error)) {
      take(entry.path());
    }
  }

  [[nodiscard]] bool fits(const fs::path& path) const {
    if (is_own_file(path)) return indexes_ == Indexes::kTake && path.extension() == kIndexSuffix;
    const fs::path name = path.filename();
    if (name.native().ends_with(".truth.json")) return false;  // what make-trace planted in the trace beside it
    const fs::path below = path.lexically_relative(top_);
    return std::ranges::any_of(globs_, [&](const std::string& glob) {
      const bool whole = glob.find('/') != std::string::npos;
      return ::fnmatch(glob.c_str(), whole ? below.c_str() : name.c_str(), whole ? FNM_PATHNAME : 0) == 0;
    });
  }

  void take(const fs::path& file) {
    const fs::path real = real_path(file);
    if (real == excluded_ || !taken_.insert(real).second) return;
    list_.traces.push_back(file);
  }

  // Last, so that a file is taken under its own name if it has one here.
  void take_links() {
    for (const fs::path& link : links_) {
      std::error_code error;
      if (fs::is_regular_file(link, error)) {
        take(link);
      } else if (!fs::exists(link, error)) {
        list_.skipped.push_back({link, "a link to nothing"});
      }
    }
  }

  TraceList& list_;
  const std::vector<std::string>& globs_;
  Indexes indexes_;
  fs::path excluded_, top_;
  std::vector<fs::path> links_;
  std::deque<fs::path> linked_folders_;
  std::set<std::pair<dev_t, ino_t>> entered_;
  std::set<fs::path> taken_;
  std::size_t first_ = 0;  // of the traces of the folder at hand
};

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
    SourceKind{".xplane.pb", ".xplane.pb", "programs, launch configurations and all events"},
    SourceKind{".trace.json", ".trace.json", "kernels and calls"},
};
// What the profilers write beside them, as far as it is searched for, and is no trace.
constexpr std::array<std::string_view, 5> kOtherFiles = {"communication.json", "communication_matrix.json",
                                                         "profiler_info", "profiler_metadata.json", "sample.json"};

// A file that holds a run, or that lies beside those that do.
struct Source {
  fs::path file;
  std::size_t kind = kKinds.size();  // position in kKinds; behind the last: no trace

  [[nodiscard]] bool is_trace() const { return kind < kKinds.size(); }
  // Not so what a profiler leaves that was ended before it wrote. Of a file that is gone an index may be left.
  [[nodiscard]] bool holds_run() const {
    std::error_code error;
    return is_trace() && (is_readable_trace(file) || !fs::exists(file, error));
  }
  // JSON that does not end as a document does: what is behind is lost. Not known of compressed files.
  [[nodiscard]] bool is_cut() const {
    constexpr std::streamoff kTail = 64;  // bytes, white space among them
    std::ifstream in(file, std::ios::binary);
    if (!is_trace() || !file.native().ends_with(".json") || !in) return false;
    in.seekg(0, std::ios::end);
    in.seekg(-std::min<std::streamoff>(kTail, in.tellg()), std::ios::end);
    const std::string tail(std::istreambuf_iterator<char>(in), {});
    const std::size_t last = tail.find_last_not_of(" \t\r\n");
    return last != std::string::npos && tail[last] != ']' && tail[last] != '}';
  }
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
    const bool known =
        std::ranges::any_of(kOtherFiles, [&](std::string_view other) { return plain.starts_with(other); });
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

    void choose(TraceList& list, std::set<fs::path>& dropped) {
      drop_empty(list, dropped);
      const auto best = std::ranges::min_element(sources, {}, &Source::kind);
      if (best->kind == kKinds.size() || (!is_folder && has_two_of_a_kind())) return;
      std::string others;
      for (const Source& source : sources) {
        if (source.kind == best->kind) continue;
        const std::string name = printable_path(best->file.filename());
        list.same_run.push_back({source.file, source.is_trace()
                                                  ? fmt::format("same run as {}", name)
                                                  : fmt::format("no trace, but a table of the run of {}", name)});
        dropped.insert(source.file);
        if (source.is_trace()) others += (others.empty() ? "" : ", ") + printable_path(source.file.filename());
      }
      if (others.empty()) return;
      list.choices.push_back(fmt::format("{}: read, for it has {}; same run: {} (name a file to read it too)",
                                         printable_path(best->file), kKinds[best->kind].why, others));
    }

    // What would be the best source and holds nothing, or is cut off, if another holds the run.
    void drop_empty(TraceList& list, std::set<fs::path>& dropped) {
      std::size_t best = kKinds.size(), best_cut = kKinds.size();
      for (const Source& source : sources) {
        if (sources.size() == 1 || source.kind >= best || !source.holds_run()) continue;
        std::size_t& found = source.is_cut() ? best_cut : best;
        found = std::min(found, source.kind);
      }
      if (best == kKinds.size()) best = best_cut;
      if (best == kKinds.size()) return;
      std::erase_if(sources, [&](const Source& source) {
        const bool is_fuller = source.kind < best;
        if (is_fuller) {
          const std::string_view why = source.holds_run() ? "is cut off" : "holds no trace";
          list.unreadable.push_back({source.file, fmt::format("{}: another source of the run is read", why)});
          dropped.insert(source.file);
        }
        return is_fuller;
      });
    }

    [[nodiscard]] bool has_two_of_a_kind() const {
      std::set<std::size_t> kinds;
      return std::ranges::any_of(sources, [&](const Source& source) { return !kinds.insert(source.kind).second; });
    }
  };

  std::map<std::string, Run> runs_;  // by where they are
};

// Moves those that lie beside what they hold.
void drop_compressed(TraceList& list, const std::vector<fs::path>& named) {
  const std::set<fs::path> all(list.traces.begin(), list.traces.end());
  std::erase_if(list.traces, [&](const fs::path& trace) {
    const fs::path plain = uncompressed_name(trace.native());
    std::error_code error;
    if (plain == trace || !all.contains(plain) || std::ranges::find(named, trace) != named.end()) return false;
    const std::uintmax_t bytes = fs::is_regular_file(trace, error) ? fs::file_size(plain, error) : 0;
    if (bytes == 0 || error || !says_it_holds(trace, bytes)) return false;
    list.same_run.push_back({trace, fmt::format("same run as {}", printable_path(plain.filename()))});
    list.choices.push_back(fmt::format("{}: read; compressed: {} (name a file to read it too)", printable_path(plain),
                                       printable_path(trace.filename())));
    return true;
  });
}

}  // namespace

const std::vector<std::string>& default_globs() {
  static const std::vector<std::string> kGlobs = {"*.json",        "*.json.gz",
                                                  "*.json.zst",    "*kernel_details*.csv",
                                                  "*.sqlite",      "*.rpd",
                                                  "msprof_*.db",   "*kernel_details*.csv.gz",
                                                  "*.xplane.pb",   "*.xplane.pb.gz",
                                                  "*profiler*.db", "*op_summary*.csv",
                                                  "*_results.db",  "*op_summary*.csv.gz"};
  return kGlobs;
}

TraceList list_traces(const std::vector<fs::path>& given, const std::vector<std::string>& globs,
                      const fs::path& excluded, Indexes indexes) {
  TraceList list;
  std::error_code error;
  FolderSearch search(list, globs, excluded.empty() ? fs::path() : fs::weakly_canonical(excluded, error), indexes);
  for (const fs::path& path : given) {
    if (fs::is_directory(path, error)) {
      search.search(path);
    } else {
      search.take_named(path);
    }
  }
  return list;
}

std::vector<fs::path> parse_path_list(std::string_view text) {
  const char separator = text.find('\0') == std::string_view::npos ? '\n' : '\0';
  std::vector<fs::path> paths;
  for (std::string_view path : split_text(text, separator)) {
    if (separator == '\n' && path.ends_with('\r')) path.remove_suffix(1);  // written on Windows
    if (!path.empty()) paths.emplace_back(path);
  }
  return paths;
}

bool is_own_file(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::string suffix = kIndexSuffix;
  return name.ends_with(suffix) || name.ends_with(suffix + ".lock") || name == "CACHEDIR.TAG" ||
         name.ends_with(suffix + "-journal") ||
         (name.ends_with(".partial") && name.find(suffix + ".") != std::string::npos);
}

void keep_one_source_a_run(TraceList& list, const std::vector<fs::path>& named) {
  drop_compressed(list, named);
  Runs runs;
  for (const fs::path& trace : list.traces) {
    if (std::ranges::find(named, trace) == named.end()) runs.add(trace);
  }
  runs.choose(list);
}

}  // namespace tracedb
