"""`compare --section operators`, `roofline` and `memory`, and what the page says of them: generated traces, worked out by hand."""
from made_events import call, event, index_of, kernel, on_device
from trace_cases import as_json, equal, require, run


def trace(path, operators, allocations, kind=1, **memory):
    """`operators`: (name, parent's place or None, host us, kernel us); one after the other, children inside. Two steps, and a call of
    relu behind them."""
    events, at, link = [], 0, 0
    for step in range(2):
        begin = at
        for name, inside, host, device in operators:
            at += 0 if inside else 100
            place = at + (5 if inside else 0)
            events.append(event("cpu_op", name, place, host))
            if device:
                link += 1
                work = ("gpu_memcpy", "Memcpy DtoD") if name == "aten::copy_" else ("kernel", "gemm_kernel")
                events += [call("cudaLaunchKernel", place + 1, 1, link), on_device(*work, place + 2, device, correlation=link)]
            total = sum(size for owner, size in allocations if owner == name)
            if total and step == 0:
                args = {"Device Type": kind, "Device Id": 0, "Addr": 4096 + len(events), "Bytes": total} | memory
                events.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "pid": 1, "tid": 1, "ts": place + 1, "name": "[memory]",
                               "args": {key: value for key, value in args.items() if value is not None}})
        at += 200
        events.append(event("user_annotation", f"ProfilerStep#{step}", begin, at - begin - 10))
    events += [event("cpu_op", "aten::relu", at, 30), call("cudaLaunchKernel", at + 1, 1, link + 1), kernel("gemm_kernel", at + 2, 10, correlation=link + 1)]
    return index_of(path, events, schemaVersion=1)


def both(folder):
    baseline = trace(folder / "a.json", [("aten::linear", None, 60, 0), ("aten::addmm", 1, 40, 20), ("aten::relu", None, 30, 10), ("aten::copy_", None, 10, 5)],
                     [("aten::addmm", 60_000_000), ("aten::relu", 8_000_000)])
    candidate = trace(folder / "b.json", [("aten::linear", None, 60, 0), ("aten::mm", 1, 30, 25), ("aten::relu", None, 30, 12),
                                          ("aten::relu", None, 30, 12), ("aten::copy_", None, 10, 9)],
                      [("aten::mm", 90_000_000), ("aten::relu", 8_000_000)], kind=6)
    return baseline, candidate


def section(name, *indexes):
    return as_json("compare", *indexes, "--section", name)["sections"][0]["rows"]


def check_operators(folder):
    found = {row["operator"]: row for row in section("operators", *both(folder))}
    equal({name: (row["status"], row["under"], row["baseline_calls"], row["candidate_calls"], row["device_change"], row["host_change"])
           for name, row in found.items()},
          {"aten::addmm": ("gone", "aten::linear", 1, 0, -20_000, -40_000), "aten::mm": ("new", "aten::linear", 0, 1, 25_000, 30_000),
           "aten::relu": ("more", None, 1, 2, 14_000, 30_000), "aten::linear": ("slower", None, 1, 1, 0, 10_000),
           "aten::copy_": ("slower", None, 1, 1, 4_000, 0)}, "operators")
    baseline, _ = both(folder)
    equal({row["status"] for row in section("operators", baseline, baseline)}, {"same"}, "with itself")


def check_memory(folder):
    indexes = both(folder)
    # Peaks are of one moment: what relu allocates twice is alive twice.
    equal([(row["device"], row["what"], row["baseline"], row["candidate"], row["change"]) for row in section("memory", *indexes)],
          [("cuda 0 / hip 0", "[peak]", 68_000_000, 106_000_000, 38_000_000), ("cuda 0 / hip 0", "aten::mm", 0, 90_000_000, 90_000_000),
           ("cuda 0 / hip 0", "aten::addmm", 60_000_000, 0, -60_000_000), ("cuda 0 / hip 0", "aten::relu", 8_000_000, 16_000_000, 8_000_000)],
          "memory")
    said = " ".join(run("trace-query", "compare", *indexes).stdout.split())
    require("cuda 0 / hip 0: peak 68.00 MB -> 106.00 MB (+38.00 MB); aten::mm alone +90.00 MB; the higher one in step 0" in said, said)
    require("peak" not in run("trace-query", "compare", indexes[0], indexes[0]).stdout, "an equal peak is not told")
    # Of the rest, no operator is the cause; the only devices of both sides are compared, whatever their numbers.
    def made(name, **memory):
        return trace(folder / f"{name}.json", [("aten::mm", None, 30, 25)], [("aten::mm", memory.pop("size", 9_000_000))], **memory)

    plain = made("plain", **{"Total Allocated": 9_000_000})
    for name, memory, rest, by in (
            ("before", {"size": 10_000_000, "Total Allocated": 60_000_000, "Device Id": 3}, ("[before the trace]", 50_000_000), "[before the trace] alone +50.00 MB"),
            ("unknown", {"Total Allocated": 59_000_000, "Addr": None}, ("[addresses not recorded]", 59_000_000), None)):
        other = made(name, **memory)
        found = section("memory", plain, other)
        equal(([row["change"] for row in found][0], found[1]["what"], found[1]["candidate"]), (sum(row["change"] for row in found[1:]), *rest), name)
        said = " ".join(run("trace-query", "compare", plain, other).stdout.split())
        require("peak 9.00 MB -> " in said and (by in said if by else "addresses" not in said), said)


def check_roofline(folder):
    """A product of matrices on two devices of known peaks: what the device brings, and how well it is used, worked out here."""
    def made(name, device, memory, kind, times):
        events = []
        for i, dur in enumerate(times):
            at, ids = 1000 * i, {"External id": i + 1}
            shapes = {"Input Dims": [[4096, 4096], [4096, 4096]], "Input type": ["c10::BFloat16"] * 2, "Concrete Inputs": ["", ""]}
            events += [event("cpu_op", "aten::mm", at, 10, **ids, **shapes), call("cudaLaunchKernel", at + 1, 2, i + 1, **ids),
                       kernel("gemm", at + 5, dur, correlation=i + 1, **ids)]
        properties = {"id": 0, "name": device, "totalGlobalMem": memory, **kind}
        return index_of(folder / f"{name}.json", events, "--force", deviceProperties=[properties])

    flops = 2 * 4096 ** 3
    h100 = made("h100", "NVIDIA H100 80GB HBM3", 85_000_000_000, {"computeMajor": 9, "computeMinor": 0, "numSms": 132}, [200, 300])
    mi300 = made("mi300", "AMD Instinct MI300X", 192_000_000_000, {"numSms": 304}, [180, 200])
    (row,) = section("roofline", h100, mi300)
    roofs = [flops / peak / 1000 for peak in (989.4, 1307.4)]
    hardware = 250_000 * (roofs[1] / roofs[0] - 1)
    for column, value in (("baseline", 250_000), ("candidate", 190_000), ("change", -60_000), ("hardware", hardware), ("efficiency", -60_000 - hardware)):
        require(abs(row[column] - value) <= 1, f"{column}: {row[column]}, not {value}")
    for column, value in (("baseline_roof_pct", roofs[0] / 2500), ("candidate_roof_pct", roofs[1] / 1900)):
        require(abs(row[column] - value) < 1e-6, f"{column}: {row[column]}, not {value}")
    back = section("roofline", mi300, h100)[0]
    require(abs(back["hardware"] + hardware) <= 1 and abs(back["efficiency"] - 60_000 - hardware) <= 1, f"the other way round: {back}")
    said = " ".join(run("trace-query", "compare", h100, mi300).stdout.split())
    require("aten::mm [[4096,4096],[4096,4096]]: 55.6 % of H100's roof, 55.3 % of MI300X's; -60.0 us a call, of that "
            f"{hardware / 1000:+.1f} us by the roofs and {-60_000 - hardware:+.0f} ns by their use" in said, said)
    far = made("far", "AMD Instinct MI300X", 192_000_000_000, {"numSms": 304}, [1800, 2000])
    near = section("roofline", h100, far)[0], section("roofline", far, h100)[0]
    require(abs(near[0]["hardware"] - hardware) <= 1 and abs(near[1]["hardware"] + hardware) <= 1, f"far below its roof: {near}")
    # Lengths of attention lie in tensors: a call that does more work with inputs of the same shapes says nothing of the devices.
    def attention(name, keys, dur):
        dims = {"Input Dims": [[8, 32, 128], [4000, 8, 128], [4000, 8, 128]], "Input type": ["c10::BFloat16"] * 3}
        return index_of(folder / f"{name}.json", [
            event("user_annotation", f"execute_8_context_0(sq0sk0sqsq0sqsk0)_generation_8(sq8sk{keys}sqsq8sqsk{8 * keys})", 0, 5000),
            event("cpu_op", "flash_attn::_flash_attn_varlen_forward", 2, 20, **dims), call("cudaLaunchKernel", 4, 2, 1),
            kernel("flash_fwd_kernel", 30, dur, correlation=1)], deviceProperties=[h100_properties])

    h100_properties = {"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85_000_000_000, "computeMajor": 9, "computeMinor": 0, "numSms": 132}
    short = attention("short", 100_000, 200)
    for longer, told in ((100_000, True), (400_000, False)):
        (row,) = section("roofline", short, attention("long", longer, 800))
        equal((row["hardware"] is not None, row["efficiency"] is not None, row["change"]), (told, told, 600_000), f"{longer} keys")
    slow = made("slow", "NVIDIA H100 80GB HBM3", 85_000_000_000, {"numSms": 132}, [2000, 2200])
    require("roof" not in run("trace-query", "compare", slow, far).stdout, "a roof is blamed that neither comes near to")
    require("roof" not in run("trace-query", "compare", h100, h100).stdout, "the roof of one device is told as a difference")


def check_longer_host(folder):
    """The host's wait has a place that is long in both traces, and one that grew: that one is named, with what it is of the growth."""
    def made(name, lines, detokenize, frames=True):
        events = []
        for step in range(8):
            at = 5000 * step
            events += [event("user_annotation", "execute_context_0(0)_generation_8(8)", at, 600), call("cudaLaunchKernel", at + 10, 2, step + 1),
                       kernel("gemm_kernel", at + 20, 500, correlation=step + 1)]
            if frames:
                events += [event("python_function", f"app/engine.py({lines}): schedule", at + 700, 3000),
                           event("python_function", f"app/output.py({lines + 5}): detokenize", at + 3710, detokenize)]
        for one in events[3:]:
            one["ts"] += 0 if one["ts"] < 5000 else (one["ts"] // 5000) * (detokenize - 100)
        return index_of(folder / f"{name}.json", events, with_stack=1)

    short, long = made("short", 7, 100), made("long", 9, 900)
    for indexes, change in (((short, long), 800_000), ((long, short), -800_000)):
        (row,) = [row for row in as_json("compare", *indexes)["reasons"] if row["cause"] == "between_steps"]
        equal((row["change"], row["host"], round(row["host_pct"])), (change, "app/output.py(14): detokenize", 100), "what grew")
    # Where lines moved, a frame of the same line is not the same, and of two of one name neither can be told.
    def two(name, *frames):
        events = []
        for step in range(8):
            at, inside = 90_000 * step, 700
            events += [event("user_annotation", "execute_context_0(0)_generation_8(8)", at, 600), call("cudaLaunchKernel", at + 10, 2, step + 1),
                       kernel("gemm_kernel", at + 20, 500, correlation=step + 1)]
            for line, dur in frames:
                events.append(event("python_function", f"app/model.py({line}): forward", at + inside, dur))
                inside += dur + 10
        period = sum(dur for _, dur in frames) + 1000
        for one in events:
            one["ts"] = one["ts"] % 90_000 + one["ts"] // 90_000 * period
        return index_of(folder / f"{name}.json", events, with_stack=1)

    before = two("before", (100, 3000), (200, 10_000))
    for name, frames, host in (("grew", ((100, 8000), (200, 10_000)), "app/model.py(100): forward"), ("moved", ((200, 8000), (300, 10_000)), None),
                               ("far", ((300, 40_000), (400, 10)), "app/model.py(300): forward")):
        (row,) = [row for row in as_json("compare", before, two(name, *frames))["reasons"] if row["cause"] == "between_steps"]
        equal(row["host"], host, name)
    # Where the other trace records no frames, none can be said to be longer.
    found = as_json("compare", made("bare", 7, 100, False), long)["reasons"]
    require(found and not any(row["host"] for row in found), f"nothing to compare with: {found}")


def check_rare_steps(folder):
    """What makes a rare step longer is the host's only as far as the device waits there; and a step that both traces have is rare
    in both or in neither."""
    def made(name, gemm, detokenize, scatter=0):
        events, at = [], 0
        for step in range(12):
            more = scatter * (step % 3) if step != 5 else 0
            events += [event("user_annotation", "execute_context_0(0)_generation_8(8)", at, 600), call("cudaLaunchKernel", at + 10, 2, step + 1),
                       kernel("gemm_kernel", at + 20, (gemm if step == 5 else 500) + more, correlation=step + 1)]
            at += 20 + (gemm if step == 5 else 500) + more
            events.append(event("python_function", "app/output.py(9): detokenize", at, detokenize if step == 5 else 400))
            at += 80 + (detokenize if step == 5 else 400)
        return index_of(folder / f"{name}.json", events, with_stack=1)

    usual = made("usual", 500, 400)
    for name, gemm, detokenize, part in (("device", 4000, 400, None), ("host", 500, 4000, 100), ("both", 1500, 3000, 72)):
        (row,) = [row for row in as_json("compare", usual, made(name, gemm, detokenize))["reasons"] if row["cause"] == "rare_steps"]
        equal((row["host"], row["host_pct"] and round(row["host_pct"])), (part and "app/output.py(9): detokenize", part), name)
    # Of two kinds of steps, what makes the slow ones longer, not the short gaps of all.
    def slow(name, within, behind):
        events, at, link = [], 0, 0
        for step in range(12):
            begin = at
            for i in range(10):
                if step % 3 == 1 and i == 5:
                    events.append(event("cpu_op", "save", at, within))
                    at += within
                link += 1
                events += [event("cpu_op", "aten::mm", at, 68), call("cudaLaunchKernel", at + 55, 5, link), kernel("gemm_kernel", at + 58, 60, correlation=link)]
                at += 70
            at += 60 + (behind if step % 3 == 1 else 0)
            events.append(event("user_annotation", "execute_context_0(0)_generation_8(8)", begin, at - begin - 1))
        return index_of(folder / f"{name}.json", events)

    for name, within, behind, told in (("in", 900, 0, True), ("behind", 0, 900, False)):
        said = " ".join(run("trace-query", "compare", usual, slow(name, within, behind)).stdout.split())
        require(" stall for 9" in said and "`aten::mm`" not in said, said)
        equal("host in `save` for 9" in said, told, said)
    same, scattered = made("same", 500, 640), made("scattered", 500, 640, 70)
    for pair in ((same, scattered), (scattered, same)):
        equal([row for row in as_json("compare", *pair)["reasons"] if row["cause"] == "rare_steps"], [], "a step of both")


def check_kinds(folder):
    """Steps whose kind nothing tells are not those of which one trace tells that they are of no known kind."""
    def made(name, marks):
        events = []
        for step, mark in enumerate(marks):
            at, time = 5000 * step, 4000 if step == 0 else 500
            events += [event("user_annotation", mark, at, 4900), call("cudaLaunchKernel", at + 10, 2, step + 1), kernel("gemm_kernel", at + 20, time, correlation=step + 1)]
        return index_of(folder / f"{name}.json", events)

    untold, decode = "execute_context_0(0)_generation_0(0)", "execute_context_0(0)_generation_8(8)"
    told, none = made("told", [untold] + 7 * [decode]), made("none", 8 * [untold])
    for pair in ((told, none), (none, told)):
        said = " ".join(run("trace-query", "compare", *pair).stdout.split())
        require("tells kinds of steps" in said and "the kinds of steps differ" in said and " less" not in said and "better" not in said and "worse" not in said, said[:900])


def check_unseen_wait(folder):
    """The device bounds the steps, whose marks end with it though nothing is recorded of the host behind its launches: no path
    through the host is told. Where a recorded call waits, or marks end before, it is that of the device; without launches unsure."""
    def made(name, gemm, mark, waits):
        events = []
        for step in range(8):
            at, end, link = 2000 * step, 510 + gemm, 2 * step + 1
            events += [event("user_annotation", "execute_context_0(0)_generation_8(8)", at, mark or end + 20),
                       call("hipLaunchKernel", at + 1, 2, link), kernel("Cijk_Alik_Bljk_HHS_BH_MT128x128x32", at + 10, gemm, correlation=link),
                       call("hipLaunchKernel", at + 4, 2, link + 1), kernel("flash_fwd_splitkv_kernel", at + 10 + gemm, 500, correlation=link + 1)]
            events += [call("hipDeviceSynchronize", at + 8, end + 6, 1000 + step)] if waits else []
            events += [on_device("gpu_user_annotation", "execute_context_0(0)_generation_8(8)", at + 10, end - 10)] if name.startswith("lost") else []
        return index_of(folder / f"{name}.json", [one for one in events if not name.startswith("lost") or one["cat"] != "cuda_runtime"])

    for name, mark, waits, told in (("unseen", 0, False, False), ("seen", 0, True, True), ("ahead", 9, False, True), ("lost", 9, False, True)):
        pair = [made(f"{name}{gemm}", gemm, mark, waits) for gemm in (400, 900)]
        said = " ".join(run("trace-query", "compare", "-q", *pair).stdout.split())
        require("+500 us" in said and "would still take" not in said, said)
        equal("the critical path would take" in said, told, f"{name}: whether a path is told: {said}")
        equal("(partly inferred)" in said, name in ("seen", "lost"), f"{name}: how sure it is: {said}")


def check_drafts(folder):
    """Layers of a draft model, a stack beside that of the model, make no other model of it; more layers in its own stack do."""
    layer = [("vllm::rms_norm_kernel<c10::Half>", 4), ("nvjet_hsh_128x256_64x4_qkv", 20), ("flash_fwd_splitkv_kernel", 15), ("nvjet_hsh_64x128_64x8_o", 10),
             ("nvjet_hsh_256x128_64x4_up", 40), ("vllm::act_and_mul_kernel<c10::Half>", 4), ("nvjet_hsh_128x64_64x4_down", 25)]
    head = [("nvjet_hsh_320x128_64x3_head", 60), ("_topk_topp_kernel", 9)]
    drafts = [("nvjet_hsh_64x64_64x4_fuse", 12)] + layer + head[:1]

    def made(name, *kernels):
        events, at = [], 0
        for step in range(8):
            begin = at
            for kernel_name, time in kernels:
                link = len(events)
                events += [call("cudaLaunchKernel", at, 1, link), kernel(kernel_name, at + 2, time, correlation=link)]
                at += time + 3
            events.append(event("user_annotation", "execute_context_0(0)_generation_8(8)", begin, at - begin))
            at += 40
        return index_of(folder / f"{name}.json", events)

    plain, larger = made("plain", *8 * layer, *head), made("larger", *12 * layer, *head)
    drafting = made("drafting", *8 * layer, *head, ("rejection_greedy_sample_kernel", 4), *3 * drafts)
    for pair, other in (((plain, drafting), False), ((drafting, plain), False), ((plain, larger), True), ((drafting, larger), True)):
        said = " ".join(run("trace-query", "compare", *pair).stdout.split())
        equal("other model: 8 layers, against 12 layers" in said, other, said[:600])
        equal("in 3 of 11 layers" in said, not other, said[:900])


def main(cases, folder):
    cases.each_apart([check_operators, check_memory, check_roofline, check_longer_host, check_rare_steps, check_kinds, check_unseen_wait, check_drafts])
