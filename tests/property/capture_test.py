"""--capture: a trace without graphs gives the replays of the same model their operators, modules and layers, exactly."""
import collections

from trace_cases import TRACES, Skip, equal, ingest, planted, require, rows, run, sql

MODELS = {
    "one stream": ("--layers", 6, "--streams", 1, "--seed", 5),
    "communication beside computing": ("--layers", 5, "--tensor-parallel", 4, "--vendor", "nvidia", "--seed", 6),
    "experts": ("--layers", 4, "--moe", "on", "--quantise", "off", "--tensor-parallel", 2, "--seed", 7),
    "fused": ("--layers", 7, "--fuse", "add+rmsnorm,silu+quant,allreduce+rmsnorm", "--tensor-parallel", 2, "--seed", 8),
}
MIX = ("--steps", 8, "--mix", "P,D*3")
COLUMNS = "step, stream, name, layer, layer_part, cpu_op, module, capture_op, capture_module, graph"


def kernels(index, *options):
    statement = ("SELECT k.*, r.kind = 'graph_launch' AS graph FROM kernels k LEFT JOIN runtime_call r "
                 "ON r.id = k.launch_id ORDER BY k.step, k.stream, k.ts")
    return sql(index, f"SELECT {COLUMNS} FROM ({statement})", *options)


def notes(command, index, *options):
    return run("trace-query", command, "--csv", index, *options).stderr


def build(folder, name, *options):
    index, _, labels = planted(folder, *options, name=name)
    return index, sorted(labels, key=lambda row: (int(row["step"]), int(row["stream"])))


def key(label, counts):
    place = (label["layer"], label["role"])
    counts[place] += 1
    return (*place, counts[place])


def launched_by(rows, labels):
    """Operator and module by (layer, role, nth), of the decode steps of a run without graphs."""
    out, counts, step = {}, collections.Counter(), None
    for row, label in zip(rows, labels, strict=True):
        if row["step"] != step:
            counts, step = collections.Counter(), row["step"]
        if step % 4 != 0:
            out[key(label, counts)] = (row["cpu_op"], row["module"])
    return out


def check_pair(folder, options):
    eager, eager_labels = build(folder, "eager", "--graphs", "off", *MIX, *options)
    replay, labels = build(folder, "replay", "--graphs", "on", *MIX, *options)
    expected = launched_by(kernels(eager), eager_labels)
    found = kernels(replay, "--capture", eager)
    require(sum(row["graph"] or 0 for row in found) > 100, "no replays in the trace")
    counts, step = collections.Counter(), None
    for row, label in zip(found, labels, strict=True):
        if row["step"] != step:
            counts, step = collections.Counter(), row["step"]
        place = key(label, counts)
        layer = int(label["layer"])
        what = f"step {step}, {place}"
        equal([row["layer"], row["layer_part"]],
              [layer if layer >= 0 else None, "layer" if layer >= 0 else "head" if layer == -1 else "tail"], what)
        lent = (row["capture_op"], row["capture_module"])
        equal(lent, expected[place] if row["graph"] else (None, None), what)
    require("layers from the capture" in notes("layers", replay, "--capture", eager), "layers from elsewhere")
    return eager, replay


def check_stacks(eager, replay):
    """By module, a replay with its capture looks as the run without graphs."""
    def modules(index, *options):
        found = rows("stacks", "--each-module", "--view", "flat", *options, index)
        return {row["frame"]: row["instances"] for row in found}
    equal(modules(replay, "--capture", eager), modules(eager), "modules")
    collapsed = run("trace-query", "stacks", "-q", "--view", "collapsed", "--capture", eager, replay).stdout
    require("DecoderLayer_2" in collapsed, "collapsed stacks")


def check_misfits(folder, replay):
    """A trace of something else provides nothing and says so."""
    plain = run("trace-query", "layers", "-q", "--csv", replay).stdout
    for name, options in {"a layer more": ("--layers", 7), "a layer less": ("--layers", 5),
                          "another vendor": ("--layers", 6, "--vendor", "nvidia"),
                          "other steps": ("--layers", 6, "--mix", "P"),
                          "graphs as well": ("--layers", 6, "--graphs", "on", "--mix", "D")}.items():
        graphs = () if "--graphs" in options else ("--graphs", "off")
        other, _ = build(folder, "other", "--streams", 1, "--seed", 5, "--steps", 4, *graphs, *options)
        said = notes("layers", replay, "--capture", other)
        require("operators for 0 of" in said and "no origin for" in said, f"{name}: {said}")
        equal(run("trace-query", "layers", "-q", "--csv", "--capture", other, replay).stdout, plain, name)


def check_wrong_use(folder, replay):
    (folder / "no.json").write_text("no trace")
    for options, code in ((("--capture", folder / "missing.json"), 3), (("--capture", folder / "no.json"), 3)):
        for command in ("layers", "stacks"):
            equal(run("trace-query", command, *options, replay, check=False).returncode, code, f"{command} {options}")
    equal(run("trace-query", "kernels", "--capture", replay, replay, check=False).returncode, 2, "without --layer")
    require("is not used" in notes("layers", build(folder, "plain", "--graphs", "off")[0], "--capture", replay), "note")


def check_real(folder):
    """The launches of vLLM's stream capture are the 421 kernels of its replay."""
    base = TRACES / "kineto/gpt_oss_vllm_decode_graph_mi300x"
    if not base.with_suffix(".json.gz").exists():
        raise Skip(f"{base}.json.gz does not exist")
    replay = ingest(base.with_suffix(".json.gz"), folder / "real.tracedb")
    capture = ingest(base.with_suffix(".capture.json.gz"), folder / "capture.tracedb")
    require("421 of 421 kernels" in notes("layers", replay, "--capture", capture), "kernels")
    statement = ("SELECT capture_op o, count(*) n, count(DISTINCT op) ops FROM kernels WHERE capture_op GLOB '*norm*' "
                 "OR capture_op = 'aten::addmm' OR name = capture_op GROUP BY 1")
    found = {row["o"]: [row["n"], row["ops"]] for row in sql(replay, statement, "--capture", capture)}
    equal(found, {"aten::addmm": [72, 1], "aiter::rms_norm": [1, 1], "aiter::rmsnorm2d_fwd_with_add_ck": [48, 1],
                  "triton_poi_fused_0": [1, 1], "triton_poi_fused__to_copy_1": [23, 1],
                  "triton_poi_fused_constant_pad_nd_moe_forward_0": [24, 1]}, "operators")


def main(cases, folder):
    for name, options in MODELS.items():
        pair = cases.run(name, check_pair, folder, options)
        if pair is None:
            continue
        cases.run(f"stacks of {name}", check_stacks, *pair)
        if name == "one stream":
            cases.each((check_misfits, check_wrong_use), folder, pair[1])
    cases.run_apart("real pair", check_real)
