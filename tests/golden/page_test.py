"""The page that compare prints of pairs of real traces, sentence for sentence against the raw JSON (page_sentences.py): a
sentence that the test does not know fails, and so does every figure that is another one. The commands on the page are
run. Needs the folder of real traces (TRACEDB_TRACES)."""
from pathlib import Path

from page_commands import check_commands
from page_raw import Raw
from page_sentences import Page
from trace_cases import TRACES, as_json, equal, ingest, require, run, skip_without_traces

FOLDER = TRACES / "kineto"
LINES, WIDTH = 60, 80
# By pair: files, the phase, what the first line says, the largest causes in order.
PAIRS = {
    "llama_tp4": (("llama_tp4_vllm_mi300x.pt.trace.json.gz", "llama_tp4_vllm_h100.pt.trace.json.gz"), "decode",
                  "decode: H100 needs 19.2 ms a step where MI300X needs 45.3 ms: 2.36 times",
                  ("between_steps", "operation", "communication")),
    "qwen3_30b": (("qwen3_30b_a3b_sglang_decode_mi300x.trace.json.gz", "qwen3_30b_a3b_sglang_decode_b300.trace.json.gz"),
                  "decode", "decode: B300 needs 7.51 ms of device span a step where MI300X needs 12.4 ms: 39.3 % less",
                  ("operation", "concurrency", "fusion")),
    "qwen15_05b": (("qwen15_05b_hf_mi300x.json.gz", "qwen15_05b_hf_h100.json.gz"), "unknown",
                   "H100 needs 34.9 ms of device span a step where MI300X needs 33.1 ms: 5.3 % longer (one step",
                   ("operation", "operation", "operation", "operation")),
    "timesformer": (("timesformer_hf_mi300x.json.gz", "timesformer_hf_h100.json.gz"), "unknown",
                    "H100 needs 160 ms of device span a step where MI300X needs 121 ms: 1.32 times as long (one step",
                    ("operation", "operation", "operation", "operation")),
    "fusion_moe": (("fusion_moe_unfused_mi300x.json", "fusion_moe_fused_h100.json"), "unknown",
                   "H100 needs 800 us of device span a step where MI300X needs 1.26 ms: 36.5 % less", ("fusion", "idle")),
    "fusion_attention": (("fusion_attention_fused_mi300x.json", "fusion_attention_unfused_h100.json"), "unknown",
                         "H100 needs 790 us of device span a step where MI300X needs 350 us: 2.26 times as long (one step", ("fusion",)),
    "dlrm": (("dlrm_8rank/worker0.pt.trace.json", "dlrm_8rank/worker1.pt.trace.json"), "train",
             "train: worker1 needs 18.5 ms of device span a step where worker0 needs 13.0 ms: 1.42 times as", ("communication",)),
}
SECTIONS = "verdict,reasons,sentences,fusion,alignment,warnings"


def read_data(indexes):
    data = as_json("compare", "--section", SECTIONS, *indexes)
    sections = {section["section"]: section["rows"] for section in data.pop("sections")}
    return {**sections, **data}


def check_page(folder, name, files, phase, first, causes):
    indexes = [ingest(FOLDER / file, folder / (Path(file).name + ".tracedb")) for file in files]
    text = run("trace-query", "compare", "-q", *indexes).stdout
    lines = text.splitlines()
    require(len(lines) <= LINES, f"{len(lines)} lines")
    require(max(map(len, lines)) <= WIDTH, f"a line of {max(map(len, lines))} characters")
    require(" ".join(lines).startswith(first), f"first lines: {lines[:2]}")
    data = read_data(indexes)
    rows = [row for row in data["reasons"] if row["phase"] == phase]
    equal(tuple(row["cause"] for row in rows)[:len(causes)], causes, "causes")
    page = Page(data, [Raw(FOLDER / file, index) for file, index in zip(files, indexes)], files)
    page.check_printed(text, data["sentences"])
    page.check(data["sentences"])
    print(f"  {name}: {len(data['sentences'])} sentences agree with the raw traces")
    check_commands(text)
    if name == "llama_tp4":
        first = next(row for row in data["reasons"] if row["phase"] == "mixed")
        equal((first["cause"], first["place"]), ("transition", "[before decode]"), "largest reason of mixed steps")
    if name.startswith("fusion"):  # the shortest
        check_watchfulness(page, text, data["sentences"])


def check_watchfulness(page, text, sentences):
    """The check fails for every figure that is another one, and for a sentence more."""
    for place, sentence in enumerate(sentences):
        for name, value in sentence["figures"].items():
            if isinstance(value, str):
                continue
            wrong = {**sentence, "figures": {**sentence["figures"], name: 1.5 * value + 2}}
            require(fails(page, [*sentences[:place], wrong, *sentences[place + 1:]]), f"{name} of {sentence} is not watched")
    more = {"id": "compare.praise", "text": "All is well.", "figures": {}}
    require(fails(page, [*sentences, more]), "a sentence more is not noticed")
    require(fails_printed(page, text.replace("\n\nMore", "\n  All is well.\n\nMore"), sentences), "nor in print")


def fails(page, sentences):
    try:
        for phase in page.phases.values():
            phase.said = 0
        page.check(sentences)
    except AssertionError:
        return True
    return False


def fails_printed(page, text, sentences):
    try:
        page.check_printed(text, sentences)
    except AssertionError:
        return True
    return False


def check_markdown(folder):
    sides = [folder / (Path(file).name + ".tracedb") for file in PAIRS["llama_tp4"][0]]
    text = run("trace-query", "compare", "-q", "--markdown", *sides).stdout
    require(text.startswith("## decode: H100 needs"), text[:80])
    require("\n### Why decode takes 26.1 ms less" in text, "no heading of the reasons")
    require(len(text.encode()) < 20_000, f"{len(text.encode())} bytes")


def main(cases, folder):
    if not skip_without_traces(cases, FOLDER):
        for name, pair in PAIRS.items():
            cases.run(name, check_page, folder, name, *pair)
        cases.run("Markdown", check_markdown, folder)
