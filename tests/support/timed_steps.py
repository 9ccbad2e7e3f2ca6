"""Small Kineto traces whose steps have given times: what no workload does on demand (steps that stall, warm up or overlap
on the device)."""
import dataclasses
import json

MS = 1_000_000
ATTENTION, GEMM = "flash_fwd_splitkv_kernel", "Cijk_Alik_Bljk_HHS_BH_MT128x128x32"


@dataclasses.dataclass
class Kernel:
    at: int  # ns after the step's start on the device
    dur: int
    name: str = GEMM
    stream: int = 7


def write(path, steps, mark="execute_context_0(0)_generation_8(8)", lag=20_000):
    """`steps`: [(start on the device in ns, [Kernel])]; each is marked on the host `lag` ns before."""
    events, correlation = [], 0

    def add(cat, name, ts, dur, tid, **args):
        events.append({"ph": "X", "cat": cat, "name": name, "pid": 0 if cat in ("kernel",) else 100, "tid": tid,
                       "ts": ts / 1000, "dur": dur / 1000, "args": args})

    for number, (start, kernels) in enumerate(steps):
        add("user_annotation", mark.format(number), start - lag, lag - 1000, 100)
        for place, kernel in enumerate(kernels):
            correlation += 1
            add("cuda_runtime", "hipLaunchKernel", start - lag + 1000 + 10 * place, 5, 100, correlation=correlation)
            add("kernel", kernel.name, start + kernel.at, kernel.dur, kernel.stream, device=0, stream=kernel.stream,
                correlation=correlation, grid=[64, 1, 1], block=[256, 1, 1])
    document = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "AMD Instinct MI300X"}], "traceEvents": events}
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def in_a_row(durations, gaps=None, start=MS):
    """Steps of two kernels that take `durations` and are followed by `gaps` ns of nothing."""
    out = []
    for number, dur in enumerate(durations):
        out.append((start, [Kernel(0, dur // 2), Kernel(dur // 2, dur - dur // 2, ATTENTION)]))
        start += dur + (gaps[number] if gaps else 0)
    return out


def overlapping(count, period, kernel, pieces=3, apart=0):
    """Steps that begin every `period` ns, on two streams in turn, of `pieces` kernels with `apart` ns between them."""
    return [(MS + number * period, [Kernel(i * (kernel + apart), kernel, (GEMM, ATTENTION)[i % 2], 7 + number % 2)
                                    for i in range(pieces)]) for number in range(count)]


def device_idle(steps):
    """ns in which nothing runs from the first start to that of the last step's."""
    spans = sorted((start + kernel.at, start + kernel.at + kernel.dur) for start, kernels in steps for kernel in kernels)
    until, idle, last = spans[0][0], 0, steps[-1][0]
    for begin, end in spans:
        idle += max(min(begin, last) - until, 0)
        until = max(until, end)
    return idle
