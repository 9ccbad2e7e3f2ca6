// The "args" of device events, as each vendor's Kineto back end writes them.
#include "make_trace/model/model.h"
#include "make_trace/write/trace_writer.h"

namespace tracedb {
namespace {

constexpr std::int64_t kSmCount = 132;

// Without correlations External ids belong to another numbering: they name operators that start later.
constexpr std::uint64_t kOtherNumbering = 5;

}  // namespace

void TraceWriter::external_id(const DeviceEvent& event) {
  if (event.external_id == 0) return;
  field(old() ? "\"external id\": " : "\"External id\": ",
        event.external_id + (options_.correlation ? 0 : kOtherNumbering));
  out_.text(",");
}

void TraceWriter::correlation(const DeviceEvent& event) {
  if (options_.correlation) field(amd() ? ",      \"correlation\": " : ", \"correlation\": ", event.correlation);
}

void TraceWriter::kernel_arguments(const DeviceEvent& event) {
  const auto block = static_cast<std::uint64_t>(event.operation->kernel->block);
  const auto grid = static_cast<std::uint64_t>(event.grid);
  external_id(event);
  if (!amd()) out_.text("      \"queued\": 0,");
  field(amd() ? "      \"device\": " : " \"device\": ", static_cast<std::uint64_t>(options_.rank));
  if (!amd()) out_.text(", \"context\": 1,     ");
  field(amd() ? ", \"stream\": " : " \"stream\": ", static_cast<std::uint64_t>(event.stream));
  correlation(event);
  if (amd()) {
    out_.text(event.in_graph ? ", \"kind\": \"Dispatch Task\"" : ", \"kind\": \"Dispatch Kernel\"");
    if (event.in_graph) return;
  } else {
    field(",      \"registers per thread\": ", static_cast<std::uint64_t>(24 + event.operation->kernel->fixed_ns % 97));
    field(",      \"shared memory\": ", block * 16);
    out_.text(",      \"blocks per SM\": ");
    out_.millionths(event.grid * kMillion / kSmCount);
    out_.text(",      \"warps per SM\": ");
    out_.millionths(event.grid * kMillion / kSmCount * (event.operation->kernel->block / 32));
  }
  field(",      \"grid\":     [", grid);
  field(", 1, 1], \"block\":     [", block);
  out_.text(", 1, 1]");
  if (!amd()) out_.text(",      \"est. achieved occupancy %\": 50");
  if (!event.in_graph && event.name.starts_with("nccl")) collective_arguments(event);
}

void TraceWriter::collective_arguments(const DeviceEvent& event) {
  const auto ranks = static_cast<std::uint64_t>(options_.tensor_parallel);
  const bool gather = event.operation->kernel->role == "logits_all_gather";
  const auto elements = static_cast<std::uint64_t>(event.grid) * 1024;
  out_.text(gather ? ", \"Collective name\": \"_allgather_base\"" : ", \"Collective name\": \"allreduce\"");
  field(", \"In msg nelems\": ", elements);
  field(", \"Out msg nelems\": ", gather ? elements * ranks : elements);
  field(", \"Group size\": ", ranks);
  out_.text(
      ", \"dtype\": \"BFloat16\", \"In split size\": \"[]\", \"Out split size\": \"[]\", \"Process Group Name\": "
      "\"3\", \"Process Group Description\": \"undefined\"");
}

void TraceWriter::memory_arguments(const DeviceEvent& event) {
  external_id(event);
  field("      \"device\": ", static_cast<std::uint64_t>(options_.rank));
  if (!amd()) out_.text(", \"context\": 1,     ");
  field(amd() ? ", \"stream\": " : " \"stream\": ", static_cast<std::uint64_t>(event.stream));
  correlation(event);
  if (amd()) {
    out_.text(event.kind == DeviceEventKind::kMemcpyHtoD ? ", \"kind\": \"HtoD\"" : ", \"kind\": \"DtoH\"");
  }
  field(",      \"bytes\": ", static_cast<std::uint64_t>(event.bytes));
  if (event.dur == 0) return;
  out_.text(", \"memory bandwidth (GB/s)\": ");
  out_.millionths(event.bytes * kMillion / event.dur);
}

}  // namespace tracedb
