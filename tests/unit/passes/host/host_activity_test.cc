#include "passes/host/host_activity.h"

#include <doctest/doctest.h>

#include <string>

#include "passes/steps/step_set.h"
#include "support/ingested.h"

namespace tracedb {
namespace {

std::string python(std::string_view name, std::string_view ts, std::string_view dur, int id, std::string_view parent,
                   std::string_view thread = kMainThread) {
  return event("python_function", name, thread, ts, dur,
               fmt::format(R"("Python id":{},"Python parent id":{})", id, parent));
}

// Two kernels; between 20 and 120 us the host is in the user's code, which looks a dictionary up twice.
std::string host_bound() {
  return trace_of(event("cuda_runtime", "cudaLaunchKernel", kMainThread, "5", "2", R"("correlation":1)") +
                  event("kernel", "first", kGpuStream, "10", "10", R"("device":0,"stream":7,"correlation":1)") +
                  python("train.py(3): step", "0", "200", 1, "null") +
                  python("torch/nn/modules/module.py(9): _call_impl", "20", "99", 2, "1") +
                  python("model.py(40): forward", "30", "85", 3, "2") +
                  python("<built-in method __getitem__ of dict object at 0x12>", "40", "10", 4, "3") +
                  python("<built-in method __getitem__ of dict object at 0x34>", "60", "10", 5, "3") +
                  python("other.py(1): run", "0", "200", 6, "null", kOtherThread) +
                  event("cpu_op", "aten::mm", kMainThread, "90", "24", R"("External id":1)") +
                  event("cuda_runtime", "cudaLaunchKernel", kMainThread, "100", "10", R"("correlation":2)") +
                  event("kernel", "second", kGpuStream, "120", "10", R"("device":0,"stream":7,"correlation":2)") +
                  event("kernel", "alone", kGpuStream, "140", "10", R"("device":0,"stream":7)"));
}

struct HostFixture {
  Ingested ingested;
  Index index;
  EventTables events;
  LaunchThreads threads;
  explicit HostFixture(const std::string& trace)
      : ingested(trace),
        index(Index::open(ingested.directory() / "index")),
        events(index),
        threads(index, events.kernels, events.memory, events.device_of_stream) {}
};

std::string text_of(const HostActivities& all, const HostActivity& activity, HostLayer layer) {
  std::string out;
  for (const PlaceTime& time : activity[layer]) {
    out += fmt::format("{}{} {}/{}", out.empty() ? "" : "; ", all.text(layer, time.place), time.time, time.started);
  }
  return out;
}

}  // namespace

TEST_CASE("where nothing is recorded on a thread that launches from a queue, the thread that fed it") {
  const HostFixture fixture(
      trace_of(event("enqueue", "Enqueue", kMainThread, "1", "1", "") +
               event("dequeue", "Dequeue@Mul", kOtherThread, "4", "4", "") +
               event("cuda_runtime", "cudaLaunchKernel", kOtherThread, "5", "2", R"("correlation":1)") +
               event("kernel", "first", kGpuStream, "10", "1", R"("device":0,"stream":7,"correlation":1)") +
               event("cpu_op", "aten::add", kMainThread, "20", "50", "") +
               event("enqueue", "Enqueue", kMainThread, "65", "1", "") +
               event("dequeue", "Dequeue@Add", kOtherThread, "90", "4", "") +
               event("cuda_runtime", "cudaLaunchKernel", kOtherThread, "91", "1", R"("correlation":2)") +
               event("kernel", "second", kGpuStream, "95", "1", R"("device":0,"stream":7,"correlation":2)")));
  const std::uint32_t thread = fixture.threads.of({2, false});
  const HostActivities all(fixture.index,
                           {{11'000, 90'000, thread}, {4'000, 10'000, thread}, {11'000, 95'000, thread}});
  CHECK(all.text(HostLayer::kOperator, all.largest(2, HostLayer::kOperator).place) == "aten::add");
  CHECK(all.place(2).time == 50'000);
  CHECK(all.gaps()[1].thread == thread);  // its call is recorded
}

TEST_CASE("where the host was before a launch") {
  const HostFixture fixture(host_bound());
  const std::uint32_t thread = fixture.threads.of({2, false});
  const HostActivities all(fixture.index, {{20'000, 120'000, thread}, {130'000, 140'000, thread}});
  const HostActivity gap = all.of(0);
  CHECK(gap.time == 100'000);
  CHECK(text_of(all, gap, HostLayer::kPython) == "model.py(40): forward 85000/3; train.py(3): step 15000/1");
  CHECK(text_of(all, gap, HostLayer::kOperator) == "aten::mm 24000/1");
  CHECK(text_of(all, gap, HostLayer::kCall) == "cudaLaunchKernel 10000/1");
  CHECK(gap.python_calls() == 4);

  const HostPlace place = HostActivities::place(gap);
  CHECK(all.text(place.layer, place.place) == "model.py(40): forward");
  CHECK(place.share() == doctest::Approx(0.85));

  const std::vector<std::uint32_t> both = {0, 1};
  const HostActivity sum = all.sum(both);
  CHECK(sum.gaps == 2);
  CHECK(sum.time == 110'000);
  CHECK(text_of(all, sum, HostLayer::kPython) == "model.py(40): forward 85000/3; train.py(3): step 25000/1");
}

TEST_CASE("work without a launch is looked at on the busiest thread") {
  const HostFixture fixture(host_bound());
  CHECK(fixture.threads.of({3, false}) == fixture.threads.of({2, false}));
  CHECK(fixture.threads.of({}) == fixture.threads.of({2, false}));
}

TEST_CASE("a place without python, and none at all") {
  const HostFixture fixture(trace_of(
      event("kernel", "first", kGpuStream, "0", "20", R"("device":0,"stream":7,"correlation":1)") +
      event("cpu_op", "aten::copy_", kMainThread, "25", "90", R"("External id":1)") +
      event("cuda_runtime", "cudaMemcpyAsync", kMainThread, "30", "80", R"("correlation":2)") +
      event("gpu_memcpy", "Memcpy HtoD", kGpuStream, "120", "10", R"("device":0,"stream":7,"correlation":2)")));
  const std::uint32_t thread = fixture.threads.of({1, true});
  const HostActivities all(fixture.index, {{20'000, 120'000, thread}, {500'000, 600'000, thread}});
  const HostPlace place = HostActivities::place(all.of(0));
  CHECK(place.layer == HostLayer::kOperator);
  CHECK(all.text(place.layer, place.place) == "aten::copy_");
  CHECK(place.time == 90'000);
  CHECK(HostActivities::place(all.of(1)).place == kNoPlace);
}

}  // namespace tracedb
