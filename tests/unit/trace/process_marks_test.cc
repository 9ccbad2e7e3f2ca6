#include "trace/process_marks.h"

#include <doctest/doctest.h>

#include "trace/step_grammar.h"

namespace tracedb {

TEST_CASE("the innermost mark that takes in other threads; several threads' marks cannot be told apart") {
  ProcessMarks marks;
  marks.open(100, 1, 7, StepScope::kProcess);
  CHECK(marks.step_at(10, false) == 7);
  marks.open(50, 1, 8, StepScope::kProcess);
  CHECK(marks.step_at(20, false) == 8);
  CHECK(marks.step_at(50, false) == 7);  // [ts, end)
  marks.open(90, 2, 9, StepScope::kThread);
  CHECK(marks.step_at(60, false) == 7);
  marks.open(90, 3, 10, StepScope::kProcess);
  CHECK(marks.step_at(70, false) == 0);
  CHECK(marks.step_at(95, false) == 7);
  CHECK(marks.step_at(100, false) == 0);
  CHECK(marks.empty());
}

TEST_CASE("a mark of unknown meaning takes in the backward pass only") {
  ProcessMarks marks;
  marks.open(100, 1, 7, StepScope::kBackward);
  CHECK(marks.step_at(10, false) == 0);
  CHECK(marks.step_at(10, true) == 7);
}

TEST_CASE("whose launches a mark takes in") {
  CHECK(step_scope("ProfilerStep#3") == StepScope::kProcess);
  CHECK(step_scope("Optimizer.step#SGD.step") == StepScope::kProcess);
  CHECK(step_scope("## train_step 4 ##") == StepScope::kProcess);
  CHECK(step_scope("execute_context_0(0)_generation_4(4)") == StepScope::kThread);
  CHECK(step_scope("step[DECODE bs=4]") == StepScope::kThread);
  CHECK(step_scope("my iteration") == StepScope::kBackward);
}

TEST_CASE("annotations among operators") {
  for (const char* name : {"ProfilerStep#12", "Optimizer.step#SGD.step", "Optimizer.zero_grad#SGD.zero_grad"}) {
    CHECK(is_mark_among_operators(name));
  }
  for (const char* name : {"aten::mm", "ProfilerStep", "Optimizer", ""}) CHECK_FALSE(is_mark_among_operators(name));
}

TEST_CASE("operators of the autograd engine") {
  for (const char* name : {"autograd::engine::evaluate_function: AddBackward0", "torch::autograd::AccumulateGrad",
                           "CudnnConvolutionBackward", "MmBackward0"}) {
    CHECK(is_backward_operator(name));
  }
  for (const char* name : {"aten::threshold_backward", "aten::mm", "Backward", "## Backward", "Backward pass", ""}) {
    CHECK_FALSE(is_backward_operator(name));
  }
  CHECK(is_optimizer_step("Optimizer.step#Adam.step"));
  CHECK_FALSE(is_optimizer_step("Optimizer.zero_grad#Adam.zero_grad"));
}

}  // namespace tracedb
