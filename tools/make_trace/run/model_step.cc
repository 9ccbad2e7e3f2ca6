// A step of a model that is no server's: passes over its stacks and, where it is trained, the backward pass on the
// thread of autograd and the optimizer.
#include "make_trace/run/schedule.h"

namespace tracedb {

void Schedule::model_step() {
  enter("run.py(58): run_step");
  open_annotation();
  enter("torch/utils/data/dataloader.py(701): __next__");
  copy(DeviceEventKind::kMemcpyHtoD, 64L * step_->context_tokens);
  leave();
  const bool trained = options_.model == ModelKind::kTrain;
  pass_ = trained ? Pass::kForward : Pass::kNone;
  for (iteration_ = 0; iteration_ < model_.passes; ++iteration_) run_pass();
  iteration_ = 0;
  plant_idle("torch/cuda/streams.py(105): synchronize");
  run_all(model_.tail, kTail);
  if (trained) {
    run_backward();
    run_optimizer();
  }
  return_results("torch/_tensor.py(1023): item", 8);
}

void Schedule::run_pass() {
  enter(model_.model_class, 0);
  if (!model_.inner_class.empty()) enter(model_.inner_class, 0);
  enter(model_.forward_file);
  if (iteration_ == 0) run_all(model_.head, kHead);
  for (const Stack& stack : model_.stacks) {
    run_all(stack.before, iteration_ == 0 && stack.first == 0 ? kHead : kBetween);
    for (const ModuleRef& module : stack.container) enter(module.class_name, module.ordinal);
    run_stack(stack);
    for (std::size_t at = 0; at < stack.container.size(); ++at) leave();
  }
  run_all(model_.pass_end, iteration_ + 1 == model_.passes ? kTail : kBetween);
  leave();
  if (!model_.inner_class.empty()) leave();
  leave();
}

void Schedule::run_all(const std::vector<Operation>& operations, int layer) {
  for (const Operation& operation : operations) run_operation(operation, layer);
  open_modules({}, 0);
}

void Schedule::record(std::size_t op, const Operation& operation, int layer) {
  CpuOp& forward = step_->cpu_ops[op];
  forward.sequence = next_sequence_++;
  forward.gradient_flow = next_gradient_flow_++;
  tape_.push_back({&operation, layer, forward.sequence, forward.gradient_flow});
}

// The main thread waits in `backward` while autograd's thread runs the tape from its end.
void Schedule::run_backward() {
  enter("torch/_tensor.py(581): backward");
  enter("<built-in method run_backward of torch._C._EngineBase object>");
  thread_ = kAutogradThread;
  pass_ = Pass::kBackward;
  for (auto recorded = tape_.rbegin(); recorded != tape_.rend(); ++recorded) {
    const Operation& operation = *recorded->operation;
    const std::size_t evaluate = begin_op(operation.backward_node);
    step_->cpu_ops[evaluate].evaluates = true;
    step_->cpu_ops[evaluate].sequence = recorded->sequence;
    const std::size_t node = begin_op(operation.backward_node);
    step_->cpu_ops[node].sequence = recorded->sequence;
    step_->cpu_ops[node].gradient_flow = recorded->flow;
    for (const Operation& kernel : operation.backward) {
      const std::size_t op = begin_op(kernel.kernel->operator_name);
      launch(kernel, recorded->layer, step_->cpu_ops[op].external_id);
      end_op(op);
    }
    end_op(node);
    end_op(evaluate);
  }
  tape_.clear();
  thread_ = kMainThread;
  leave();
  leave();
}

void Schedule::run_optimizer() {
  enter("torch/optim/optimizer.py(493): wrapper");
  const std::size_t annotation = begin_op("Optimizer.step#AdamW.step");
  step_->cpu_ops[annotation].annotation = true;
  pass_ = Pass::kOptimizer;
  for (const Operation& operation : model_.optimizer) run_operation(operation, kTail);
  end_op(annotation);
  const std::size_t cleared = begin_op("Optimizer.zero_grad#AdamW.zero_grad");
  step_->cpu_ops[cleared].annotation = true;
  end_op(cleared);
  pass_ = Pass::kNone;
  leave();
}

}  // namespace tracedb
