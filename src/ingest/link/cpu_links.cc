#include "ingest/link/cpu_links.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>

#include "base/lookup.h"
#include "base/unknown.h"

namespace tracedb {
namespace {

struct NamedAnnotation {
  AnnotationRecord event;
  std::uint32_t annotation;
  std::int64_t end;
  std::uint32_t step = 0;
};

// What the name of a mark says.
struct Name {
  StepInfo info;
  StepScope scope;
};

bool usable(std::int64_t external_id) { return external_id != kUnknownValue && external_id != 0; }

class Finder {
 public:
  explicit Finder(TraceStore& store) : store_(store) {}

  StepAnnotations run() {
    read_marks();
    steps_of_threads();
    steps_of_images();
    number_in_time_order();
    for (const NamedAnnotation& mark : marks_) {
      out_.marks.push_back({mark.annotation, mark.step, names_.at(mark.event.name)->scope});
      if (mark.event.on_device == 0) continue;
      if (mark.step != 0) {
        out_.on_device.push_back({mark.event.ts, mark.end, mark.event.track, mark.step});
      } else {
        store_.issues.add(IssueKind::kAmbiguousStep, -1, store_.strings.text(mark.event.name));
      }
    }
    return std::move(out_);
  }

 private:
  void read_marks() {
    std::uint32_t annotation = 0;
    store_.annotations.for_each([&](const AnnotationRecord& event) {
      ++annotation;
      if (name_of(event)) marks_.push_back({event, annotation, end_of(event.ts, event.dur)});
    });
  }

  const std::optional<Name>& name_of(const AnnotationRecord& event) {
    const auto [entry, is_new] = names_.try_emplace(event.name);
    const std::string_view text = store_.strings.text(event.name);
    if (!entry->second && event.is_step != 0) entry->second = Name{StepInfo{}, StepScope::kProcess};
    if (!is_new) return entry->second;
    if (const auto info = parse_step(text)) entry->second = Name{*info, step_scope(text)};
    return entry->second;
  }

  std::uint32_t new_step(const NamedAnnotation& mark) {
    out_.steps.push_back({mark.annotation, name_of(mark.event)->info, mark.event.ts});
    return static_cast<std::uint32_t>(out_.steps.size());
  }

  void steps_of_threads() {
    for (NamedAnnotation& mark : marks_) {
      if (mark.event.on_device != 0) continue;
      mark.step = new_step(mark);
      by_name_[{mark.event.name, store_.threads[mark.event.track - 1].process}].push_back(mark.step);
      if (usable(mark.event.external_id)) by_external_id_[{mark.event.external_id, mark.event.name}].insert(mark.step);
    }
  }

  void steps_of_images() {
    std::vector<std::uint32_t> unnumbered;  // positions in marks_
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> images;
    for (std::uint32_t i = 0; i < marks_.size(); ++i) {
      NamedAnnotation& mark = marks_[i];
      if (mark.event.on_device == 0) continue;
      const auto* known = find_in(by_external_id_, {mark.event.external_id, mark.event.name});
      if (known != nullptr && known->size() == 1) {
        mark.step = *known->begin();
      } else if ((usable(mark.event.external_id) && known == nullptr) || !on_cpu(mark.event.name)) {
        mark.step = step_of_device(mark);
      } else {
        unnumbered.push_back(i);
        ++images[{mark.event.name, mark.event.track}];
      }
    }
    match_in_order(unnumbered, images);
  }

  [[nodiscard]] bool on_cpu(std::uint32_t name) const {
    const auto found = by_name_.lower_bound({name, 0});
    return found != by_name_.end() && found->first.first == name;
  }

  void match_in_order(const std::vector<std::uint32_t>& unnumbered,
                      const std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t>& images) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> next;
    for (const std::uint32_t position : unnumbered) {
      NamedAnnotation& mark = marks_[position];
      const std::pair key(mark.event.name, mark.event.track);
      if (const std::vector<std::uint32_t>* steps = only_process_with(mark.event.name)) {
        if (steps->size() == images.at(key)) mark.step = (*steps)[next[key]++];
      }
    }
  }

  // The steps of this name, if one process has them all.
  [[nodiscard]] const std::vector<std::uint32_t>* only_process_with(std::uint32_t name) const {
    const auto first = by_name_.lower_bound({name, 0});
    if (first == by_name_.end() || first->first.first != name) return nullptr;
    const auto second = std::next(first);
    return second != by_name_.end() && second->first.first == name ? nullptr : &first->second;
  }

  // A step known only from its images.
  std::uint32_t step_of_device(const NamedAnnotation& mark) {
    const bool has_id = usable(mark.event.external_id);
    if (has_id) {
      const auto* known = find_in(device_by_external_id_, {mark.event.external_id, mark.event.name});
      if (known != nullptr) return *known;
    } else if (const std::uint32_t overlapping = overlapping_image(mark)) {
      return overlapping;
    }
    const std::uint32_t step = new_step(mark);
    if (has_id) device_by_external_id_[{mark.event.external_id, mark.event.name}] = step;
    latest_images_[mark.event.name].push(mark.end, {mark.event.ts, mark.end, mark.event.track, step});
    return step;
  }

  std::uint32_t overlapping_image(const NamedAnnotation& mark) {
    OpenIntervals<DeviceStepInterval>& recent = latest_images_[mark.event.name];
    recent.advance(mark.event.ts);
    const DeviceStepInterval* found = recent.find(mark.event.ts + 1, [&](const DeviceStepInterval& image) {
      return image.stream != mark.event.track && image.ts < mark.end;
    });
    return found == nullptr ? 0 : found->step;
  }

  void number_in_time_order() {
    std::vector<std::uint32_t> order(out_.steps.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, [this](std::uint32_t a, std::uint32_t b) {
      return std::pair(out_.steps[a].ts, out_.steps[a].annotation) <
             std::pair(out_.steps[b].ts, out_.steps[b].annotation);
    });
    std::vector<StepRow> sorted;
    std::vector<std::uint32_t> renumbered(order.size() + 1);
    for (const std::uint32_t old : order) {
      sorted.push_back(out_.steps[old]);
      renumbered[old + 1] = static_cast<std::uint32_t>(sorted.size());
    }
    out_.steps = std::move(sorted);
    for (NamedAnnotation& mark : marks_) mark.step = renumbered[mark.step];
  }

  TraceStore& store_;
  StepAnnotations out_;
  std::vector<NamedAnnotation> marks_;
  std::unordered_map<std::uint32_t, std::optional<Name>> names_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> by_name_;  // by name and process
  std::map<std::pair<std::int64_t, std::uint32_t>, std::set<std::uint32_t>> by_external_id_;
  std::map<std::pair<std::int64_t, std::uint32_t>, std::uint32_t> device_by_external_id_;
  std::unordered_map<std::uint32_t, OpenIntervals<DeviceStepInterval>> latest_images_;
};

struct OpenOperator {
  std::int64_t external_id;
  std::uint32_t id, depth;
  bool backward;
};
struct OpenAnnotation {
  std::uint32_t id;
  bool optimizer;
};

struct ThreadState {
  OpenIntervals<OpenOperator> operators;
  OpenFrames frames;
  OpenIntervals<OpenAnnotation> annotations;
  OpenIntervals<std::uint32_t> steps;  // those of the annotations that mark one
  OpenIntervals<Origin> calls;         // only where flows make links
};

class Sweep {
 public:
  Sweep(TraceStore& store, RowStream& rows, CpuLinks& links, FlowLinks& flows)
      : store_(store),
        rows_(rows),
        links_(links),
        flows_(flows),
        lacks_launches_(store.lacks_launches()),
        threads_(store.threads.size()),
        streams_(store.streams.size()),
        marks_(store.processes.size()),
        calls_(store.processes.size()) {}

  // At equal times what encloses comes before what is enclosed: calls come last, and behind them the flows they start.
  void run() {
    store_.annotations.start();
    store_.operators.start();
    store_.python.start();
    store_.calls.start();
    flows_.by_start.start();
    while (true) {
      const std::int64_t annotation = head(store_.annotations);
      const std::int64_t op = head(store_.operators);
      const std::int64_t frame = head(store_.python);
      const std::int64_t call = head(store_.calls);
      const std::int64_t first = std::min(std::min(annotation, op), std::min(frame, call));
      if (const std::int64_t flow = head(flows_.by_start); flow < first) {
        take_flow();
        continue;
      }
      if (first == kEnd) break;
      if (frame == first) {
        take_frames();
      } else if (annotation == first) {
        take(store_.annotations);
      } else if (op == first) {
        take(store_.operators);
      } else {
        take(store_.calls);
      }
    }
    passes_.finish();
  }

 private:
  static constexpr std::int64_t kLongestCall = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

  template <class Sorter>
  static std::int64_t head(const Sorter& sorter) {
    const auto* record = sorter.peek();
    if constexpr (requires { record->start_ts; }) {
      return record == nullptr ? kEnd : record->start_ts;
    } else {
      return record == nullptr ? kEnd : record->ts;
    }
  }
  template <class Sorter>
  void take(Sorter& sorter) {
    add(*sorter.peek());
    sorter.pop();
  }

  // Of frames with one start and one length the parent ids tell which encloses which.
  void take_frames() {
    const PythonRecord first = *store_.python.peek();
    const auto tied = [&first](const PythonRecord* frame) {
      return frame != nullptr && frame->ts == first.ts && frame->dur == first.dur;
    };
    store_.python.pop();
    if (!tied(store_.python.peek())) {
      add(first, parent_of(first));
      return;
    }
    tied_.assign(1, first);
    for (; tied(store_.python.peek()); store_.python.pop()) tied_.push_back(*store_.python.peek());
    order_by_parents(tied_);
    ties_.clear();
    for (const PythonRecord& frame : tied_) ties_.add(frame.track, frame.python_id, add(frame, tied_parent(frame)));
  }

  void add(const AnnotationRecord& record) {
    const std::int64_t end = end_of(record.ts, record.dur);
    const bool on_device = record.on_device != 0;
    OpenIntervals<OpenAnnotation>& open =
        on_device ? streams_[record.track - 1] : threads_[record.track - 1].annotations;
    open.advance(record.ts);
    const OpenAnnotation* parent = open.innermost(record.ts);
    const std::uint32_t id = rows_.row(
        EventTable::kAnnotation, record.args,
        {time(record.ts), record.dur, on_device ? 1 : 0, on_device ? kUnknownValue : std::int64_t{record.track},
         on_device ? std::int64_t{record.track} : kUnknownValue, record.name, record.external_id,
         parent == nullptr ? kUnknownValue : std::int64_t{parent->id}});
    const StepAnnotation mark = mark_of(id);
    const bool optimizer = passes_.is_optimizer(record);
    open.push(end, {id, optimizer || (parent != nullptr && parent->optimizer)});
    if (on_device) return;
    if (lacks_launches_) leave_open(threads_[record.track - 1], record.ts);
    if (mark.step == 0 && !optimizer) return;
    std::unique_ptr<Marks>& marks = marks_[process_of(record.track) - 1];
    if (!marks) marks = std::make_unique<Marks>();
    if (mark.step != 0) {
      threads_[record.track - 1].steps.push(end, mark.step);
      marks->steps.open(end, record.track, mark.step, mark.scope);
      marks->any_steps.open(end, record.track, mark.step);
    }
    if (optimizer) marks->optimizers.open(end, record.track, kOptimizer);
  }

  // Where an annotation opens inside operators it is not known whether what they launch is in it.
  void leave_open(ThreadState& thread, std::int64_t ts) {
    thread.operators.advance(ts);
    static_cast<void>(thread.operators.find(ts + 1, [this](const OpenOperator& op) {
      links_.place_of_operator[op.id - 1].annotation = 0;
      return false;
    }));
  }

  // What an annotation marks; of step 0: nothing. Annotations come here in the order in which their marks were found.
  StepAnnotation mark_of(std::uint32_t annotation) {
    const std::vector<StepAnnotation>& marks = links_.steps.marks;
    if (next_mark_ == marks.size() || marks[next_mark_].annotation != annotation) return {};
    return marks[next_mark_++];
  }

  void add(const OperatorRecord& record) {
    ThreadState& thread = threads_[record.track - 1];
    thread.operators.advance(record.ts);
    const OpenOperator* parent = thread.operators.innermost(record.ts);
    const std::uint32_t depth = parent == nullptr ? 0 : parent->depth + 1;
    const bool backward = passes_.is_backward(record, parent != nullptr && parent->backward);
    const std::uint32_t id = rows_.row(EventTable::kCpuOp, record.args,
                                       {time(record.ts), record.dur, record.track, record.name, record.external_id,
                                        parent == nullptr ? kUnknownValue : std::int64_t{parent->id}, depth,
                                        record.sequence_number, id_cell(record.shape)});
    if (record.external_id != kUnknownValue)
      links_.operator_by_external_id.set(record.external_id, process_of(record.track), id, record.ts);
    thread.annotations.advance(record.ts);
    if (record.stack != 0) {
      std::uint32_t own = 0;
      for (const std::uint32_t frame : store_.stacks[record.stack - 1]) own = links_.stacks.child(own, frame_id(frame));
      links_.stack_of_operator.resize(id + 1);
      links_.stack_of_operator[id] = own;
    }
    links_.pass_of_operator.push_back(pass_origin(record.track, record.ts, backward));
    if (lacks_launches_) {
      const OpenAnnotation* around = thread.annotations.innermost(record.ts);
      links_.place_of_operator.push_back({around == nullptr ? 0 : around->id, step_at(record.track, record.ts)});
    }
    thread.operators.push(end_of(record.ts, record.dur), {record.external_id, id, depth, backward});
  }

  // Returns the frame's path.
  std::uint32_t add(const PythonRecord& record, std::uint32_t parent) {
    const std::uint32_t stack = links_.stacks.child(parent, frame_id(record.name));
    note_module_call(record, parent, stack);
    rows_.row(EventTable::kPythonCall, record.args, {time(record.ts), record.dur, record.track, stack});
    threads_[record.track - 1].frames.push(record.ts, end_of(record.ts, record.dur), record.python_id, stack);
    return stack;
  }

  void note_module_call(const PythonRecord& record, std::uint32_t parent, std::uint32_t stack) {
    if (stack >= modules_.size()) modules_.resize(std::size_t{stack} * 2 + 1);
    InModule& place = modules_[stack];
    if (place == InModule::kNotAsked) {
      const InModule around = parent == 0 ? InModule::kNo : modules_[parent];
      const bool is_module = store_.strings.text(record.name).starts_with("nn.Module: ");
      place = around == InModule::kRoot || around == InModule::kInside ? InModule::kInside
              : is_module                                              ? InModule::kRoot
                                                                       : InModule::kNo;
    }
    if (place == InModule::kRoot) links_.module_calls.push_back({record.ts, record.dur, record.track, record.name});
  }

  // The path around a frame, by time; see open_intervals.h.
  std::uint32_t parent_of(const PythonRecord& record) {
    OpenFrames& own = threads_[record.track - 1].frames;
    const std::int64_t end = end_of(record.ts, record.dur);
    own.advance(record.ts);
    const OpenFrame* around = own.around(record.ts, end);
    if (!names_parent(record) || (around != nullptr && around->python_id == record.parent_id)) return path_of(around);
    const OpenFrame* named = own.named(record.parent_id, end);
    // A frame without length may belong to the one that ended at this moment: time does not tell.
    if (named != nullptr && named->end == record.ts) return named->stack;
    if (named == nullptr) {
      store_.issues.add(IssueKind::kPythonParentMissing, -1, store_.strings.text(record.name));
    }
    return path_of(around);
  }

  static bool names_parent(const PythonRecord& record) { return record.parent_id < kRootPythonId; }

  static std::uint32_t path_of(const OpenFrame* frame) { return frame == nullptr ? 0 : frame->stack; }

  // Of frames with one start and one length: below the one that its parent id names, beside them if that is the frame
  // around all of them, else below the one before.
  std::uint32_t tied_parent(const PythonRecord& record) {
    if (const std::uint32_t stack = ties_.stack_of(record.track, record.parent_id)) return stack;
    const TiedFrames::Around* around = ties_.around(record.track);
    if (around != nullptr && names_parent(record) && record.parent_id == around->python_id) return around->stack;
    if (around != nullptr) return path_of(threads_[record.track - 1].frames.innermost(record.ts));
    const std::uint32_t parent = parent_of(record);
    const OpenFrame* outer = threads_[record.track - 1].frames.around(record.ts, end_of(record.ts, record.dur));
    ties_.set_around(record.track, {outer == nullptr ? kNoPythonId : outer->python_id, parent});
    return parent;
  }

  std::uint32_t frame_id(std::uint32_t name) {
    if (frame_by_name_.size() <= name) frame_by_name_.resize(name + 1);
    if (frame_by_name_[name] == 0) {
      links_.frames.push_back(name);
      frame_by_name_[name] = static_cast<std::uint32_t>(links_.frames.size());
    }
    return frame_by_name_[name];
  }

  void add(const CallRecord& record) {
    ThreadState& thread = threads_[record.track - 1];
    thread.operators.advance(record.ts);
    thread.frames.advance(record.ts);
    thread.annotations.advance(record.ts);
    LaunchRecord launch{};
    Origin& origin = launch.origin;
    launch.correlation = record.correlation;
    launch.ts = record.ts;
    launch.external_id = record.external_id;
    launch.dur = static_cast<std::uint32_t>(std::min(duration_or_zero(record.dur), kLongestCall));
    launch.process = process_of(record.track);
    launch.thread = record.track;
    launch.kind = kind_of(record.name);
    origin = origin_at(record.track, record.ts, operator_of(record, thread));
    if (origin.step == 0 && launch.kind == CallKind::kGraphLaunch) {
      const std::unique_ptr<Marks>& marks = marks_[launch.process - 1];
      origin.graph_step = marks ? marks->any_steps.step_at(record.ts) : 0;
    }
    origin.call = rows_.row(EventTable::kRuntimeCall, record.args,
                            {time(record.ts), record.dur, record.track, record.name, record.correlation,
                             record.external_id, kind_cell(launch.kind), id_cell(origin.cpu_op), id_cell(origin.stack),
                             id_cell(origin.annotation), id_cell(origin.step)});
    // Profilers number correlations from 1; 0 stands for none.
    if (record.correlation != kUnknownValue && record.correlation != 0) links_.launches.push(launch);
    if (flows_.by_start.size() > 0) thread.calls.push(end_of(record.ts, record.dur), origin);
    if (!calls_[launch.process - 1]) ++links_.calling_processes;
    calls_[launch.process - 1] = true;
  }

  // What a flow starts from: the call that is open, unless that of the flow is lost; else whatever else is.
  void take_flow() {
    const FlowArrow arrow = *flows_.by_start.peek();
    flows_.by_start.pop();
    const std::int64_t ts = arrow.start_ts;
    ThreadState& thread = threads_[arrow.thread - 1];
    thread.calls.advance(ts);
    thread.operators.advance(ts);
    thread.frames.advance(ts);
    thread.annotations.advance(ts);
    const bool lost = store_.correlations.is_lost(arrow.id);
    const Origin* call = lost ? nullptr : thread.calls.find(ts, [](const Origin&) { return true; });
    const Origin origin = call != nullptr ? *call : origin_at(arrow.thread, ts, thread.operators.innermost(ts));
    flows_.origins.push({arrow.end_ts, arrow.stream, origin});
  }

  // What is open on a thread at `ts`, inside of an operator (null: of none).
  Origin origin_at(std::uint32_t track, std::int64_t ts, const OpenOperator* op) {
    const ThreadState& thread = threads_[track - 1];
    const OpenAnnotation* annotation = thread.annotations.innermost(ts);
    Origin origin;
    origin.cpu_op = op == nullptr ? 0 : op->id;
    origin.stack = path_of(thread.frames.innermost(ts));
    origin.annotation = annotation == nullptr ? 0 : annotation->id;
    origin.step = step_at(track, ts);
    origin.pass = pass_origin(track, ts, op != nullptr && op->backward);
    return origin;
  }

  // Some profilers write the correlation as External id: only an operator that is open, or ends at this moment (it may
  // have no length), counts.
  static const OpenOperator* operator_of(const CallRecord& record, const ThreadState& thread) {
    if (record.external_id != kUnknownValue) {
      const auto same = [&](const OpenOperator& op) { return op.external_id == record.external_id; };
      if (const OpenOperator* op = thread.operators.find(record.ts, same)) return op;
    }
    return thread.operators.innermost(record.ts);
  }

  // The step of a call: the innermost one open on its thread, else one that takes in other threads too. The names of
  // all these marks are known, so that none of them depends on the pass.
  std::uint32_t step_at(std::uint32_t track, std::int64_t ts) {
    if (const std::uint32_t own = open_step(threads_[track - 1], ts)) return own;
    const std::unique_ptr<Marks>& marks = marks_[process_of(track) - 1];
    return marks ? marks->steps.step_at(ts, false) : 0;
  }

  // What is known at `ts` of the pass of what happens there. `backward`: it is inside an operator of the backward pass.
  PassOrigin pass_origin(std::uint32_t track, std::int64_t ts, bool backward) {
    ThreadState& thread = threads_[track - 1];
    const OpenAnnotation* around = thread.annotations.innermost(ts);
    if (around != nullptr && around->optimizer) return {track, PassHint::kOptimizer};
    if (backward) return {track, PassHint::kBackward};
    const std::unique_ptr<Marks>& marks = marks_[process_of(track) - 1];
    const bool optimizes =
        marks && !marks->optimizers.empty() && open_step(thread, ts) == 0 && marks->optimizers.step_at(ts) != 0;
    return {track, optimizes ? PassHint::kOptimizerElsewhere : PassHint::kNone};
  }

  static std::uint32_t open_step(ThreadState& thread, std::int64_t t) {
    thread.steps.advance(t);
    const std::uint32_t* found = thread.steps.innermost(t);
    return found == nullptr ? 0 : *found;
  }

  CallKind kind_of(std::uint32_t name) {
    const auto [entry, is_new] = call_kinds_.try_emplace(name);
    if (is_new) entry->second = call_kind(store_.strings.text(name));
    return entry->second;
  }

  [[nodiscard]] std::uint32_t process_of(std::uint32_t thread) const { return store_.threads[thread - 1].process; }

  [[nodiscard]] std::int64_t time(std::int64_t ts) const { return ts - store_.first_ts; }

  TraceStore& store_;
  RowStream& rows_;
  CpuLinks& links_;
  FlowLinks& flows_;
  const bool lacks_launches_;
  std::vector<ThreadState> threads_;
  std::vector<OpenIntervals<OpenAnnotation>> streams_;
  static constexpr std::uint32_t kOptimizer = 1;  // any: marks of optimizers are of no step
  // Of one process.
  struct Marks {
    ProcessMarks steps;
    InnermostMarks any_steps;  // whatever their scope
    InnermostMarks optimizers;
  };
  std::vector<std::unique_ptr<Marks>> marks_;  // by process; most have none
  std::vector<bool> calls_;                    // by process: whether it has runtime calls
  PassFinder& passes_ = *links_.passes;
  std::vector<std::uint32_t> frame_by_name_;
  std::unordered_map<std::uint32_t, CallKind> call_kinds_;
  // Whether a call path is inside a module's call, or ends in the outermost of them.
  enum class InModule : std::uint8_t { kNotAsked, kNo, kRoot, kInside };
  std::vector<InModule> modules_;  // by stack
  std::size_t next_mark_ = 0;
  std::vector<PythonRecord> tied_;
  TiedFrames ties_;
};

}  // namespace

void link_cpu_events(TraceStore& store, RowStream& rows, CpuLinks& links, FlowLinks& flows) {
  links.steps = Finder(store).run();  // reads the annotations once, to be read again afterwards
  links.passes.emplace(store);
  Sweep(store, rows, links, flows).run();
  flows.by_start.release();
  store.annotations.release();
  store.operators.release();
  store.python.release();
  store.calls.release();
}

}  // namespace tracedb
