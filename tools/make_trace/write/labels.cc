#include "make_trace/write/labels.h"

#include <fmt/format.h>

#include "make_trace/model/model.h"

namespace tracedb {

namespace {

struct Place {
  std::string_view stack;
  int layer;
};

// Layers are counted within their stack.
Place place_of(const Model& model, int layer) {
  for (const Stack& stack : model.stacks) {
    if (layer >= stack.first && layer < stack.first + stack.count) return {stack.name, layer - stack.first};
  }
  return {"", layer};
}

}  // namespace

void write_labels(const TraceOptions& options, const Model& model, const StepRunner& run, const std::string& path) {
  const std::int64_t zero = options.dialect == Dialect::kOld ? kBaseTime : 0;
  TextOutput out(path);
  out.text("step\tlayer\trole\tclass\tstream\tcorrelation\tdur\tts\tstack\titeration\tpass\toperator\n");
  run([&](const Step& step) {
    for (const DeviceEvent& event : step.device_events) {
      if (event.kind != DeviceEventKind::kKernel) continue;
      const KernelKind& kind = *event.operation->kernel;
      const Place place = place_of(model, event.layer);
      out.text(fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", step.index, place.layer, kind.role,
                           event.named->op_class, event.stream, event.correlation, event.dur, zero + event.ts,
                           place.stack, event.iteration, to_text(event.pass),
                           event.in_graph ? std::string_view() : kind.operator_name));
    }
  });
  out.close();
}

}  // namespace tracedb
