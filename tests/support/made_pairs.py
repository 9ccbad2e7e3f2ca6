"""Pairs of traces of few events, and what `compare` says of them."""
from made_events import kernel, on_device


def gathered(late):
    """Eight steps on two devices, of which the second computes so many us longer while the first waits in the collective."""
    period = 200 + late
    return [event for begin in range(1000, 1000 + 8 * period, period) for device, own in enumerate((100, 100 + late)) for event in
            (on_device("gpu_user_annotation", f"ProfilerStep#{begin}", begin, period - 10, device=device), kernel("gemm", begin, own, device=device),
             kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", begin + own, 120 + late - own, device=device))]


# Events of two traces, and what is said of them.
MADE = {"a device that is late": (gathered(0), gathered(300), ("exposed communication", "trace-query ranks $B"))}
