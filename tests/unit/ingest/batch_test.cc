#include "ingest/batch.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <variant>

#include "index/index.h"
#include "index/leftovers.h"
#include "index/locate.h"
#include "ingest/ensure_index.h"
#include "ingest/trace_list.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTrace =
    R"({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "ts": 1, "dur": 2, "pid": 1, "tid": 1}]})";

class Recorder : public BatchObserver {
 public:
  std::map<std::string, TraceRecord> records;
  std::function<void(const fs::path&)> on_start = [](const fs::path&) {};

  void started(const fs::path& trace) override { on_start(trace); }
  void progress(const fs::path&, const IngestProgress&) override {}
  void waiting(const fs::path&) override {}
  void finished(const TraceRecord& record) override { records[record.trace.filename().string()] = record; }
};

class Folder {
 public:
  void file(const char* name, std::string_view content = kTrace) { traces_.push_back(directory_.write(name, content)); }
  BatchResult run(const IngestOptions& options = {}) {
    TraceList list;
    list.traces = traces_;
    return run_batch(list, options, recorder);
  }
  [[nodiscard]] fs::path path(const char* name) const { return directory_ / name; }
  Recorder recorder;

 private:
  TempDirectory directory_;
  std::vector<fs::path> traces_;
};

TEST_CASE("a valid index is handed out open, any other is built") {
  const TempDirectory directory;
  const fs::path trace = directory.write("a.json", kTrace);
  const fs::path index = sidecar_path(trace);
  IngestOptions options;
  CHECK_FALSE(open_valid_index(trace, index, options));
  CHECK(std::holds_alternative<IngestResult>(ensure_index(trace, index, options)));
  const std::optional<Index> valid = open_valid_index(trace, index, options);
  REQUIRE(valid);
  CHECK(valid->meta("events_read") == "1");
  const auto found = ensure_index(trace, index, options);
  REQUIRE(std::holds_alternative<Index>(found));
  CHECK(std::get<Index>(found).path() == index);

  std::atomic<bool> cancel = true;
  options.cancel = &cancel;
  options.full_check = true;
  CHECK_THROWS_WITH(open_valid_index(trace, index, options), "interrupted");
  fs::resize_file(index, fs::file_size(index) / 2);
  CHECK_FALSE(open_valid_index(trace, index, options));
  CHECK(std::holds_alternative<IngestResult>(ensure_index(trace, index, IngestOptions())));
}

TEST_CASE("after a failure or an interrupt nothing new is begun") {
  Folder folder;
  folder.file("bad.json", "no trace");
  folder.file("a.json");
  folder.file("b.json");
  IngestOptions options;
  options.jobs = 1;
  options.fail_fast = true;
  CHECK(folder.run(options).count(TraceStatus::kSkipped) == 2);

  std::atomic<bool> cancel = false;
  options.fail_fast = false;
  options.cancel = &cancel;
  folder.recorder.on_start = [&](const fs::path& trace) { cancel = trace.filename() == "a.json"; };
  const BatchResult result = folder.run(options);
  CHECK(result.interrupted);
  CHECK(result.count(TraceStatus::kFailed) == 1);
  CHECK(result.count(TraceStatus::kSkipped) == 2);
  CHECK_FALSE(fs::exists(sidecar_path(folder.path("a.json"))));
}

TEST_CASE("a trace that changes while it is read is tried once more") {
  Folder folder;
  folder.file("a.json");
  IngestOptions options;
  options.chunk_size = 64;
  // The observer's calls come while the trace is read.
  class Writer : public Recorder {
   public:
    int changes = 0;
    void progress(const fs::path& trace, const IngestProgress&) override {
      if (changes-- > 0) std::ofstream(trace, std::ios::app) << ' ';
    }
  } writer;
  TraceList list;
  list.traces = {folder.path("a.json")};
  writer.changes = 1;
  CHECK(run_batch(list, options, writer).count(TraceStatus::kBuilt) == 1);
  fs::remove(sidecar_path(list.traces.front()));
  writer.changes = 1000;
  CHECK(run_batch(list, options, writer).first_failure == ErrorCode::kTransient);
  CHECK_FALSE(fs::exists(sidecar_path(list.traces.front())));
}

class Tree {
 public:
  explicit Tree(std::initializer_list<const char*> files = {}) {
    for (const char* name : files) file(name);
  }
  void file(const char* name) {
    fs::create_directories((directory_ / name).parent_path());
    static_cast<void>(directory_.write(name, "[]"));
  }
  void link(const char* target, const char* name) { fs::create_symlink(target, directory_ / name); }
  [[nodiscard]] fs::path path(const char* name) const { return directory_ / name; }
  [[nodiscard]] const fs::path& top() const { return directory_.path(); }

  // Relative paths, joined by a blank.
  [[nodiscard]] std::string found(const std::vector<std::string>& globs = default_globs()) const {
    return names(list_traces({top()}, globs, {}).traces);
  }
  [[nodiscard]] std::string names(const std::vector<fs::path>& paths) const {
    std::string all;
    for (const fs::path& path : paths) all += (all.empty() ? "" : " ") + path.lexically_relative(top()).string();
    return all;
  }

 private:
  TempDirectory directory_;
};

TEST_CASE("folders are searched with all below them, in the order of the paths") {
  Tree tree({"b.json", "a/z.json.gz", "a/b/c.json.zst", "a.json", "a/notes.txt", "a.jsonl", "a/kernel_details_0.csv",
             "a/level2_kernel_details.csv", "a/kernel_details.csv.gz", "a/op_statistic.csv", "op_summary_0_1.csv",
             "ascend_pytorch_profiler_0.db", "x.db", "run.sqlite"});
  CHECK(tree.found() ==
        "a/b/c.json.zst a/kernel_details.csv.gz a/kernel_details_0.csv a/level2_kernel_details.csv a/z.json.gz a.json "
        "ascend_pytorch_profiler_0.db b.json "
        "op_summary_0_1.csv run.sqlite");
}

TEST_CASE("of each run of Ascend's profilers one source is read") {
  Tree tree({"a_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db",
             "a_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json",
             "a_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv",
             "a_ascend_pt/ASCEND_PROFILER_OUTPUT/communication.json",
             "a_ascend_pt/profiler_info_0.json",
             "a_ascend_pt/PROF_1/mindstudio_profiler_output/op_summary_1.csv",
             "a_ascend_pt/PROF_1/msprof_1.db",
             "b_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json",
             "b_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv",
             "PROF_2/mindstudio_profiler_output/msprof_slice_0_9.json",
             "PROF_2/out/msprof_slice_1_9.json",
             "PROF_2/out/op_summary_9.csv",
             "flat/rank0_trace_view.json.gz",
             "flat/rank0_kernel_details.csv",
             "flat/rank1_kernel_details.csv",
             "flat/communication.json",
             "ranks/kernel_details_0.csv",
             "ranks/kernel_details_1.csv",
             "ranks/trace_view.json",
             "other/model.json",
             "other/kernel_details.csv"});
  TraceList list = list_traces({tree.top()}, {"*.json", "*.json.gz", "*.csv", "*.db"}, {});
  keep_one_source_a_run(list, {});
  CHECK(tree.names(list.traces) ==
        "PROF_2/mindstudio_profiler_output/msprof_slice_0_9.json PROF_2/out/msprof_slice_1_9.json "
        "a_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db "
        "b_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json flat/communication.json flat/rank0_trace_view.json.gz "
        "flat/rank1_kernel_details.csv other/kernel_details.csv other/model.json ranks/kernel_details_0.csv "
        "ranks/kernel_details_1.csv ranks/trace_view.json");
  CHECK(list.same_run.size() == 9);
  REQUIRE(list.choices.size() == 4);
  CHECK(list.choices[1].find("a_ascend_pt/ASCEND_PROFILER_OUTPUT/ascend_pytorch_profiler_0.db: read, for it has") !=
        std::string::npos);
  CHECK(list.choices[1].find("same run: kernel_details.csv, trace_view.json, op_summary_1.csv, msprof_1.db") !=
        std::string::npos);
}

TEST_CASE("a file that is named is read, whatever has the same run") {
  Tree tree({"run/trace_view.json", "run/kernel_details.csv"});
  const std::vector<fs::path> named = {tree.path("run"), tree.path("run/kernel_details.csv")};
  TraceList list = list_traces(named, default_globs(), {});
  keep_one_source_a_run(list, named);
  CHECK(list.traces.size() == 2);
  CHECK(list.choices.empty());
}

TEST_CASE("our own files are never taken for traces") {
  Tree tree({"x.json", "x.json.tracedb", "x.json.tracedb.lock", "x.json.tracedb.a1b2c3.partial",
             "x.json.tracedb-journal", "CACHEDIR.TAG"});
  CHECK(tree.found({"*"}) == "x.json");
}

TEST_CASE("a glob with a slash is matched against the path below the folder") {
  Tree tree({"run1/a.json", "run1/b.json", "run2/a.json", "run1/deep/a.json"});
  CHECK(tree.found({"run1/*.json"}) == "run1/a.json run1/b.json");
  CHECK(tree.found({"a.json"}) == "run1/a.json run1/deep/a.json run2/a.json");
}

TEST_CASE("links end: no folder twice, no file twice, nothing through a dead link") {
  Tree tree({"run/a.json"});
  tree.link("run", "latest");
  tree.link("..", "run/up");
  tree.link("run/a.json", "a.json");
  tree.link("nowhere", "dead.json");
  tree.link("self.json", "self.json");
  const TraceList list = list_traces({tree.top()}, default_globs(), {});
  CHECK(tree.names(list.traces) == "run/a.json");
  CHECK(list.skipped.size() == 2);
  const TempDirectory outside;
  const fs::path target = outside.write("outside.json", "[]");
  tree.link(target.c_str(), "outside.json");
  CHECK(tree.found() == "outside.json run/a.json");
}

TEST_CASE("what is named is taken once, whatever it is called") {
  Tree tree({"a.json", "b.txt"});
  const TraceList list =
      list_traces({tree.path("b.txt"), "-", tree.path("absent"), tree.path("b.txt"), tree.top()}, default_globs(), {});
  CHECK(list.traces == std::vector<fs::path>{tree.path("b.txt"), "-", tree.path("absent"), tree.path("a.json")});
}

TEST_CASE("an empty folder and the file the run writes are told apart from traces") {
  Tree tree({"summary.json"});
  const TraceList list = list_traces({tree.top()}, default_globs(), tree.path("summary.json"));
  CHECK(list.traces.empty());
  CHECK(list.empty == std::vector<fs::path>{tree.top()});
}

TEST_CASE("lists of paths: lines, or NULs where names have line feeds") {
  using Paths = std::vector<fs::path>;
  CHECK(parse_path_list("a\nb c\n\nd") == Paths{"a", "b c", "d"});
  CHECK(parse_path_list(std::string_view("a\nb\0c\0", 6)) == Paths{"a\nb", "c"});
  CHECK(parse_path_list("").empty());
}

}  // namespace
}  // namespace tracedb
