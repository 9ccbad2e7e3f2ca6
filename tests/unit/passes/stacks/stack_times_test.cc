// Kernel time by module, class of modules and line of code.
#include "passes/stacks/stack_times.h"

#include <doctest/doctest.h>

#include "support/asked_passes.h"
#include "support/ingested.h"

namespace tracedb {
namespace {

// A call that holds what comes next, until it is closed.
class Trace {
 public:
  Trace& call(std::string_view name, int dur) {
    text_ += event("python_function", name, kMainThread, std::to_string(now_), std::to_string(dur),
                   fmt::format(R"("Python id":{})", ++id_));
    return *this;
  }
  Trace& kernel(int dur) {
    ++now_;
    text_ += event("cuda_runtime", "cudaLaunchKernel", kMainThread, std::to_string(now_), "1",
                   fmt::format(R"("correlation":{})", now_));
    text_ += event("kernel", "gemm", kGpuStream, std::to_string(1000 + 100 * now_), std::to_string(dur),
                   fmt::format(R"("device":0,"stream":7,"correlation":{})", now_));
    now_ += 2;
    return *this;
  }
  Trace& later(int time) {
    now_ += time;
    return *this;
  }
  [[nodiscard]] std::string text() const { return trace_of(text_); }

 private:
  std::string text_;
  int now_ = 0, id_ = 0;
};

// Two layers of one linear each, called by vllm through torch; a kernel of the script and one of a library alone.
std::string model() {
  Trace trace;
  trace.call("serve.py(1): main", 100).kernel(5);
  trace.call("vllm/model.py(7): forward", 40);
  for (int layer = 0; layer < 2; ++layer) {
    trace.call(fmt::format("nn.Module: Layer_{}", layer), 10).call("torch/nn/modules/module.py(2): _call_impl", 10);
    trace.call(fmt::format("nn.Module: Linear_{}", layer), 8).kernel(10 + layer);
    trace.later(17);
  }
  trace.later(60);
  return trace.call("threading.py(5): run", 20).kernel(3).text();
}

struct StackFixture {
  Ingested ingested{model()};
  Index index = Index::open(ingested.directory() / "index");

  [[nodiscard]] std::string rows(const FrameChoice& frames, CallTreeView view) const {
    PassOptions options;
    options.frames = frames;
    options.view = view;
    return ask_passes(index,
                      "SELECT frame, depth, total_time, self_time, frames, all_time FROM call_tree ORDER BY position",
                      {}, options);
  }
};

}  // namespace

TEST_CASE("modules of a class under one caller are one, and counted") {
  const StackFixture fixture;
  CHECK(fixture.rows({Frames::kModules, {}}, CallTreeView::kTree) ==
        "[no module] 0 8000 8000 1 29000; nn.Module: Layer_* 0 21000 0 2 29000; nn.Module: Linear_* 1 21000 21000 2 "
        "29000");
  CHECK(fixture.rows({Frames::kEachModule, {}}, CallTreeView::kTree) ==
        "[no module] 0 8000 8000 1 29000; nn.Module: Layer_1 0 11000 0 1 29000; "
        "nn.Module: Linear_1 1 11000 11000 1 29000; nn.Module: Layer_0 0 10000 0 1 29000; "
        "nn.Module: Linear_0 1 10000 10000 1 29000");
}

TEST_CASE("by class of module") {
  CHECK(StackFixture().rows({Frames::kModuleClasses, {}}, CallTreeView::kFlat) ==
        "[no module] 0 8000 8000 1 29000; Linear 0 21000 21000 2 29000; Layer 0 21000 0 2 29000");
}

TEST_CASE("by line of somebody's own code") {
  const StackFixture fixture;
  CHECK(fixture.rows({Frames::kOwn, {}}, CallTreeView::kFlat) ==
        "[no own frame] 0 3000 3000 1 29000; vllm/model.py(7): forward 0 21000 21000 1 29000; "
        "serve.py(1): main 0 26000 5000 1 29000");
  CHECK(fixture.rows({Frames::kOwn, {"vllm/*"}}, CallTreeView::kFlat) ==
        "[no own frame] 0 8000 8000 1 29000; vllm/model.py(7): forward 0 21000 21000 1 29000");
  CHECK(fixture.rows({Frames::kOwn, {"modules/*"}}, CallTreeView::kFlat) ==
        "[no own frame] 0 8000 8000 1 29000; torch/nn/modules/module.py(2): _call_impl 0 21000 21000 1 29000");
}

}  // namespace tracedb
