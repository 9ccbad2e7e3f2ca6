#include "make_trace/labels.h"

#include <fmt/format.h>

#include "make_trace/model.h"

namespace tracedb {

void write_labels(const StepRunner& run, const std::string& path) {
  TextOutput out(path);
  out.text("step\tlayer\trole\tclass\tstream\tcorrelation\tdur\n");
  run([&](const Step& step) {
    for (const DeviceEvent& event : step.device_events) {
      if (event.kind != DeviceEventKind::kKernel) continue;
      const KernelKind& kind = *event.operation->kernel;
      out.text(fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\n", step.index, event.layer, kind.role, kind.op_class,
                           event.stream, event.correlation, event.dur));
    }
  });
  out.close();
}

}  // namespace tracedb
