#include "ingest/batch.h"

#include <doctest/doctest.h>

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

}  // namespace

TEST_CASE("failures stay alone, and what is valid is left alone") {
  Folder folder;
  for (const char* name : {"a.json", "b.json", "c.json"}) folder.file(name);
  folder.file("bad.json", "no trace");
  folder.file("cut.json", std::string_view(kTrace).substr(0, 60));
  IngestOptions options;
  options.jobs = 2;
  const BatchResult first = folder.run(options);
  CHECK(first.count(TraceStatus::kBuilt) == 3);
  CHECK(first.count(TraceStatus::kSalvaged) == 1);
  CHECK(first.count(TraceStatus::kFailed) == 1);
  CHECK(first.first_failure == ErrorCode::kInput);
  CHECK(first.lossy);
  CHECK(folder.recorder.records["a.json"].events == 1);
  CHECK(folder.recorder.records["bad.json"].error.find("bad.json") != std::string::npos);
  const BatchResult second = folder.run(options);
  CHECK(second.count(TraceStatus::kValid) == 4);
  CHECK(second.lossy);  // of a salvaged trace, still
  CHECK(folder.recorder.records["a.json"].events == 1);
}

TEST_CASE("other options make an index stale") {
  Folder folder;
  folder.file("a.json");
  CHECK(folder.run().count(TraceStatus::kBuilt) == 1);
  IngestOptions options;
  options.events.arguments = EventArguments::kKeep;
  CHECK(folder.run(options).count(TraceStatus::kBuilt) == 1);
  options.accept_any_events = true;
  options.events.arguments = EventArguments::kOmit;
  CHECK(folder.run(options).count(TraceStatus::kValid) == 1);
}

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

TEST_CASE("leftovers are the files that killed builds of this index made, and no others") {
  const TempDirectory directory;
  const fs::path index = directory / "a.json.tracedb";
  for (const char* name :
       {"a.json.tracedb.abcdef.partial", "b.json.tracedb.abcdef.partial", "a.json.tracedb.abc.partial"}) {
    static_cast<void>(directory.write(name, ""));
  }
  static_cast<void>(directory.write("a.json.tracedb.ghijkl.partial", "text"));
  CHECK(remove_leftovers(index) == 1);
  CHECK_FALSE(fs::exists(directory / "a.json.tracedb.abcdef.partial"));
}

TEST_CASE("a directory for indexes is marked as a cache only if it was empty") {
  const TempDirectory directory;
  const fs::path trace = directory.write("a.json", kTrace);
  const fs::path fresh = directory / "fresh", used = directory / "used";
  CHECK(new_index_path(trace, fresh).parent_path() == fresh);
  CHECK(fs::exists(fresh / "CACHEDIR.TAG"));
  fs::create_directory(used);
  static_cast<void>(directory.write("used/notes", "precious"));
  new_index_path(trace, used);
  CHECK_FALSE(fs::exists(used / "CACHEDIR.TAG"));
  CHECK(new_index_path(trace, {}) == sidecar_path(trace));
}

}  // namespace tracedb
