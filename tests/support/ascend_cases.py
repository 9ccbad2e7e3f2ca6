"""Models and profiles of Ascend NPUs for the tests of `model`: made by make-trace, or by hand, event by event."""
import csv
import json
import shutil

from reference_msmodeling import SCENARIOS
from trace_cases import run

HEADS = ["Step Id", "Name", "Type", "Stream ID", "Start Time(us)", "Duration(us)", "Input Shapes"]


def generate(folder, *options):
    """model.json, kernel_details.csv, op_mapping.yaml, m6.json and truth.json in `folder`."""
    run("make-trace", *options, "--output", folder)
    return json.loads((folder / "truth.json").read_text(encoding="utf-8"))


def operator(name, dur, kernel=None, **arguments):
    """An event of a model."""
    if kernel is not None:
        arguments = {"kernel_type": kernel, "source": "MEASURED", **arguments}
    return {"name": name, "ph": "X", "ts": 0, "dur": dur, "pid": 1, "tid": 0, "args": arguments}


def write_model(path, events, process="profiling (PID: 1)"):
    name = {"name": "process_name", "ph": "M", "pid": 1, "args": {"name": process}}
    path.write_text(json.dumps({"traceEvents": [name, *events]}), encoding="utf-8")
    return path


def write_profile(path, rows):
    """Rows are (type, start, duration) and, if given, (stream, name, shapes)."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADS)
        for row in rows:
            kind, start, dur, stream, name, shapes = (*row, *("2", "", "")[len(row) - 3:])
            writer.writerow([1, name or f"aclnn{kind}", kind, stream, start, dur, shapes])
    return path


def compare(folder, model, profile, *options, check=True):
    """(exit code, summary rows, operator rows by kernel type, standard error)."""
    result = run("trace-query", "model", model, profile, "--json", *options, check=check, cwd=folder)
    if not result.stdout:
        return result.returncode, [], {}, result.stderr
    summary, operators = (section["rows"] for section in json.loads(result.stdout)["sections"])
    return result.returncode, summary, {row.get("kernel_type"): row for row in operators}, result.stderr


def original(folder, model, profile, mapping=None):
    """What msmodeling has for the same files: (exit code, rows by kernel type, standard output, standard error)."""
    place = folder / "original"
    shutil.rmtree(place, ignore_errors=True)
    for name in ("traces", "results", "db"):
        (place / name).mkdir(parents=True)
    _, m6, trace, table = SCENARIOS[0]
    (place / f"results/{m6}.json").write_text("{}", encoding="utf-8")
    shutil.copyfile(model, place / f"results/{trace}.json")
    shutil.copyfile(profile, place / f"traces/{table}.csv")
    if mapping is not None:
        shutil.copyfile(mapping, place / "db/op_mapping.yaml")
    result = run("trace-query", "model", "--compat", "msmodeling", "--trace-dir", "traces", "--data-dir", "db",
                 "--output", "out.json", check=False, cwd=place)
    written = place / "out.json"
    rows = json.loads(written.read_text(encoding="utf-8"))[SCENARIOS[0][0]] if written.exists() else []
    return result.returncode, {row["kernel_type"]: row for row in rows}, result.stdout, result.stderr
