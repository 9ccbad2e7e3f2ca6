"""The events that hostile_shapes.py makes traces of, as JSON texts, and the table of its shapes."""

SHAPES = {}


def shape(function):
    SHAPES[function.__name__] = function
    return function


def event(cat, name, ts, dur, pid=1, tid=1, args="", ph="X"):
    return (f'{{"ph":"{ph}","cat":"{cat}","name":"{name}","pid":{pid},"tid":{tid},"ts":{ts},"dur":{dur},'
            f'"args":{{{args}}}}}')


def kernel(i, correlation, name="k", ts=None, device=0, stream=7, more=""):
    ts = 3 * i + 1 if ts is None else ts
    return event("kernel", name, ts, 2, device, stream,
                 f'"device":{device},"stream":{stream},"correlation":{correlation}{more}')


def launch(i, correlation, pid=1, tid=1, ts=None, name="cudaLaunchKernel", more=""):
    return event("cuda_runtime", name, 3 * i if ts is None else ts, 1, pid, tid, f'"correlation":{correlation}{more}')


def pairs(n, **of_launch):
    """n launches, each with its kernel."""
    for i in range(n):
        yield launch(i, i + 1, **of_launch)
        yield kernel(i, i + 1)


def frame(i, name, ts, dur, parent="null", tid=1):
    return event("python_function", name, ts, dur, 1, tid, f'"Python id":{i},"Python parent id":{parent}')
