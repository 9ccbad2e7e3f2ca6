// Second link pass: kernels and memory operations. Joins them with the calls that launched them by (process,
// correlation), gives each its operator, python path, annotation and step, and emits the rows of kernel and memory_op
// in time order together with the sums over kernels.
//
// Rules. A correlation that several processes used (merged traces) goes to the process that owns the device, see
// device_owners.h; where that cannot be told the kernel stays without launch. Several calls under one correlation of
// one process: the launch among them, and of those the last one that starts before the kernel. Without such a call,
// what is open where a flow starts that ends at the kernel (flow_links.h); else the operator with its External id, if
// it starts before the kernel. Step: of the launch, else of the device annotation around the kernel on its stream, else
// the one step open in the process while its graph was launched, else none.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ingest/link/cpu_links.h"
#include "ingest/link/kernel_sums.h"
#include "ingest/link/row_stream.h"
#include "ingest/store/trace_store.h"

namespace tracedb {

struct CollectiveRow {
  std::uint32_t kernel;
  std::uint32_t record;  // position + 1 in TraceStore::collectives
};

// Kernels of which something is known, and the time they hold.
struct Coverage {
  std::int64_t kernels = 0, ns = 0;
};

// Kernels and memory operations whose flow begins in the call that their correlation names, or elsewhere; and those
// that flows alone link.
struct FlowCheck {
  std::int64_t confirmed = 0, contradicted = 0, linked = 0;
};

struct DeviceLinks {
  FlowCheck flows;
  Coverage all, with_launch, with_operator, with_stack, with_step;
  KernelSums sums;
  std::vector<std::uint32_t> kernel_names;  // string ids in order of first kernel
  std::vector<CollectiveRow> collectives;
};

void link_device_events(TraceStore& store, RowStream& rows, CpuLinks& cpu, FlowLinks& flows, DeviceLinks& out);

}  // namespace tracedb
