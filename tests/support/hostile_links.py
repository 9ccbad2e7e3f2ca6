"""Shapes of hostile_shapes.py in which links, steps and call paths are sought: event to event by number or by time."""
from hostile_events import event, frame, kernel, launch, pairs, shape


# Links

@shape
def one_correlation(n):
    for i in range(n):
        yield launch(i, 1, pid=i + 10)
        yield kernel(i, 1)


@shape
def one_correlation_one_process(n):
    for i in range(n):
        yield launch(i, 1)
        yield kernel(i, 1)


@shape
def one_correlation_many_devices(n):
    for i in range(n):
        yield launch(i, 1, pid=i + 10)
        yield kernel(i, 1, device=i)


@shape
def one_external_id(n):
    for i in range(n):
        yield event("cpu_op", "aten::mm", 3 * i, 2, pid=i + 10, args='"External id":5')
        yield kernel(i, 0, more=',"External id":5')


@shape
def operators_over_launches(n):
    for i in range(n):
        yield event("cpu_op", "aten::mm", i, 3 * n, args=f'"External id":{i + 1}')
    for i in range(n):
        yield launch(i, i + 1, ts=n + i, more=f',"External id":{10 * n + i}')
        yield kernel(i, i + 1, ts=n + 3 * i)


@shape
def operators_at_one_time(n):
    for i in range(n):
        yield event("cpu_op", "aten::mm", 5, 0, args=f'"External id":{i + 1}')
        yield launch(i, i + 1, ts=5, more=f',"External id":{10 * n + i}')


@shape
def operators_not_nested(n):
    for i in range(n):
        yield event("cpu_op", "aten::mm", i, n, args=f'"External id":{i + 1}')
    for i in range(n):
        yield launch(i, i + 1, ts=n + i)


@shape
def flows_of_one_id(n):
    for i in range(n):
        yield f'{{"ph":"s","cat":"ac2g","name":"ac2g","id":1,"pid":1,"tid":1,"ts":{3 * i}}}'
        yield f'{{"ph":"f","cat":"ac2g","name":"ac2g","id":1,"pid":0,"tid":7,"ts":{3 * i + 1},"bp":"e"}}'
        yield kernel(i, 0)


@shape
def flows_to_one_time(n):
    for i in range(n):
        yield f'{{"ph":"s","cat":"ac2g","name":"ac2g","id":{i + 1},"pid":1,"tid":1,"ts":{i}}}'
        yield f'{{"ph":"f","cat":"ac2g","name":"ac2g","id":{i + 1},"pid":0,"tid":{i},"ts":{n},"bp":"e"}}'
        yield kernel(i, 0, ts=n, stream=i)


@shape
def flows_of_one_correlation(n):
    yield launch(0, 1, ts=0)
    for i in range(n):
        yield f'{{"ph":"f","cat":"ac2g","name":"ac2g","id":1,"pid":0,"tid":{i},"ts":{n},"bp":"e"}}'
        yield kernel(i, 1, ts=n, stream=i)
    yield '{"ph":"s","cat":"ac2g","name":"ac2g","id":1,"pid":1,"tid":1,"ts":0}'


@shape
def backward_flows(n):
    for i in range(n):
        yield f'{{"ph":"s","cat":"fwdbwd","name":"fwdbwd","id":{i},"pid":1,"tid":1,"ts":{i}}}'
        yield f'{{"ph":"f","cat":"fwdbwd","name":"fwdbwd","id":{i},"pid":1,"tid":2,"ts":{n + i},"bp":"e"}}'
        yield event("cpu_op", "aten::mm", i, n, args=f'"External id":{i},"Sequence number":{i}')
        yield event("cpu_op", "MmBackward", n + i, n, tid=2, args=f'"External id":{n + i},"Sequence number":{i}')


@shape
def backward_flows_at_one_time(n):
    for i in range(n):
        yield f'{{"ph":"s","cat":"fwdbwd","name":"fwdbwd","id":{i},"pid":1,"tid":1,"ts":1}}'
        yield f'{{"ph":"f","cat":"fwdbwd","name":"fwdbwd","id":{i},"pid":1,"tid":{i + 10},"ts":5,"bp":"e"}}'
        yield event("cpu_op", "aten::mm", 5, 3, tid=2, args=f'"External id":{i}')


@shape
def graph_launches_and_threads(n):
    for i in range(n):
        yield launch(i, i + 1, name="cudaGraphLaunch")
        yield launch(i, n + i + 1, tid=i + 10)
        yield kernel(i, i + 1)


# Slices in two halves

@shape
def begin_end_crossed(n):
    for i in range(n):
        yield f'{{"ph":"B","cat":"x","name":"b{i}","pid":1,"tid":1,"ts":{i}}}'
    for i in range(n):
        yield f'{{"ph":"E","cat":"x","name":"b{i}","pid":1,"tid":1,"ts":{n + i}}}'


@shape
def ends_without_begin(n):
    for i in range(n):
        yield f'{{"ph":"b","cat":"x","name":"b{i}","id":7,"pid":1,"tid":1,"ts":{i}}}'
    for i in range(n):
        yield f'{{"ph":"e","cat":"x","name":"e{i}","id":7,"pid":1,"tid":1,"ts":{n + i}}}'


# Python

@shape
def python_parents_not_open(n):
    for i in range(n):
        yield frame(i, "f.py(1): f", i, 3 * n - 2 * i, parent=10 * n + i)


@shape
def python_frames_not_nested(n):
    for i in range(n):
        yield frame(i, "f.py(1): f", i, n, parent=i - 1 if i else "null")


@shape
def python_frames_at_one_time(n):
    for i in range(n):
        yield frame(i, f"f.py({i}): f", 5, 5, parent=i - 1 if i else "null")


@shape
def modules_nested(n):
    for i in range(n):
        yield frame(i, f"nn.Module: M_{i}", i, 3 * n - 2 * i, parent=i - 1 if i else "null")
    yield from pairs(100)


@shape
def modules_beside(n):
    yield frame(0, "nn.Module: Model_0", 0, 3 * n + 3)
    for i in range(n):
        yield frame(i + 1, f"nn.Module: Layer_{i}", 3 * i, 2, parent=0)
        yield launch(i, i + 1)
        yield kernel(i, i + 1)


# Steps and annotations

@shape
def steps(n):
    for i in range(n):
        yield event("user_annotation", f"ProfilerStep#{i}", 3 * i, 3)
        yield launch(i, i + 1)
        yield kernel(i, i + 1)


@shape
def steps_nested(n):
    for i in range(n):
        yield event("user_annotation", f"ProfilerStep#{i}", i, 3 * n - 2 * i)
    for i in range(n):
        yield launch(i, i + 1, ts=n + i, tid=2)
        yield kernel(i, i + 1, ts=n + 3 * i)


@shape
def steps_not_nested(n):
    for i in range(n):
        yield event("user_annotation", f"ProfilerStep#{i}", i, n)
    for i in range(n):
        yield launch(i, i + 1, ts=i)
        yield kernel(i, i + 1, ts=i)


@shape
def steps_of_threads(n):
    for i in range(n):
        yield event("user_annotation", f"ProfilerStep#{i}", i, 3 * n, tid=i + 10)
    for i in range(n):
        yield launch(i, i + 1, ts=n + i, tid=2)
        yield kernel(i, i + 1, ts=n + 3 * i)


@shape
def steps_on_device(n):
    for i in range(n):
        yield event("gpu_user_annotation", "decode", i, n, 0, i, f'"device":0,"stream":{i}')
        yield kernel(i, i + 1, ts=i, stream=i)


@shape
def images_on_one_stream(n):
    for i in range(n):
        yield event("gpu_user_annotation", "decode", i, 3 * n, 0, 7, '"device":0,"stream":7')
        yield kernel(i, i + 1, ts=i)


@shape
def notes_over_launches(n):
    for i in range(n):
        yield event("user_annotation", f"note {i}", i, 3 * n)
    for i in range(n):
        yield launch(i, i + 1, ts=n + i)
        yield kernel(i, i + 1, ts=n + 3 * i)


@shape
def optimizers(n):
    for i in range(n):
        yield event("user_annotation", f"Optimizer.step#{i}", i, 3 * n, tid=i + 10)
    for i in range(n):
        yield launch(i, i + 1, ts=n + i, tid=2)
        yield kernel(i, i + 1, ts=n + 3 * i)
