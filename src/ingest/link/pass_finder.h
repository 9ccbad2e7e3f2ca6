// Finds the pass of training that a launch belongs to: forward, backward or optimizer.
//
// Rules. optimizer: inside an Optimizer.step of its thread. backward: inside an operator of the autograd engine, or one
// at which a `fwdbwd` flow ends; else on a thread of autograd's, which is one whose operators carry sequence numbers
// that another thread had first (but not where the profiler recorded that an operator is the backward of none).
// optimizer, too: on a thread without a step mark of its own while another one is inside an Optimizer.step. Else
// forward. A process with none of these does not train, and its launches have no pass.
//
// Whether a thread is autograd's is known only after all operators, so launches carry a PassOrigin until then.
#pragma once

#include <cstdint>
#include <vector>

#include "ingest/store/external_id_table.h"
#include "ingest/store/records.h"
#include "ingest/store/trace_store.h"

namespace tracedb {

enum class PassHint : std::uint8_t { kNone, kBackward, kOptimizer, kOptimizerElsewhere };

// What is known of a launch at its time.
class PassOrigin {
 public:
  PassOrigin() = default;
  PassOrigin(std::uint32_t thread, PassHint hint) : packed_(thread << 2U | static_cast<std::uint32_t>(hint)) {}
  [[nodiscard]] std::uint32_t thread() const { return packed_ >> 2U; }  // 0: nothing is known
  [[nodiscard]] PassHint hint() const { return static_cast<PassHint>(packed_ & 3U); }

 private:
  std::uint32_t packed_ = 0;
};

// Operators come in time order, as the sweep over CPU threads meets them; then finish(), then origins may be asked for.
class PassFinder {
 public:
  explicit PassFinder(const TraceStore& store);

  // Whether an operator, and what it encloses, is of the backward pass. `inside`: the one around it is.
  bool is_backward(const OperatorRecord& record, bool inside);
  bool is_optimizer(const AnnotationRecord& record);
  void finish();

  // The cell of the column pass: a Pass, kUnknownValue where there is none.
  [[nodiscard]] std::int64_t cell(PassOrigin origin) const;

 private:
  // By operators whose sequence number two threads have.
  struct Thread {
    std::uint64_t second = 0, first = 0;  // times another thread had it before, and times this one had
  };
  enum class Answer : std::uint8_t { kNotAsked, kNo, kYes };

  [[nodiscard]] std::uint32_t process_of(std::uint32_t thread) const { return store_.threads[thread - 1].process; }
  bool is_engine(std::uint32_t name);
  bool ends_flow(const OperatorRecord& record);
  void note_sequence_number(const OperatorRecord& record);

  const TraceStore& store_;
  std::vector<FlowEnd> flow_ends_;  // of `fwdbwd` flows, in time order
  std::size_t next_flow_end_ = 0;
  std::vector<Answer> engine_;                      // by name
  std::vector<ExternalIdTable> sequence_numbers_;   // by process: the thread that had each first
  std::vector<std::int64_t> last_sequence_number_;  // by thread
  std::vector<Thread> threads_;
  std::vector<bool> trains_;    // by process
  std::vector<bool> autograd_;  // by thread, after finish()
};

}  // namespace tracedb
