"""Pairs of traces of few events, and what `compare` says of them."""
from made_events import kernel, on_device


def gathered(late):
    """Eight steps on two devices, of which the second computes so many us longer while the first waits in the collective."""
    period = 200 + late
    return [event for begin in range(1000, 1000 + 8 * period, period) for device, own in enumerate((100, 100 + late)) for event in
            (on_device("gpu_user_annotation", f"ProfilerStep#{begin}", begin, period - 10, device=device), kernel("gemm", begin, own, device=device),
             kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", begin + own, 120 + late - own, device=device))]


def exchanged(own, wait):
    """Eight steps that compute, and then wait for a collective."""
    period = own + wait + 20
    return [event for begin in range(1000, 1000 + 8 * period, period) for event in
            (on_device("gpu_user_annotation", f"ProfilerStep#{begin}", begin, period - 10), kernel("gemm", begin, own),
             kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", begin + own, wait))]


def served(dur):
    """Twelve steps of prefill, then twelve of decode, of six kernels each; those of prefill take so many us."""
    kinds = (1000, "execute_context_1(64)_generation_0(0)", dur), (20000, "execute_context_0(0)_generation_8(8)", 40)
    return [event for first, mark, each in kinds for begin in range(first, first + 12 * (6 * each + 100), 6 * each + 100) for event in
            (on_device("gpu_user_annotation", mark, begin, 6 * each + 90),
             *(kernel(f"gemm_{i}", begin + i * (each + 10), each) for i in range(6)))]


# Events of two traces, and what is said of them.
MADE = {"a device that is late": (gathered(0), gathered(300), ("exposed communication", 'trace-query ranks "$B"')),
        "less communication beside slower kernels": (exchanged(100, 60), exchanged(160, 30), ("; it waits 30.0 us less for communication",)),
        "slower kernels in prefill alone": (served(40), served(50), ("though kernels of decode take as long as before",))}
