#include "make_trace/labels.h"

#include <fmt/format.h>

#include "make_trace/model.h"

namespace tracedb {

void write_labels(const TraceOptions& options, const StepRunner& run, const std::string& path) {
  const std::int64_t zero = options.dialect == Dialect::kOld ? kBaseTime : 0;
  TextOutput out(path);
  out.text("step\tlayer\trole\tclass\tstream\tcorrelation\tdur\tts\n");
  run([&](const Step& step) {
    for (const DeviceEvent& event : step.device_events) {
      if (event.kind != DeviceEventKind::kKernel) continue;
      const KernelKind& kind = *event.operation->kernel;
      out.text(fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", step.index, event.layer, kind.role, kind.op_class,
                           event.stream, event.correlation, event.dur, zero + event.ts));
    }
  });
  out.close();
}

}  // namespace tracedb
