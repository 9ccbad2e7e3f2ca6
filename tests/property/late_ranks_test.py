"""`trace-query ranks` on jobs whose times are worked out here: what overlaps, and what is between steps."""
from made_events import call, event, kernel, write_trace
from rank_jobs import ask, near
from trace_cases import equal, require, run


def write_job(folder, name, kernels, **head):
    """Of each rank what runs: (name, step, begin, end, stream, arguments), in us; each is launched 5 us before it begins. A step is its
    number, or that and its name."""
    (folder / name).mkdir(parents=True)
    for rank, ran in enumerate(kernels):
        events, steps = [], {}
        for number, (what, step, begin, end, stream, arguments) in enumerate(ran, 1):
            events += [call("cudaLaunchKernel", 1000 + begin - 5, 2, number), kernel(what, 1000 + begin, end - begin, stream, correlation=number, **arguments)]
            steps.setdefault(step, []).append(1000 + begin - 6)
        events += [event("user_annotation", step[1] if isinstance(step, tuple) else f"ProfilerStep#{step}", min(at), max(at) + 4 - min(at)) for step, at in steps.items()]
        write_trace(folder / name / f"rank{rank}.json", events, distributedInfo={"rank": rank, "world_size": len(kernels)}, **head)
    return folder / name


def check_overlapped(folder):
    """Gradients are reduced while the backward pass goes on: a rank that began late computes what the others did while they waited."""
    for name, stall, more, covered, cause, said in (
            ("host", 2000, 0, False, "host", "its device has nothing to do for 1.95 ms a step longer"),
            ("slow", 0, 100, False, "compute", "its dense_gemm kernels take 585 us a step longer"),
            ("slow_unknown", 0, 100, True, "compute", "for it: it computes longer")):  # of no collective all are seen to wait for the end
        begins, job = [0] * 3, [[] for _ in range(3)]
        for step in range(10):
            ready = [begin + 2000 + (stall + 2 * more if rank == 1 else 0) for rank, begin in enumerate(begins)]
            for rank in range(3):
                job[rank] += [("ampere_sgemm", step, ready[rank] - 2000 - 2 * more * (rank == 1), ready[rank], 7, {})]
            ends = list(ready)
            for _ in range(4):
                passed = [end + 1000 + more * (rank == 1) for rank, end in enumerate(ends)]
                starts = [max(pair) for pair in zip(passed, ready)]
                for rank in range(3):
                    job[rank] += [("ampere_sgemm", step, ends[rank], passed[rank], 7, {}),
                                  ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", step, starts[rank], max(starts) + 400, 20, {})]
                    if covered:
                        job[rank] += [("ampere_sgemm", step, max(starts) + 390, max(starts) + 410, 9, {})]
                ends, ready = passed, [max(starts) + 400] * 3
            begins = [ready[0] + 50] * 3
        (row,) = ask(write_job(folder, f"overlapped_{name}", job))["jobs"]
        equal((row["straggler"], row["cause"]), ("1", cause), f"{name}: who and why")
        require(said in " ".join(row["headline"].split()), row["headline"])


def check_stall_beside(folder):
    """One long stall of a rank does not hide another that is late all the time."""
    job, at = [[] for _ in range(3)], 0
    for place in range(60):
        ready = [at + 500 + (20_000 if (rank, place) == (0, 30) else 0) + (250 if rank == 1 else 0) for rank in range(3)]
        end = max(ready) + 50
        for rank in range(3):
            begin = at + (20_000 if (rank, place) == (0, 30) else 0)
            job[rank] += [("ampere_sgemm", place // 3, begin, ready[rank], 7, {}),
                          ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", place // 3, ready[rank], end, 20, {})]
        at = end + 5
    said = ask(write_job(folder, "stall_beside", job))["jobs"][0]["headline"]
    require("rank 0 caused most (58 %)" in said and ", and rank 1, late in 58 of them, 42 %: " in said, said)


def check_stalled_stage(folder):
    """A stage whose host stalls between steps holds up the next one; one that stalls while nothing was sent to it does not."""
    for name, stalls, cause, loss in (("first", (3000, 0), "host", 3_800_000 - 3_000_000 // 8), ("hidden", (0, 700), "compute", 800_000)):
        job, free, ready = [[], []], 0, 0
        for step in range(8):
            begin = free + stalls[0]
            free = begin + 1100
            posted = ready + stalls[1]
            sent = max(free, posted) + 50
            peers = {"Src Rank": 0, "Dst Rank": 1, "Group size": 2, "Process Group Ranks": "[0, 1]"}
            job[0] += [("ampere_sgemm", step, begin, free, 7, {}), ("ncclDevKernel_SendRecv", step, free, sent, 20, {"Collective name": "send", **peers})]
            job[1] += [("ncclDevKernel_SendRecv", step, posted, sent, 20, {"Collective name": "recv", **peers}), ("ampere_sgemm", step, sent, sent + 300, 7, {})]
            free, ready = sent, sent + 300
        (row,) = ask(write_job(folder, f"stage_{name}", job))["jobs"]
        equal((row["sends"], row["straggler"], row["cause"]), (8, "0", cause), f"{name}: {row['headline']}")
        near(row["loss_per_step"], loss, 1000, name)


def check_replicas_alone(folder):
    """Ranks of data parallel serving have no collective: nobody waits, and two such jobs still compare."""
    jobs = [write_job(folder, f"alone{slow}", [[("ampere_sgemm", step, 1000 * step, 1000 * step + 500 + slow * rank, 7, {}) for step in range(6)]
                                               for rank in range(2)]) for slow in (0, 200)]
    said = "2 ranks without a collective: none waits for another"
    equal(ask(jobs[0])["jobs"][0]["headline"], said, "headline")
    require(said in run("trace-query", "report", jobs[0]).stdout, "report of a folder")
    compared = ask(jobs[1], "--baseline", jobs[0])["compare"]
    equal([(row["change"], row["computation"], row["idle"]) for row in compared[:2]], [(0, 0, 0), (0, 200_000, -200_000)], "of two jobs")


def serving(folder, name, kinds, gap=100, requests=16, stall=0, **head):
    """A job of two ranks: prefill (P) computes for 2000 us and decode (D) for 400 us, then both reduce for 50 us; `gap` between steps."""
    job, at = [[], []], 0
    for number, kind in enumerate(kinds):
        context, generation = ("1(512)", "0(0)") if kind == "P" else ("0(0)", f"{requests}({requests})")
        step = (number, f"execute_context_{context}_generation_{generation}")
        end = at + (2000 if kind == "P" else 400)
        for ran in job:
            ran += [("ampere_sgemm", step, at, end, 7, {}), ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", step, end, end + 50, 20, {})]
        at = end + 50 + gap + stall * (number == 5)
    return write_job(folder, name, job, **head)


def check_same_steps(folder):
    """Two jobs are compared by steps of the kinds that both have: neither their mix, nor their number, nor a stall makes a change."""
    devices = {"deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB"}]}
    often, seldom, decode = "PDDPDDPDDPDD", "PDDDDDPDDDDD", "DDDDDDDD"
    for name, before, after, options, change, said in (
            ("mix", (seldom,), (often,), (), 0, "a step (prefill, decode) takes"),
            ("mix_decode", (seldom,), (often,), ("--phase", "decode"), 0, "a decode step takes 550 us, 550 us before (+0.0 %), about the same"),
            ("number", ("DDDD", 600), (decode * 2, 600), (), 0, "a decode step takes 1.05 ms, 1.05 ms before"),
            ("gap", ("DDDD",), ("DDDD", 400), (), 300_000, "a decode step takes 850 us, 550 us before (+54.5 %); rank 0 waits least: +300 us idle"),
            ("stall", (decode,), (decode, 100, 16, 9000), (), 0, "a decode step takes 550 us"),
            ("kinds", ("PPPP",), (decode,), (), None, "no kind of steps in common: not compared"),
            ("load", (decode,), (decode, 100, 32), (), 0, "(+0.0 %), but decode: 32 requests a step, 16 before, about the same"),
            ("device", (decode,), (decode, 100, 16, 0, devices), (), 0, "but NVIDIA A100-SXM4-80GB against ")):
        sides = [serving(folder, f"{name}_{side}", *made[:4], **(made[4] if len(made) > 4 else {})) for side, made in (("before", before), ("after", after))]
        asked = (sides[1], "--baseline", sides[0], *options)
        near(ask(*asked)["compare"][-1]["change"] or 0, change or 0, 1, name)
        text = " ".join(run("trace-query", "ranks", *asked).stdout.split())
        require(said in text, f"{name}: {text}")
        if name == "gap":  # what --gate says is part of the answer, of the same change
            for words, code in (("--gate 80", 0), ("--gate 5 --gate-inconclusive fail", 1)):
                document = run("trace-query", "compare", "-q", "--json", *sides, *words.split(), code=code).stdout
                require('"+54.55 %"' in document.replace("period: +54.55 %", '"+54.55 %"'), document)
                require("gate 5 %: FAILED" in run("trace-query", "compare", *sides, *words.split(), code=code).stdout or code == 0, words)


def main(cases, folder):
    cases.each((check_overlapped, check_stall_beside, check_stalled_stage, check_replicas_alone, check_same_steps), folder)
