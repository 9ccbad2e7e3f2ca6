"""Writes XSpace files (*.xplane.pb) from plain lists: the wire format of protobuf, by the field numbers of xplane.proto and hlo.proto."""
import struct


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def field(number, value):
    """An integer, a float, text, or a message in bytes; a list: one after the other."""
    if isinstance(value, list):
        return b"".join(field(number, one) for one in value)
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def message(**fields):
    """message(f1=..., f7=...)"""
    return b"".join(field(int(name[1:]), value) for name, value in fields.items() if value is not None)


class Plane:
    """A plane whose events and stats are given by name. Texts of stats become refs, as JAX writes them."""

    def __init__(self, name, refs=True, **stats):
        self.name, self.refs, self.lines, self.events, self.stats, self.of_names = name, refs, [], {}, {}, {}
        self.own = [self.stat(key, value) for key, value in stats.items()]

    def id_of(self, names, name):
        return names.setdefault(name, len(names) + 1)

    def stat(self, key, value):
        own = self.id_of(self.stats, key)
        if isinstance(value, float):
            return message(f1=own, f2=value)
        if isinstance(value, int):
            return message(f1=own, f4=value)
        if isinstance(value, bytes):
            return message(f1=own, f6=value)
        return message(f1=own, f7=self.id_of(self.stats, value)) if self.refs else message(f1=own, f5=value)

    def named(self, name, display_name=None, **stats):
        """What holds for every event of the name."""
        self.of_names[name] = message(f4=display_name, f5=[self.stat(key, value) for key, value in stats.items()])

    def line(self, number, name, events, at=1000):
        """`events`: (name, offset in ps, duration in ps, stats)."""
        out = [message(f1=self.id_of(self.events, event), f2=offset, f3=duration, f4=[self.stat(*one) for one in stats.items()])
               for event, offset, duration, stats in events]
        self.lines.append(message(f1=number, f2=name, f3=at, f4=out))
        return self

    def bytes(self):
        entry = lambda key, value: message(f1=key, f2=value)
        return message(f2=self.name, f3=self.lines,
                       f4=[entry(key, message(f1=key, f2=name) + self.of_names.get(name, b"")) for name, key in self.events.items()],
                       f5=[entry(key, message(f1=key, f2=name)) for name, key in self.stats.items()], f6=self.own)


def program(number, name, instructions, frames=None):
    """A plane /host:metadata entry: `instructions`: (id, name, opcode, (type, dims), fields...) in one computation."""
    shape = lambda of: message(f2=of[0], f3=list(of[1]))
    body = [message(f1=op, f2=opcode, f3=shape(of), f35=key, **more) for key, op, opcode, of, more in instructions]
    module = message(f1=name, f3=message(f1="main", f2=body, f5=1), f5=number, f17=frames)
    return number, f"{name}({number})", message(f1=module)


def metadata(programs):
    plane = Plane("/host:metadata")
    for number, name, proto in programs:
        plane.events[name] = number
        plane.of_names[name] = message(f5=plane.stat("Hlo Proto", proto))
    return plane


def space(planes, **more):
    return message(f1=[plane.bytes() for plane in planes], **more)


def gpu(refs=True, vendor="Nvidia", apart=False):
    """`apart`: calls on a line of their own, and events of the operations around them, as newer ROCm has them. Two steps of two layers, forward and backward, a collective, a captured graph; launched by a thread of the runtime."""
    device = Plane("/device:GPU:0", refs, device_vendor=vendor, core_count=132, memory_size=80 << 30, compute_cap_major=9, compute_cap_minor=0)
    host = Plane("/host:CPU", refs)
    details = "regs:38 static_shared:0 dynamic_shared:4096 grid:160,1,1 block:1024,1,1 occ_pct:50"
    ops = [("loop_convert_fusion", "loop_convert_fusion.1"), ("sm90_xmma_gemm_bf16", "cublas-gemm.2"), ("loop_convert_fusion", "loop_convert_fusion.3"),
           ("sm90_xmma_gemm_bf16", "cublas-gemm.4"), ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "all-reduce-start.5"), ("loop_add_fusion", "loop_add_fusion.6")]
    kernels, calls, user, named = [], [], [], []
    for step in range(2):
        start = step * 100_000_000
        user += [("train", start, 50_000_000, {"step_num": step}), ("PjitFunction(f)", start + 1_000_000, 2_000_000, {}),
                 ("Execute", start + 1_500_000, 0, {"_pt": 5, "_p": step + 1}), ("$model.py:7 loss", start + 1_100_000, 1_000_000, {})]
        calls.append(("EnqueueExecution", start + 4_000_000, 40_000_000, {"_ct": 5, "_c": step + 1}))
        for place, (kernel, op) in enumerate(ops):
            link = step * 10 + place + 1
            at = start + 5_000_000 + place * 5_000_000
            calls.append(("cuLaunchKernel", at, 1_000_000, {"correlation_id": link}))
            named.append((op, at - 100_000, 1_500_000, {}))
            kernels.append((kernel, at + 2_000_500, 1_499_500, {"correlation_id": link, "kernel_details": details, "hlo_op": op,
                                                                "hlo_module": "jit_f", "program_id": 7}))
        calls.append(("cuGraphLaunch", start + 36_000_000, 1_000_000, {"correlation_id": step * 10 + 9}))
        kernels.append(("graph_kernel", start + 38_000_000, 1_000_000, {"correlation_id": step * 10 + 9}))
    path = lambda text: {"f7": message(f2=text)}
    f32, layers = (11, (8, 128)), ["jit(f)/jit(main)/jvp(layers_0)/mlp/add", "jit(f)/jit(main)/jvp(layers_0)/mlp/dot_general",
                                   "jit(f)/jit(main)/jvp(layers_1)/mlp/add", "jit(f)/jit(main)/transpose(jvp(layers_1))/mlp/dot_general"]
    code = [program(7, "jit_f", [
        (1, "loop_convert_fusion.1", "fusion", f32, path(layers[0]) | {"f36": [2]}), (2, "cublas-gemm.2", "custom-call", f32, path(layers[1]) | {"f28": "__cublas$gemm"}),
        (3, "loop_convert_fusion.3", "fusion", (16, (8, 128)), path(layers[2])), (4, "cublas-gemm.4", "custom-call", f32, path(layers[3]) | {"f28": "__cublas$gemm"}),
        (5, "all-reduce-start.5", "all-reduce-start", f32, {}), (6, "loop_add_fusion.6", "fusion", f32, {})])]
    planes = [metadata(code), device.line(14, "Stream #14(Compute)", kernels), host.line(3, "python", user), host.line(-7, "pool/-7", named + [one for one in calls if one[0] == "EnqueueExecution"] if apart else calls),
              host.line(9, "Host Threads/9", [one for one in calls if one[0] != "EnqueueExecution"] if apart else []),
              Plane("Task Environment", profile_start_time=1_700_000_000_000_000_000)]
    return [planes[0], device, host, planes[-1]]


def tpu():
    device = Plane("/device:TPU:0", device_type_string="TPU v6 Lite", peak_teraflops_per_second=918.0)
    text = lambda op, shape, code: f"%{op} = {shape}{{1,0:T(8,128)}} {code}(%p), kind=kLoop"
    body, dot, gather = text("while.1", "f32[8]", "while"), text("fusion.2", "f32[8,128]", "fusion"), text("all-gather-start.3", "f32[64]", "all-gather-start")
    device.named(body, "while.1", hlo_category="while")
    device.named(dot, "fusion.2", hlo_category="convolution fusion", flops=2048, bytes_accessed=512, tf_op="jit(f)/layers_0/dot_general:",
                 source="model.py:9", shape_with_layout="f32[8,128]{1,0:T(8,128)}")
    device.named(gather, "all-gather-start.3")
    copy = text("copy-start.4", "f32[8]", "copy-start")
    device.named(copy, "copy-start.4", bytes_accessed=4096)
    runs = [(f"jit_f({number})", at * 1_000_000, 90_000_000, {"run_id": 5 + at}) for number, at in ((11, 0), (11, 100))]
    ops = [event for at in (0, 100) for event in (
        (body, (at + 10) * 1_000_000, 50_000_000, {}), (dot, (at + 12) * 1_000_000, 20_000_500, {}), (dot, (at + 40) * 1_000_000, 10_000_000, {}),
        (dot, (at + 70) * 1_000_000, 5_000_000, {}))]
    device.line(3, "XLA Ops", ops).line(2, "XLA Modules", runs)
    device.line(4, "Async XLA Ops", [(gather, 15_000_000, 30_000_000, {}), (copy, 20_000_000, 8_000_000, {})])
    host = Plane("/host:CPU").line(1, "main", [("DoEnqueueProgram", (at - 1) * 1_000_000 + 1_000_000, 500_000, {"run_id": 5 + at}) for at in (0, 100)])
    code = [program(number, "jit_f", [(1, "fusion.2", "fusion", (11, (8, 128)), {"f7": message(f2="jit(f)/other/add")})]) for number in (10, 12)]
    code.append(program(11, "jit_f", [(1, "fusion.2", "fusion", (11, (8, 128)), {"f36": [2]}), (2, "p.1", "parameter", (11, (64,)), {})]))
    return [metadata(code), device, host]


def json_events():
    name = lambda what, pid, tid, text: {"ph": "M", "pid": pid, "tid": tid, "name": what, "args": {"name": text}}
    return [name("process_name", 1, 0, "host one /device:GPU:0"), name("thread_name", 1, 14, "Stream #14(Compute)"),
            name("thread_name", 1, 99, "XLA Ops"), name("process_name", 701, 0, "/host:CPU"), name("thread_name", 701, 5, "main"),
            {"ph": "X", "pid": 1, "tid": 14, "ts": 10.0005, "dur": 2.0005, "name": "k.kd", "args": {"correlation_id": "4", "hlo_op": "dot.1", "hlo_module": "jit_f"}},
            {"ph": "X", "pid": 1, "tid": 14, "ts": 13, "dur": 0.000001, "name": "CopyHostToDevice", "args": {"correlation_id": "5", "memcpy_details": "kind_src:pinned kind_dst:device size:64 dest:0 async:1"}},
            {"ph": "X", "pid": 1, "tid": 99, "ts": 10, "dur": 5, "name": "dot.1"},
            {"ph": "X", "pid": 701, "tid": 5, "ts": 8, "dur": 1, "name": "cuLaunchKernel", "args": {"correlation_id": "4"}}]
