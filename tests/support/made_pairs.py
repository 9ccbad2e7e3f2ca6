"""Pairs of traces of few events, and what `compare` says of them."""
from made_events import call, event, kernel, on_device


def launched(*kernels):
    """Three steps of kernels one after another: (operator, name, us)."""
    events = []
    period = 200 + sum(dur for _, _, dur in kernels)
    for begin in range(1000, 1000 + 3 * period, period):
        events.append(event("user_annotation", f"ProfilerStep#{begin}", begin, period - 10))
        at = begin + 100
        for i, (operator, name, dur) in enumerate(kernels, 1):
            events += [event("cpu_op", operator, begin + 5 * i, 4), call("cudaLaunchKernel", begin + 5 * i + 1, 1, begin + i),
                       kernel(name, at, dur, correlation=begin + i)]
            at += dur
    return events


def gathered(late):
    """Eight steps on two devices, of which the second computes so many us longer while the first waits in the collective."""
    period = 200 + late
    return [event for begin in range(1000, 1000 + 8 * period, period) for device, own in enumerate((100, 100 + late)) for event in
            (on_device("gpu_user_annotation", f"ProfilerStep#{begin}", begin, period - 10, device=device), kernel("gemm", begin, own, device=device),
             kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", begin + own, 120 + late - own, device=device))]


# Events of two traces, and what is said of them.
MADE = {"shapes of one operator against each other": (
            launched(("aten::bmm", "nvjet_gemm_a", 100), ("aten::bmm", "nvjet_gemm_b", 200), ("aten::relu", "relu_kernel", 50)),
            launched(("aten::bmm", "Cijk_a", 180), ("aten::bmm", "Cijk_b", 60), ("aten::relu", "relu_kernel", 50)),
            ("bmm at some places (GEMM) faster: 200 us -> 60.0 us (1 kernel); nvjet_gemm_b -> Cijk_b", "bmm at some places (GEMM) slower: 100 us -> 180 us (1 kernel); nvjet_gemm_a -> Cijk_a",
             "of 3 aligned kernels")),
        "what is gone and new is not aligned": (
            launched(("aten::mm", "nvjet_gemm_a", 100), ("aten::relu", "relu_kernel", 150)),
            launched(("aten::mm", "fused_moe_kernel", 180), ("aten::relu", "relu_kernel", 150)),
            ("experts (MoE GEMM) is new: 0 ns -> 180 us", "GEMM is gone: 100 us -> 0 ns", "1 of 1 aligned kernels")),
        "a device that is late": (gathered(0), gathered(300), ("exposed communication", "trace-query ranks $B"))}
