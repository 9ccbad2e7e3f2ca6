#include "ingest/link/pass_finder.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "base/unknown.h"
#include "trace/step_grammar.h"

namespace tracedb {
namespace {

bool earlier(const FlowEnd& a, const FlowEnd& b) { return std::tie(a.ts, a.thread) < std::tie(b.ts, b.thread); }

}  // namespace

PassFinder::PassFinder(const TraceStore& store)
    : store_(store),
      flow_ends_(store.backward_flow_ends),
      sequence_numbers_(store.processes.size()),
      last_sequence_number_(store.threads.size(), kUnknownValue),
      threads_(store.threads.size()),
      trains_(store.processes.size()),
      autograd_(store.threads.size()) {
  std::ranges::sort(flow_ends_, earlier);
}

bool PassFinder::is_backward(const OperatorRecord& record, bool inside) {
  note_sequence_number(record);
  if (!is_engine(record.name) && !ends_flow(record)) return inside;
  trains_[process_of(record.track) - 1] = true;
  return true;
}

bool PassFinder::is_optimizer(const AnnotationRecord& record) {
  if (record.on_device != 0 || !is_optimizer_step(store_.strings.text(record.name))) return false;
  trains_[process_of(record.track) - 1] = true;
  return true;
}

// Numbers count up on each thread by itself, so two threads may have one by chance.
void PassFinder::finish() {
  for (std::uint32_t thread = 1; thread <= threads_.size(); ++thread) {
    if (threads_[thread - 1].second <= threads_[thread - 1].first) continue;
    autograd_[thread - 1] = true;
    trains_[process_of(thread) - 1] = true;
  }
}

bool PassFinder::is_engine(std::uint32_t name) {
  if (name >= engine_.size()) engine_.resize(std::size_t{name} * 2 + 1);
  Answer& answer = engine_[name];
  if (answer == Answer::kNotAsked) {
    answer = is_backward_operator(store_.strings.text(name)) ? Answer::kYes : Answer::kNo;
  }
  return answer == Answer::kYes;
}

bool PassFinder::ends_flow(const OperatorRecord& record) {
  while (next_flow_end_ < flow_ends_.size() && flow_ends_[next_flow_end_].ts < record.ts) ++next_flow_end_;
  if (next_flow_end_ == flow_ends_.size() || flow_ends_[next_flow_end_].ts != record.ts) return false;
  return std::binary_search(flow_ends_.begin() + static_cast<std::ptrdiff_t>(next_flow_end_), flow_ends_.end(),
                            FlowEnd{record.ts, record.track}, earlier);
}

// Operators inside one another share a number, so the thread's last one is looked at first.
void PassFinder::note_sequence_number(const OperatorRecord& record) {
  constexpr std::int64_t kLargestNumber = std::numeric_limits<std::int64_t>::max() / 2;
  if (record.sequence_number < 0 || record.sequence_number > kLargestNumber) return;
  const std::int64_t number = record.sequence_number * 2 + record.is_forward;
  std::int64_t& last = last_sequence_number_[record.track - 1];
  if (std::exchange(last, number) == number) return;
  ExternalIdTable& first_thread = sequence_numbers_[process_of(record.track) - 1];
  const std::uint32_t first = first_thread.find(record.sequence_number);
  if (first == 0) {
    first_thread.set(record.sequence_number, record.track);
  } else if (first != record.track && record.is_forward == 0) {
    ++threads_[record.track - 1].second;
    ++threads_[first - 1].first;
  }
}

std::int64_t PassFinder::cell(PassOrigin origin) const {
  const std::uint32_t thread = origin.thread();
  if (thread == 0 || !trains_[process_of(thread) - 1]) return kUnknownValue;
  const bool backward = origin.hint() == PassHint::kBackward || autograd_[thread - 1];
  Pass pass = backward ? Pass::kBackward : Pass::kForward;
  // The optimizer of the launching thread comes before the backward pass, that of another thread behind it.
  if (origin.hint() == PassHint::kOptimizer || (origin.hint() == PassHint::kOptimizerElsewhere && !backward)) {
    pass = Pass::kOptimizer;
  }
  return static_cast<std::int64_t>(pass);
}

}  // namespace tracedb
