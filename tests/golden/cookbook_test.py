"""The cookbook of trace-query sql: every recipe answers for a made server or training trace what is stored in
tests/golden/cookbook, and answers on the index of every real trace.

`cookbook_test.py --update` writes what is answered now; look at the differences before they are committed."""
import csv
import io
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from recipes import all_recipes, recipes_of_sets  # noqa: E402
from stored_texts import check_stored, store  # noqa: E402
from trace_cases import (TRACES, Cases, equal, ingest, kineto_traces, make_trace, require, run, scratch_folder,  # noqa: E402
                         skip_without_traces)

ROOT = Path(__file__).resolve().parents[2]
EXPECTED = Path(__file__).resolve().parent / "cookbook"
SERVER = ("--vendor", "nvidia", "--layers", 3, "--steps", 8, "--mix", "P,D*7", "--batch", 8, "--tensor-parallel", 2,
          "--streams", 3, "--shapes", "on", "--slow", "dense_gemm@1=2", "--seed", 11)
TRAINING = ("--model", "train", "--layers", 2, "--steps", 3, "--shapes", "on", "--seed", 12)
OTHERS = {"forward_backward": "training", "data_loader": "loader", "low_occupancy": "loader"}


def loader_trace(path):
    """Kernels of 10 us every 100 us, of low, high and unknown occupancy; from 300 to 690 us the data loader works and nothing
    is launched."""
    kernels = [(0, "narrow", 10), (100, "narrow", 20), (200, "wide", 60), (700, "unknown", 0), (800, "wide", 10),
               (900, "narrow", 24)]
    events = [{"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": ts, "dur": 10, "args":
               {"device": 0, "stream": 7, "correlation": ts, "est. achieved occupancy %": occupancy}}
              for ts, name, occupancy in kernels]
    events.append({"ph": "X", "cat": "user_annotation", "pid": 1, "tid": 1, "ts": 300, "dur": 390,
                   "name": "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"})
    path.write_text(json.dumps({"traceEvents": events}))
    return path


def job_indexes(folder):
    """The ranks of a job of which rank 1 computes longer in half of the steps."""
    run("make-trace", "job", "--ranks", 3, "--steps", 6, "--late", "1:compute:300000:0.5", "--seed", 13, folder / "job")
    return [ingest(trace, folder / f"{trace.name}.tracedb") for trace in sorted((folder / "job").iterdir())]


def listed():
    return json.loads(run("trace-query", "sql", "--recipes", "--json").stdout)["rows"]


def answer(indexes, recipe, *options):
    """Of one index, or of a list."""
    given = indexes if isinstance(indexes, list) else [indexes]
    return run("trace-query", "sql", "-q", "--csv", "--recipe", recipe, *options, *given).stdout


def check_list(recipes):
    files = sorted(path.stem for path in (ROOT / "schema" / "cookbook").glob("*.sql"))
    equal([recipe["recipe"] for recipe in recipes], files, "recipes")
    require(len(files) >= 30, f"{len(files)} recipes")
    text = run("trace-query", "sql", "--recipes").stdout
    require(all(name in text for name in files), text)


def check_recipe(recipe, index):
    text = answer(index, recipe)
    require(len(text.splitlines()) > 1, f"{recipe} finds nothing")
    check_stored(EXPECTED / f"{recipe}.csv", text)


def check_sets(pair, ranks):
    """Sums of all indexes are those of each; and the rank that was planted is found."""
    rows = list(csv.DictReader(io.StringIO(answer(pair, "regressions", "--param", "top=100000"))))
    for index, column in zip(pair, ("n_a", "n_b")):
        n = run("trace-query", "sql", "-q", "--csv", index, "SELECT count(*) FROM kernels").stdout.splitlines()[1]
        equal(sum(int(row[column]) for row in rows), int(n), f"regressions: {column}")
    slowed = max(rows, key=lambda row: float(row["longer_total_ns"]))
    equal(slowed, rows[0], "the largest first")
    slowest = list(csv.DictReader(io.StringIO(answer(ranks, "slowest_ranks"))))
    require(len(slowest) == 6 and {row["most_rank"] for row in slowest[:3]} == {"1"}, slowest)
    late = list(csv.DictReader(io.StringIO(answer(ranks, "rank_skew"))))
    computing = [row for row in late if row["op"] != "communication"]
    equal(computing[0]["most_rank"], "1", "rank_skew")
    runs = list(csv.DictReader(io.StringIO(answer(ranks, "runs"))))
    equal([(row["rank"], row["steps"]) for row in runs], [("0", "6"), ("1", "6"), ("2", "6")], "runs")
    result = run("trace-query", "sql", "--recipe", "regressions", pair[0], check=False)
    equal([result.returncode, "give more indexes" in result.stderr], [2, True], result.stderr)


def check_real_sets(folder):
    """The ranks of a job, and two traces of one model."""
    ranks = [ingest(trace, folder / f"{trace.name}.tracedb") for trace in sorted((TRACES / "kineto/dlrm_8rank").glob("*.json"))]
    models = [ingest(trace, folder / f"{trace.name}.tracedb") for trace in sorted((TRACES / "kineto").glob("llama_tp4*.json.gz"))]
    require(len(ranks) > 1 and len(models) == 2, f"traces: {ranks} {models}")
    for recipe in recipes_of_sets():
        require(len(answer(models if recipe == "regressions" else ranks, recipe).splitlines()) > 1, f"{recipe} finds nothing")


def check_parameters(index):
    equal(len(answer(index, "top_kernels", "--param", "top=3").splitlines()), 4, "rows of top=3")
    for words in (("--recipe", "top_kernels", "--param", "topp=3", index), ("--recipe", "top_kernel", index),
                  ("--recipe", "top_kernels", index, "SELECT 1"), ("--recipe", "top_kernels", "-f", "x", index)):
        result = run("trace-query", "sql", *words, check=False)
        equal([result.returncode, len(result.stderr.splitlines())], [2, 1], f"{words}: {result.stderr}")


def total(index, recipe, *columns):
    """Sums of columns over the rows of a recipe that leaves none out."""
    rows = list(csv.DictReader(io.StringIO(answer(index, recipe, *(("--param", "top=100000") if recipe in TOP else ())))))
    return [sum(float(row[column] or 0) for row in rows) for column in columns]


TOP = {recipe["recipe"] for recipe in listed() if ":top" in recipe["parameters"]}


def check_own_functions(index):
    """The recipe and the report name the same functions, with the same time."""
    rows = csv.DictReader(io.StringIO(answer(index, "python_lines", "--param", "top=100000")))
    found = {f"{row['file']}({row['line']}): {row['function']}": (int(row["n"]), int(row["total_ns"])) for row in rows}
    report = json.loads(run("trace-query", "stacks", "-q", "--by", "function", "--view", "flat", "--json", "--limit", 0, index).stdout)["rows"]
    expected = {row["frame"]: row["self_time"] for row in report if row["self_time"] and not row["frame"].startswith("[")}
    equal({frame: time for frame, (_, time) in found.items() if time}, expected, "self time by function of one's own code")
    require(expected, "no function to compare")


def check_closed(index):
    """Recipes that divide the kernel time divide all of it."""
    run_sql = run("trace-query", "sql", "-q", "--csv", index, "SELECT count(*), sum(dur) FROM kernel").stdout
    n, time = (float(cell) for cell in run_sql.splitlines()[1].split(","))
    for recipe in ("top_kernels", "operators", "streams", "op_by_phase", "annotations", "kernel_lengths"):
        equal(total(index, recipe, "n", "total_ns"), [n, time], recipe)
    whole, *passes = total(index, "forward_backward", "total_ns", "forward_ns", "backward_ns", "optimizer_ns", "no_pass_ns")
    equal([whole, sum(passes)], [time, time], "by pass")
    equal(total(index, "unlinked_kernels", "total_ns"), [time], "unlinked_kernels")
    equal(total(index, "busy_over_time", "kernels"), [n], "busy_over_time")
    busy = run("trace-query", "sql", "-q", "--csv", index, "SELECT sum(busy) FROM timeline").stdout.splitlines()[1]
    equal(total(index, "concurrency", "busy_ns"), [float(busy)], "concurrency")


def check_real(trace, index):
    """One run for all recipes."""
    ingest(trace, index, "--force")
    result = run("trace-query", "sql", "-q", "--jsonl", "-f", "-", index, input=all_recipes())
    for line in result.stdout.splitlines():
        json.loads(line)


def main():
    cases = Cases()
    with scratch_folder() as folder:
        traces = {"server": make_trace(folder / "server.json", *SERVER), "loader": loader_trace(folder / "loader.json"),
                  "training": make_trace(folder / "training.json", *TRAINING)}
        indexes = {name: ingest(trace, folder / f"{name}.tracedb") for name, trace in traces.items()}
        recipes = listed()
        slower = make_trace(folder / "slower.json", *SERVER[:SERVER.index("--slow")], "--slow", "norm=3", "--seed", 14)
        pair = [indexes["server"], ingest(slower, folder / "slower.tracedb")]
        ranks = job_indexes(folder)
        index_of = {row["recipe"]: indexes[OTHERS.get(row["recipe"], "server")] for row in recipes}
        index_of.update({name: ranks for name in recipes_of_sets()}, regressions=pair)
        if sys.argv[1:] == ["--update"]:
            store(EXPECTED, {f"{name}.csv": answer(index, name) for name, index in index_of.items()})
            return
        cases.run("list", check_list, recipes)
        for name, index in index_of.items():
            cases.run(name, check_recipe, name, index)
        cases.run("parameters", check_parameters, indexes["server"])
        cases.run("sets", check_sets, pair, ranks)
        for name in ("server", "training"):
            cases.run(f"closed: {name}", check_closed, indexes[name])
        cases.run("own functions", check_own_functions, indexes["server"])
        if not skip_without_traces(cases, TRACES / "kineto"):
            cases.run("real sets", check_real_sets, folder)
            for trace in kineto_traces():
                cases.run(f"all recipes: {trace.name}", check_real, trace, folder / "real.tracedb")
    cases.finish()


if __name__ == "__main__":
    main()
