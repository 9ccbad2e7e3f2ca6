"""Names made to harm whoever reads them, and events that have one in every place of a trace that gives a name."""
from made_events import event, on_device

NAMES = ("'); DROP TABLE kernel; --", "\x1b[31mred\x1b]0;title\x07", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>",
         "=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=tab", "\r=return", "\u202eevil\u2066", "\u200f=right", "\x9b31m",
         "a|b`c`", "[link](javascript:alert(1))", "line\n=feed", "\u2028=line", "nul\x00", '"quoted",=2', "%s%n{}{0}",
         "[others]", "&lt;b&gt;", ",=3", ";=4", " =5", "\ufeff=6", "\uff1d=7", "long<" + "x" * 3000)


def metadata(kind, name, pid, tid=0):
    return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "ts": 0, "args": {"name": name}}


def events_of(number, name):
    """One of everything, in its own time."""
    ts, device = 1000 * number, number % 2
    frame = {"Python id": number + 1, "Python parent id": None}
    yield metadata("process_name", name, 500 + number)
    yield metadata("thread_name", name, 1, 100 + number)
    yield event("python_function", f"{name}.py({number}): {name}", ts, 900, 1, 100 + number, **frame)
    yield event("python_function", f"nn.Module: {name}_0", ts + 1, 890, 1, 100 + number, **{**frame, "Python module id": 0})
    yield event("user_annotation", name, ts + 2, 800, 1, 100 + number)
    yield event("cpu_op", name, ts + 3, 700, 1, 100 + number, **{"External id": number + 1, "Input Dims": [[name]]})
    yield event("cuda_runtime", "cudaLaunchKernel", ts + 4, 5, 1, 100 + number, correlation=3 * number + 1)
    yield event("cuda_runtime", name, ts + 20, 5, 1, 100 + number, correlation=3 * number + 2)
    yield on_device("kernel", name, ts + 100, 50, 7, device, correlation=3 * number + 1, grid=[1, 1, 1])
    yield on_device("kernel", f"ncclDevKernel_AllReduce_{name}", ts + 200, 50, 7, device, correlation=3 * number + 2,
                    **{"Collective name": name, "dtype": name, "Process Group Name": name, "Group size": 2,
                       "In msg nelems": 100, "Process Group Description": name})
    yield on_device("gpu_memcpy", f"Memcpy {name} (Pinned -> Device)", ts + 300, 20, 7, device, bytes=100)
    yield on_device("gpu_user_annotation", name, ts + 100, 200, 7, device)
