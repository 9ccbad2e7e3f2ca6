"""Runs an operator with the arguments that it had in a trace, and prints the time of a call. Needs PyTorch. Shapes, types and
strides are the trace's. Values of tensors are not recorded: floats are random, integers 0, so offsets, too; lists of tensors
are taken for float32, devices for one, texts and what else is not recorded for the default of the operator."""
import ast, functools, json, math, sys, time

import torch

OPERATOR = {operator}
DEVICE = sys.argv[1] if len(sys.argv) > 1 else "cuda" if torch.cuda.is_available() else "cpu"
TYPES = {  # of PyTorch, by the names that its profiler writes
{types}}
CASES = [  # calls in the trace; of each argument shape, type, strides, and the value of what is no tensor
{cases}]


def argument(shape, kind, strides, value):
    if kind == "TensorList":
        return [argument(one, "float", [], "") for one in shape]
    name = kind.removeprefix("c10::").lower() if kind.startswith("c10::") else kind
    dtype = getattr(torch, TYPES.get(name, ""), None) if kind else None
    if isinstance(dtype, torch.dtype):
        size = math.prod(shape) if not strides or 0 in shape else 1 + sum((n - 1) * step for n, step in zip(shape, strides))
        flat = (torch.randn if dtype.is_floating_point else torch.zeros)(size, device=DEVICE).to(dtype)
        return flat.as_strided(shape, strides) if strides else flat.reshape(shape)
    if shape or (value is None and kind):
        raise ValueError(f"the trace does not record an argument ({kind} {shape}): write it into CASES")
    try:
        return ast.literal_eval(value) if value else None
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return float(value) if value in ("inf", "-inf", "nan") else value


def given(place, value):
    if place.name == "filename":
        raise ValueError("works on files, whose names would be the trace's")
    if place.name == "device" and value is None:
        return torch.device(DEVICE)
    return place.default_value if value is None and place.has_default_value() else value


def bound(arguments):
    errors = []
    for overload in (getattr(PACKET, name) for name in PACKET.overloads()):
        places = [(place, given(place, value)) for place, value in zip(overload._schema.arguments, arguments)]
        call = functools.partial(overload, *(value for place, value in places if not place.kwarg_only),
                                 **{place.name: value for place, value in places if place.kwarg_only})
        try:
            if len(places) == len(overload._schema.arguments) == len(arguments):
                call()
                return call
        except Exception as error:  # of arguments of another overload: any
            errors.append(str(error))
    raise ValueError(f"no overload takes these {len(arguments)} arguments: {errors}")


try:
    PACKET = functools.reduce(getattr, OPERATOR.split("::"), torch.ops)
except AttributeError:
    raise SystemExit(f"{OPERATOR}: PyTorch has no such operator here: import what registers it")
backend, repeats = getattr(torch, DEVICE.split(":")[0], None), 100
wait = functools.partial(backend.synchronize, DEVICE) if "cuda" in DEVICE else getattr(backend, "synchronize", lambda: None)
failed = 0
for calls, *case in CASES:
    try:
        shapes, kinds, strides, values = map(json.loads, case)
        lists = shapes, kinds, strides or [[]] * len(shapes), values or [None] * len(shapes)
        run = bound([argument(*one) for one in zip(*lists, strict=True)])
    except Exception as error:
        print(f"{OPERATOR}: arguments that cannot be made, {case}: {error}", file=sys.stderr)
        failed = 1
        continue
    wait()
    start = time.perf_counter()
    for _ in range(repeats):
        run()
    wait()
    print(f"{1e6 * (time.perf_counter() - start) / repeats:10.1f} us a call, {calls} in the trace: {case[0]} {case[1]}")
sys.exit(failed)
