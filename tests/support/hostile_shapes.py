"""Traces of shapes that no profiler writes, each of which makes some search in ingest or in a report as long as it can
be: many names where there are few, many things open at once, many owners of one number. SHAPES maps a name to a
function of the size n that yields the events as JSON texts, about as many for every n.

Run as a program, it writes one: hostile_shapes.py NAME N FILE
"""
import sys


def event(cat, name, ts, dur, pid=1, tid=1, args="", ph="X"):
    return (f'{{"ph":"{ph}","cat":"{cat}","name":"{name}","pid":{pid},"tid":{tid},"ts":{ts},"dur":{dur},'
            f'"args":{{{args}}}}}')


def kernel(i, correlation, name="k", ts=None, device=0, stream=7, more="", dur=2):
    ts = 3 * i + 1 if ts is None else ts
    return event("kernel", name, ts, dur, device, stream,
                 f'"device":{device},"stream":{stream},"correlation":{correlation}{more}')


def launch(i, correlation, pid=1, tid=1, ts=None, name="cudaLaunchKernel", more=""):
    return event("cuda_runtime", name, 3 * i if ts is None else ts, 1, pid, tid, f'"correlation":{correlation}{more}')


def frame(i, name, ts, dur, parent="null"):
    return event("python_function", name, ts, dur, args=f'"Python id":{i},"Python parent id":{parent}')


def mark(ph, cat, number, ts, pid=1, tid=1, more=""):
    """One end of a flow."""
    return f'{{"ph":"{ph}","cat":"{cat}","name":"{cat}","id":{number},"pid":{pid},"tid":{tid},"ts":{ts}{more}}}'


def flow(cat, number, begin, ts, pid=0, tid=7):
    return mark("s", cat, number, begin), mark("f", cat, number, ts, pid, tid, ',"bp":"e"')


def half(ph, name, ts, more=""):
    """A slice's begin or end."""
    return f'{{"ph":"{ph}","cat":"x","name":"{name}",{more}"pid":1,"tid":1,"ts":{ts}}}'


def operator(i, ts, dur, name="aten::mm", pid=1, tid=1, more=""):
    return event("cpu_op", name, ts, dur, pid, tid, f'"External id":{i}{more}')


def step(i, ts, dur, tid=1):
    return event("user_annotation", f"ProfilerStep#{i}", ts, dur, tid=tid)


def pair(i, n):
    """A launch and its kernel."""
    return launch(i, i + 1), kernel(i, i + 1)


def pair_inside(i, n, tid=1):
    """The same where n things that began before are open."""
    return launch(i, i + 1, ts=n + i, tid=tid), kernel(i, i + 1, ts=n + 3 * i)


def pair_inside_of_another(i, n):
    return pair_inside(i, n, tid=2)


def each(*parts):
    """For every i what the first part says of i and n, a text or several, then for every i what the second says."""
    def events(n):
        for part in parts:
            for i in range(n):
                texts = part(i, n)
                yield from (texts,) if isinstance(texts, str) else texts
    return events


def parent(i):
    return i - 1 if i else "null"


SHAPES = {
    # Names and numbers
    "kernel_names": each(lambda i, n: kernel(i, i + 1, f"kernel_{i}")),
    "python_frames": each(lambda i, n: frame(i, f"module_{i}.py({i}): function_{i}", 3 * i, 2)),
    "frames_and_annotations": each(lambda i, n: (
        event("user_annotation", f"note {i}", 3 * i, 1),
        *([] if i % 10 else [frame(i, f"module_{i}.py({i}): function_{i}", 3 * i, 2)]))),
    "categories": each(lambda i, n: event(f"category {i}", "x", i, 1)),
    "phases": each(lambda i, n: event("cpu_op", "x", i, 1, ph=f"p{i}")),
    "launch_configs": each(lambda i, n: kernel(i, i + 1, more=f',"grid":[{i},1,1],"block":[64,1,1]')),
    "operator_shapes": each(lambda i, n: event("cpu_op", "aten::mm", 3 * i, 2, args=f'"Input Dims":[[{i},4]],"External id":{i}')),
    "wide_numbers": each(lambda i, n: kernel(i, 2**64 - 1 - i)),
    "collective_groups": each(lambda i, n: kernel(
        i, i + 1, "ncclDevKernel_AllReduce", more=f',"Collective name":"allreduce","Process Group Name":"g{i}","Group size":8,'
                                                  f'"dtype":"Half","In msg nelems":{i},"Out msg nelems":{i}')),
    # Names must be forgotten again where a piece of the trace turns out to be damaged.
    "damage_and_names": each(lambda i, n: event(
        "cpu_op", f"operator {i} {'x' * 200}", 3 * i, 2, args="" if i % 100 else '"a": 1.0.0')),
    # Tracks
    "processes": each(lambda i, n: (launch(i, i + 1, pid=i + 10), kernel(i, i + 1))),
    "threads": lambda n: (*each(pair)(n // 2), *each(lambda i, n: launch(i, n + i + 1, tid=i + 10))(n)),
    "streams": each(lambda i, n: kernel(i, i + 1, ts=i, stream=i)),
    "devices": each(lambda i, n: (launch(i, i + 1), kernel(i, i + 1, device=i))),
    "named_tracks": each(lambda i, n: (
        f'{{"ph":"M","name":"process_name","pid":{i},"tid":0,"ts":0,"args":{{"name":"p{i}"}}}}',
        f'{{"ph":"M","name":"thread_name","pid":{i},"tid":{i},"ts":0,"args":{{"name":"t{i}"}}}}')),
    # Time
    "kernels_at_one_time": each(lambda i, n: kernel(i, i + 1, f"k{i % 7}", ts=5)),
    "kernels_not_nested": each(lambda i, n: kernel(i, i + 1, f"k{i % 7}", ts=i, stream=i % 3, dur=n)),
    # Sequences that look alike wherever they are cut: steps and layers are sought in them.
    "repeated_sequence": each(lambda i, n: (launch(i, i + 1), kernel(i, i + 1, "gemm" if i % 2 else "norm_kernel"))),
    "aperiodic_sequence": each(lambda i, n: (
        launch(i, i + 1), kernel(i, i + 1, f"gemm_{bin(i).count('1') % 2}_{(i * i) % 7}"))),
    # The header
    "listed_devices": lambda n: (kernel(i, i + 1) for i in range(10)),
    "listed_and_used_devices": each(lambda i, n: kernel(i, i + 1, device=i)),
    "header_keys": lambda n: (kernel(i, i + 1) for i in range(10)),
    # Links
    "one_correlation": each(lambda i, n: (launch(i, 1, pid=i + 10), kernel(i, 1))),
    "one_correlation_one_process": each(lambda i, n: (launch(i, 1), kernel(i, 1))),
    "one_correlation_many_devices": each(lambda i, n: (launch(i, 1, pid=i + 10), kernel(i, 1, device=i))),
    "one_external_id": each(lambda i, n: (operator(5, 3 * i, 2, pid=i + 10), kernel(i, 0, more=',"External id":5'))),
    "operators_over_launches": each(
        lambda i, n: operator(i + 1, i, 3 * n),
        lambda i, n: (launch(i, i + 1, ts=n + i, more=f',"External id":{10 * n + i}'), kernel(i, i + 1, ts=n + 3 * i))),
    "operators_at_one_time": each(lambda i, n: (
        operator(i + 1, 5, 0), launch(i, i + 1, ts=5, more=f',"External id":{10 * n + i}'))),
    "operators_not_nested": each(lambda i, n: operator(i + 1, i, n), lambda i, n: launch(i, i + 1, ts=n + i)),
    "flows_of_one_id": each(lambda i, n: (*flow("ac2g", 1, 3 * i, 3 * i + 1), kernel(i, 0))),
    "flows_to_one_time": each(lambda i, n: (*flow("ac2g", i + 1, i, n, tid=i), kernel(i, 0, ts=n, stream=i))),
    "flows_of_one_correlation": lambda n: (
        launch(0, 1, ts=0), *each(lambda i, n: (flow("ac2g", 1, 1, n, tid=i)[1], kernel(i, 1, ts=n, stream=i)))(n),
        mark("s", "ac2g", 1, 0)),
    "backward_flows": each(lambda i, n: (
        *flow("fwdbwd", i, i, n + i, 1, 2), operator(i, i, n, more=f',"Sequence number":{i}'),
        operator(n + i, n + i, n, "MmBackward", tid=2, more=f',"Sequence number":{i}'))),
    "backward_flows_at_one_time": each(lambda i, n: (*flow("fwdbwd", i, 1, 5, 1, i + 10), operator(i, 5, 3, tid=2))),
    "graph_launches_and_threads": each(lambda i, n: (
        launch(i, i + 1, name="cudaGraphLaunch"), launch(i, n + i + 1, tid=i + 10), kernel(i, i + 1))),
    # Slices in two halves
    "begin_end_crossed": each(lambda i, n: half("B", f"b{i}", i), lambda i, n: half("E", f"b{i}", n + i)),
    "ends_without_begin": each(lambda i, n: half("b", f"b{i}", i, '"id":7,'), lambda i, n: half("e", f"e{i}", n + i, '"id":7,')),
    # Python
    "python_parents_not_open": each(lambda i, n: frame(i, "f.py(1): f", i, 3 * n - 2 * i, 10 * n + i)),
    "python_frames_not_nested": each(lambda i, n: frame(i, "f.py(1): f", i, n, parent(i))),
    "python_frames_at_one_time": each(lambda i, n: frame(i, f"f.py({i}): f", 5, 5, parent(i))),
    "modules_nested": lambda n: (*each(lambda i, n: frame(i, f"nn.Module: M_{i}", i, 3 * n - 2 * i, parent(i)))(n), *each(pair)(100)),
    "modules_beside": lambda n: (
        frame(0, "nn.Module: Model_0", 0, 3 * n + 3),
        *each(lambda i, n: (frame(i + 1, f"nn.Module: Layer_{i}", 3 * i, 2, 0), *pair(i, n)))(n)),
    # Steps and annotations
    "steps": each(lambda i, n: (step(i, 3 * i, 3), *pair(i, n))),
    "steps_nested": each(lambda i, n: step(i, i, 3 * n - 2 * i), pair_inside_of_another),
    "steps_not_nested": each(lambda i, n: step(i, i, n), lambda i, n: (launch(i, i + 1, ts=i), kernel(i, i + 1, ts=i))),
    "steps_of_threads": each(lambda i, n: step(i, i, 3 * n, i + 10), pair_inside_of_another),
    "steps_on_device": each(lambda i, n: (
        event("gpu_user_annotation", "decode", i, n, 0, i, f'"device":0,"stream":{i}'), kernel(i, i + 1, ts=i, stream=i))),
    "images_on_one_stream": each(lambda i, n: (
        event("gpu_user_annotation", "decode", i, 3 * n, 0, 7, '"device":0,"stream":7'), kernel(i, i + 1, ts=i))),
    "notes_over_launches": each(lambda i, n: event("user_annotation", f"note {i}", i, 3 * n), pair_inside),
    "optimizers": each(
        lambda i, n: event("user_annotation", f"Optimizer.step#{i}", i, 3 * n, tid=i + 10), pair_inside_of_another),
    "series_of_one_counter": lambda n: (
        '{"ph":"C","name":"c","pid":1,"tid":1,"ts":1,"args":{' + ",".join(f'"s{i}":{i}' for i in range(n)) + "}}",),
}
# Shapes of the header: what stands before the events.
HEADERS = {
    "listed_devices": lambda n: '"deviceProperties":[' + ",".join(f'{{"id":{i},"name":"H100 {i}"}}' for i in range(n)) + "],",
    "listed_and_used_devices": lambda n: '"deviceProperties":[' + ",".join(f'{{"id":{i},"name":"H100"}}' for i in range(n)) + "],",
    "header_keys": lambda n: "".join(f'"key {i}":{i},' for i in range(n)),
}


def write(name, n, path):
    """A trace of this shape."""
    with open(path, "w") as out:
        out.write("{" + (HEADERS[name](n) if name in HEADERS else "") + '"traceEvents":[\n')
        out.writelines((",\n" if i else "") + text for i, text in enumerate(SHAPES[name](n)))
        out.write("\n]}\n")


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]), sys.argv[3])
