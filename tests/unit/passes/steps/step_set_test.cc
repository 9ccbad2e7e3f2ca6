#include "passes/steps/step_set.h"

#include <doctest/doctest.h>

#include "passes/classify/kernel_classes.h"
#include "passes/layers/layer_set.h"
#include "support/small_index.h"
#include "support/temp_directory.h"

namespace tracedb {
namespace {

// A small index with annotations, steps and kernels of our own.
struct StepFixture {
  TempDirectory folder;
  Index index;

  explicit StepFixture(const std::string& sql) : index(open(folder / "small.tracedb", sql)) {}
  static Index open(const std::filesystem::path& path, const std::string& sql) {
    write_small_index(path);
    Database database(path, Database::Mode::kReadWrite);
    database.execute("DELETE FROM annotation; DELETE FROM step; DELETE FROM kernel; DELETE FROM memory_op;" + sql);
    return Index::open(path);
  }
  [[nodiscard]] StepSet steps(const StepOptions& options = {}) const {
    return load_steps(index, options, EventTables(index), KernelClasses(index, load_rules("default")).traits());
  }
  // "decode 16 | unknown -": kinds and decode requests; then the step of each kernel.
  [[nodiscard]] std::string text(const StepOptions& options = {}) const {
    const StepSet set = steps(options);
    std::string out;
    for (const StepFacts& step : set.steps) {
      out += (out.empty() ? "" : " | ") + std::string(to_string(step.info.kind)) + " " +
             (step.info.generation_requests ? std::to_string(*step.info.generation_requests) : "-");
    }
    out += " :";
    for (const std::uint32_t step : set.of_kernel) out += " " + std::to_string(step);
    return out;
  }
};

std::string kernel_rows(std::string_view steps_and_annotations) {
  return "INSERT INTO kernel (id, ts, dur, name_id, stream_id, step_id, annotation_id, kind) VALUES " +
         std::string(steps_and_annotations);
}

constexpr const char* kNames =
    "INSERT INTO string VALUES (20,'ProfilerStep#1'), (21,'execute_context_0(0)_generation_16(16)'), "
    "(22,'step[DECODE bs=16]'), (23,'Optimizer.step#SGD.step'), (24,'iter decode 4'), (25,'iter prefill 9');";

}  // namespace

TEST_CASE("marks inside one another count once: the outer one, with the facts of the one that says more") {
  const StepFixture fixture(
      std::string(kNames) +
      "INSERT INTO annotation (id, ts, dur, kind, thread_id, name_id, parent_id) VALUES "
      "(1,0,100,'user',1,22,NULL), (2,10,50,'user',1,21,1);"
      "INSERT INTO step (id, annotation_id, sequence, kind, context_requests, generation_requests, "
      "generation_tokens) VALUES (1,1,0,'decode',NULL,NULL,NULL), (2,2,1,'decode',0,16,16);" +
      kernel_rows("(1,5,1,1,1,1,1,'compute'), (2,20,1,1,1,2,2,'compute'), (3,90,1,1,1,NULL,NULL,'compute')"));
  CHECK(fixture.text() == "decode 16 : 1 1 0");
}

TEST_CASE("a mark that says nothing gives way to those inside it that do") {
  const StepFixture fixture(
      std::string(kNames) +
      "INSERT INTO annotation (id, ts, dur, kind, thread_id, name_id, parent_id) VALUES "
      "(1,0,100,'user',1,20,NULL), (2,10,20,'user',1,21,1), (3,40,20,'user',1,21,1);"
      "INSERT INTO step (id, annotation_id, sequence, kind, generation_requests) VALUES "
      "(1,1,0,'unknown',NULL), (2,2,1,'decode',16), (3,3,2,'decode',8);" +
      kernel_rows("(1,5,1,1,1,1,1,'compute'), (2,20,1,1,1,2,2,'compute'), (3,50,1,1,1,3,3,'compute')"));
  CHECK(fixture.text() == "decode 16 | decode 8 : 0 1 2");
  CHECK(fixture.steps().notes.size() == 1);
}

TEST_CASE("a profiler step in which an optimizer stepped is training") {
  const StepFixture fixture(
      std::string(kNames) +
      "INSERT INTO annotation (id, ts, dur, kind, thread_id, name_id, parent_id) VALUES "
      "(1,0,100,'user',1,20,NULL), (2,10,20,'user',1,23,1), (3,200,20,'user',1,20,NULL);"
      "INSERT INTO step (id, annotation_id, sequence, kind) VALUES (1,1,0,'unknown'), (2,3,1,'unknown');");
  CHECK(fixture.text() == "train - | unknown - :");
}

TEST_CASE("steps by a pattern: the outermost match around the launch") {
  const StepFixture fixture(std::string(kNames) +
                            "INSERT INTO annotation (id, ts, dur, kind, thread_id, name_id, parent_id) VALUES "
                            "(1,0,100,'user',1,24,NULL), (2,10,20,'user',1,20,1), (3,200,20,'user',1,25,NULL);" +
                            kernel_rows("(1,5,1,1,1,NULL,2,'compute'), (2,20,1,1,1,NULL,NULL,'compute'), "
                                        "(3,250,1,1,1,NULL,3,'compute')"));
  const StepOptions pattern{R"(^iter (?<kind>[a-z]+) (?<generation_requests>\d+)$)"};
  CHECK(fixture.text(pattern) == "decode 4 | prefill 9 : 1 0 2");
  CHECK(fixture.steps(pattern).source == StepSource::kPattern);
  CHECK(fixture.steps({"nothing"}).source == StepSource::kNone);
}

TEST_CASE("steps by a pattern from the device's annotations alone, once for all streams") {
  const StepFixture fixture(std::string(kNames) +
                            "INSERT INTO annotation (id, ts, dur, kind, stream_id, name_id) VALUES "
                            "(1,0,100,'gpu',1,24), (2,10,95,'gpu',2,24), (3,200,20,'gpu',1,24);" +
                            kernel_rows("(1,5,1,1,1,NULL,NULL,'compute'), (2,150,1,1,1,NULL,NULL,'compute'), "
                                        "(3,210,1,1,2,NULL,NULL,'compute')"));
  CHECK(fixture.text({"^iter"}) == "unknown - | unknown - : 1 0 2");
}

TEST_CASE("nothing to go by: no steps, no layers, and why") {
  const StepFixture fixture("");
  const StepSet set = fixture.steps();
  CHECK(set.source == StepSource::kNone);
  CHECK(set.notes.size() == 1);
  const EventTables events(fixture.index);
  const LayerSet layers = find_layers(fixture.index, events, set, {});
  CHECK(layers.layers == 0);
  CHECK(layers.of_kernel.empty());
}

}  // namespace tracedb
