"""Traces of shapes that no profiler writes, each of which makes some search in ingest or in a report as long as it can
be: many names where there are few, many things open at once, many owners of one number. SHAPES maps a name to a
function of the size n that yields the events as JSON texts, about as many for every n.

Run as a program, it writes one: hostile_shapes.py NAME N FILE
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import hostile_links  # noqa: E402, F401  (fills SHAPES)
from hostile_events import SHAPES, event, frame, kernel, launch, pairs, shape  # noqa: E402


# Names and numbers

@shape
def kernel_names(n):
    for i in range(n):
        yield kernel(i, i + 1, f"kernel_{i}")


@shape
def python_frames(n):
    for i in range(n):
        yield frame(i, f"module_{i}.py({i}): function_{i}", 3 * i, 2)


@shape
def frames_and_annotations(n):
    for i in range(n):
        yield event("user_annotation", f"note {i}", 3 * i, 1)
        if i % 10 == 0:
            yield frame(i, f"module_{i}.py({i}): function_{i}", 3 * i, 2)


@shape
def categories(n):
    for i in range(n):
        yield event(f"category {i}", "x", i, 1)


@shape
def phases(n):
    for i in range(n):
        yield event("cpu_op", "x", i, 1, ph=f"p{i}")


@shape
def launch_configs(n):
    for i in range(n):
        yield kernel(i, i + 1, more=f',"grid":[{i},1,1],"block":[64,1,1]')


@shape
def operator_shapes(n):
    for i in range(n):
        yield event("cpu_op", "aten::mm", 3 * i, 2, args=f'"Input Dims":[[{i},4]],"External id":{i}')


@shape
def wide_numbers(n):
    for i in range(n):
        yield kernel(i, 2**64 - 1 - i)


@shape
def series_of_one_counter(n):
    series = ",".join(f'"s{i}":{i}' for i in range(n))
    yield f'{{"ph":"C","name":"c","pid":1,"tid":1,"ts":1,"args":{{{series}}}}}'


@shape
def collective_groups(n):
    for i in range(n):
        yield kernel(i, i + 1, "ncclDevKernel_AllReduce",
                     more=f',"Collective name":"allreduce","Process Group Name":"g{i}","Group size":8,"dtype":"Half"'
                          f',"In msg nelems":{i},"Out msg nelems":{i}')


@shape
def damage_and_names(n):
    """Names must be forgotten again where a piece of the trace turns out to be damaged."""
    for i in range(n):
        yield event("cpu_op", f"operator {i} {'x' * 200}", 3 * i, 2, args='"a": 1.0.0' if i % 100 == 0 else "")


# Tracks

@shape
def processes(n):
    for i in range(n):
        yield launch(i, i + 1, pid=i + 10)
        yield kernel(i, i + 1)


@shape
def threads(n):
    yield from pairs(n // 2)
    for i in range(n):
        yield launch(i, n + i + 1, tid=i + 10)


@shape
def streams(n):
    for i in range(n):
        yield kernel(i, i + 1, ts=i, stream=i)


@shape
def devices(n):
    for i in range(n):
        yield launch(i, i + 1)
        yield kernel(i, i + 1, device=i)


@shape
def named_tracks(n):
    for i in range(n):
        yield f'{{"ph":"M","name":"process_name","pid":{i},"tid":0,"ts":0,"args":{{"name":"p{i}"}}}}'
        yield f'{{"ph":"M","name":"thread_name","pid":{i},"tid":{i},"ts":0,"args":{{"name":"t{i}"}}}}'


# Time

@shape
def kernels_at_one_time(n):
    for i in range(n):
        yield kernel(i, i + 1, f"k{i % 7}", ts=5)


@shape
def kernels_not_nested(n):
    for i in range(n):
        yield event("kernel", f"k{i % 7}", i, n, 0, i % 3, f'"device":0,"stream":{i % 3},"correlation":{i + 1}')


@shape
def repeated_sequence(n):
    """Sequences that look alike wherever they are cut: steps and layers are sought in them."""
    for i in range(n):
        yield launch(i, i + 1)
        yield kernel(i, i + 1, "gemm" if i % 2 else "norm_kernel")


@shape
def aperiodic_sequence(n):
    for i in range(n):
        yield launch(i, i + 1)
        yield kernel(i, i + 1, f"gemm_{bin(i).count('1') % 2}_{(i * i) % 7}")


# The header

def header_shape(function):
    function.header = True
    return shape(function)


@header_shape
def listed_devices(n):
    yield '"deviceProperties":[' + ",".join(f'{{"id":{i},"name":"H100 {i}"}}' for i in range(n)) + "]"
    yield from (kernel(i, i + 1) for i in range(10))


@header_shape
def listed_and_used_devices(n):
    yield '"deviceProperties":[' + ",".join(f'{{"id":{i},"name":"H100"}}' for i in range(n)) + "]"
    yield from (kernel(i, i + 1, device=i) for i in range(n))


@header_shape
def header_keys(n):
    yield ",".join(f'"key {i}":{i}' for i in range(n))
    yield from (kernel(i, i + 1) for i in range(10))


def write(name, n, path):
    """A trace of this shape."""
    function = SHAPES[name]
    events = function(n)
    with open(path, "w") as out:
        header = next(events) + "," if hasattr(function, "header") else ""
        out.write("{" + header + '"traceEvents":[\n')
        out.writelines((",\n" if i else "") + text for i, text in enumerate(events))
        out.write("\n]}\n")


if __name__ == "__main__":
    write(sys.argv[1], int(sys.argv[2]), sys.argv[3])
