// What surrounds the steps: the keys before the events, and the metadata, spans and keys after them.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "make_trace/random.h"
#include "make_trace/write/trace_writer.h"

namespace tracedb {

void TraceWriter::device_properties() {
  out_.text("  \"deviceProperties\": [");
  const int devices = std::max(options_.tensor_parallel, options_.rank + 1);
  for (int device = 0; device < devices; ++device) {
    out_.text(device == 0 ? "\n" : ",\n");
    out_.text(fmt::format("    {{\n      \"id\": {}, \"name\": \"{}\", \"totalGlobalMem\": {},\n", device,
                          amd() ? "AMD Instinct MI300X" : "NVIDIA H100 80GB HBM3", amd() ? 206141652992 : 85018279936));
    out_.text(fmt::format("      \"computeMajor\": 9, \"computeMinor\": {},\n", amd() ? 4 : 0));
    out_.text("      \"maxThreadsPerBlock\": 1024, \"maxThreadsPerMultiprocessor\": 2048,\n");
    out_.text(fmt::format("      \"regsPerBlock\": 65536, \"warpSize\": {},\n", amd() ? 64 : 32));
    out_.text(
        fmt::format("      \"sharedMemPerBlock\": {}, \"numSms\": {}\n", amd() ? 65536 : 49152, amd() ? 304 : 132));
    out_.text(amd() ? "    , \"maxSharedMemoryPerMultiProcessor\": 65536\n    }"
                    : "    , \"regsPerMultiprocessor\": 65536, \"sharedMemPerBlockOptin\": 232448, "
                      "\"sharedMemPerMultiprocessor\": 233472\n    }");
  }
  out_.text("\n  ],\n");
}

void TraceWriter::distributed_info() {
  std::string ranks;
  for (int rank = 0; rank < options_.tensor_parallel; ++rank) ranks += fmt::format("{}{}", rank == 0 ? "" : ", ", rank);
  const int size = options_.tensor_parallel;
  out_.text(
      fmt::format("  \"distributedInfo\": {{\"backend\": \"nccl\", \"rank\": {}, \"world_size\": {}, \"pg_count\": "
                  "2, \"pg_config\": [{{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"backend_config\": "
                  "\"cuda:nccl\", \"pg_size\": {}, \"ranks\": [{}]}}, {{\"pg_name\": \"3\", \"pg_desc\": "
                  "\"undefined\", \"backend_config\": \"cuda:nccl\", \"pg_size\": {}, \"ranks\": [{}]}}], "
                  "\"nccl_version\": \"2.22.3\"}},\n",
                  options_.rank, size, size, ranks, size, ranks));
}

void TraceWriter::header() {
  out_.text("\n{\n  \"schemaVersion\": 1,\n");
  device_properties();
  if (!old()) {
    out_.text(
        amd() ? "  \"roctracer_version\": 4.1,\n  \"hip_runtime_version\": 60550421,\n"
              : "  \"cupti_version\": 22,\n  \"cuda_runtime_version\": 12040,\n  \"cuda_driver_version\": 12090,\n");
    if (options_.tensor_parallel > 1) distributed_info();
    if (options_.shapes) out_.text("  \"record_shapes\": 1,\n");
    if (amd()) out_.text("  \"hip_driver_version\": 60550421,\n");
    if (options_.python_stacks) out_.text("  \"with_stack\": 1,\n");
    out_.text(fmt::format("  \"trace_id\": \"{:016X}{:016X}\",\n", mix64(options_.seed, 10), mix64(options_.seed, 11)));
  }
  out_.text("  \"traceEvents\": [\n");
}

void TraceWriter::metadata(std::string_view name, std::int64_t pid, bool device, std::int64_t thread,
                           std::string_view key, std::string_view text) {
  open_event();
  out_.text(fmt::format("    \"name\": \"{}\", \"ph\": \"M\", \"ts\": ", name));
  time(extent_.start);
  out_.text(fmt::format(", \"pid\": {}, \"tid\": ", pid));
  thread_id(device, thread);
  out_.text(fmt::format(",\n    \"args\": {{\n      \"{}\": {}\n    }}\n  }}", key, text));
}

void TraceWriter::name_processes() {
  metadata("process_name", pid_, false, 0, "name", "\"python3\"");
  metadata("process_labels", pid_, false, 0, "labels", "\"CPU\"");
  metadata("process_sort_index", pid_, false, 0, "sort_index", std::to_string(pid_));
  for (int device = 0; device < 8; ++device) {
    metadata("process_name", device, false, 0, "name", "\"python3\"");
    metadata("process_labels", device, false, 0, "labels", fmt::format("\"GPU {}\"", device));
    metadata("process_sort_index", device, false, 0, "sort_index", std::to_string(5'000'000 + device));
  }
}

void TraceWriter::name_threads() {
  std::vector<int> streams;
  for (const int stream : stream_numbers(options_)) {
    if (std::find(streams.begin(), streams.end(), stream) == streams.end()) streams.push_back(stream);
  }
  for (const int stream : streams) {
    metadata("thread_name", options_.rank, true, stream, "name", fmt::format("\"stream {} \"", stream));
    metadata("thread_sort_index", options_.rank, true, stream, "sort_index", std::to_string(stream));
  }
  metadata("thread_name", pid_, false, pid_, "name", fmt::format("\"thread {} (python3)\"", pid_));
  metadata("thread_sort_index", pid_, false, pid_, "sort_index", std::to_string(pid_));
  if (options_.model != ModelKind::kTrain) return;
  const std::int64_t autograd = thread_number(kAutogradThread);
  metadata("thread_name", pid_, false, autograd, "name", fmt::format("\"thread {} (pt_autograd_0)\"", autograd));
}

void TraceWriter::closing_spans() {
  open_event();
  out_.text("    \"ph\": \"X\", \"cat\": \"Trace\", \"ts\": ");
  time(extent_.start);
  out_.text(", \"dur\": ");
  duration(extent_.end - extent_.start);
  out_.text(
      ",\n    \"pid\": \"Spans\", \"tid\": \"PyTorch Profiler\",\n    \"name\": \"PyTorch Profiler (0)\",\n"
      "    \"args\": {\n      \"Op count\": 0\n    }\n  }");
  open_event();
  out_.text("    \"name\": \"process_sort_index\", \"ph\": \"M\", \"ts\": ");
  time(extent_.start);
  out_.text(",\n    \"pid\": \"Spans\", \"tid\": 0,\n    \"args\": {\n      \"sort_index\": 536870912\n    }\n  }");
  open_event();
  out_.text(
      "    \"name\": \"Iteration Start: PyTorch Profiler\", \"ph\": \"i\", \"s\": \"g\",\n    \"pid\": \"Traces\", "
      "\"tid\": \"Trace PyTorch Profiler\", \"ts\": ");
  time(extent_.start);
  out_.text("\n  }");
  open_event();
  out_.text(
      "    \"name\": \"Record Window End\", \"ph\": \"i\", \"s\": \"g\",\n    \"pid\": \"\", \"tid\": \"\", \"ts\": ");
  time(extent_.end);
  out_.text("\n  }");
}

void TraceWriter::footer() {
  name_processes();
  name_threads();
  closing_spans();
  if (old()) {
    out_.text("\n]}");
    return;
  }
  out_.text(
      fmt::format("\n  ],\n  \"traceName\": \"/tmp/tmp{:08x}.json\",\n  \"displayTimeUnit\": \"ms\",\n"
                  "  \"baseTimeNanoseconds\": {}\n}}",
                  mix64(options_.seed, 12) >> 32, kBaseTime));
}

}  // namespace tracedb
