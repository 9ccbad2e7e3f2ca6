"""tools/python: the package answers what the programs answer, shows itself without harm, and fails in one line."""
import ast
import json
import math
import os
import re
import shutil
import subprocess
import sys
import types
import venv
from pathlib import Path
from xml.etree import ElementTree

from trace_cases import BIN, ROOT, Skip, as_json, equal, make_trace, require, rows, run

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools" / "python"))
import tracedb  # noqa: E402

SERVER = ("--layers", 3, "--steps", 4, "--seed", 5)
CODE = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)


def check_reports(trace, path):
    equal(trace.info.rows, rows("info", path), "info")
    equal(trace.report("ops", phase="decode").rows, rows("ops", "--phase", "decode", "--limit", 0, path), "ops")
    equal(trace.report("layers", per_op=True).rows, rows("layers", "--per-op", "--limit", 0, path), "layers")
    equal(trace.report("rules show").rows, rows("rules", "show", "--limit", 0, path), "rules show")
    ops = trace.report("ops", op=["norm", "attention"], limit=1)
    equal(ops.rows, rows("ops", "--op", "norm,attention", "--limit", 1, path), "a list")
    require(ops.units["total_time"] == "ns" and ops.columns == list(ops[0]) and len(ops) == len(ops.rows), ops)
    equal(len(trace.report("kernels")[:2]), 2, "a slice")


def check_sql(trace, path):
    statement = "-- a comment\nSELECT op, sum(dur) AS ns FROM kernels WHERE phase = :phase AND dur > :least GROUP BY 1"
    found = trace.sql(statement, phase="decode", least=1000)
    equal(found.rows, rows("sql", "--param", "phase=decode", "--param", "least=1000", path, statement), "sql")
    equal(found.column("op"), [row["op"] for row in found], "column")
    equal(trace.recipe("top_kernels", top=2).rows, rows("sql", "--recipe", "top_kernels", "--param", "top=2", path), "recipe")
    equal(trace.sql("SELECT 1 AS a WHERE 0").rows, [], "no rows")
    equal(trace.sql("SELECT :x AS x", x="'; DROP TABLE kernel; --").rows, [{"x": "'; DROP TABLE kernel; --"}], "a hostile value")
    equal([row["a"] for row in trace.sql("SELECT typeof(:a) || :a AS a", a="007")], ["text007"], "a text stays one")
    equal([row["a"] for row in trace.sql("SELECT typeof(:a) || :a AS a", a=7)], ["integer7"], "a number stays one")
    for value, bound in ((None, None), (True, 1), (False, 0), (-2.5, -2.5), (1e300, 1e300), ("None", "None"), ("", "")):
        (row,) = trace.sql("SELECT :a AS a, typeof(:a) AS type", a=value)
        equal((row["a"], row["type"] == "null"), (bound, bound is None), f"{value!r} as a parameter")
    for value in (math.nan, math.inf, b"x", [1], Path("x")):
        try:
            trace.sql("SELECT :a", a=value)
            require(False, f"{value!r} was bound")
        except TypeError as refused:
            require(str(refused).startswith("parameter a: "), refused)


def check_compare(path, other):
    document = as_json("compare", "--limit", 0, path, other)
    for found in (tracedb.compare(path, other), tracedb.compare(tracedb.open(path), Path(other))):
        equal(found.reasons.rows, document["reasons"], "reasons")
        equal(found.verdict.rows, document["verdict"], "verdict")
        equal(list(found.sections), [part["section"] for part in document["sections"]], "sections")
    require(found.reasons and found["warnings"].rows and "<table>" in found._repr_html_() and repr(found), found)


def check_compare_sets(folder):
    for side, seed in (("a", 1), ("b", 2)):
        (folder / side).mkdir()
        run("make-trace", "--layers", 3, "--steps", 8, "--mix", "D", "--runs", 3, "--run-noise", 1, "--seed", seed,
            folder / side / "x.json")
    found = tracedb.compare_sets([folder / "a"], [folder / "b"], phase="decode")
    document = as_json("compare", "--baseline", folder / "a", "--candidate", folder / "b", "--phase", "decode")
    for name in ("verdict", "reasons", "ledger", "runs", "sets"):
        table = getattr(found, name) if name in ("verdict", "reasons") else found[name]
        equal(table.rows, document[name], name)
    require(found["runs"].rows and "<table>" in found._repr_html_(), found)


def check_failures(folder, path):
    (folder / "text.json").write_text("no trace")
    unbuilt = make_trace(folder / "unbuilt.json", *SERVER)
    trace = tracedb.open(path)
    for act, code in ((lambda: tracedb.open(folder / "missing.json"), 3), (lambda: tracedb.open(folder / "text.json"), 3),
                      (lambda: tracedb.open(unbuilt, build=False), 3), (lambda: trace.report("opps"), 2),
                      (lambda: trace.report("ops", phase="nonsense"), 2), (lambda: trace.sql("SELECT nme FROM kernels"), 2),
                      (lambda: trace.sql("DELETE FROM kernel"), 2), (lambda: trace.sql("SELECT :x"), 2)):
        try:
            act()
        except tracedb.Error as error:
            require(error.exit_code == code and "\n" not in str(error) and str(error), f"{error.exit_code}: {error}")
        else:
            raise AssertionError(f"no error, expected exit code {code}")
    os.environ["TRACEDB_BIN"] = str(folder)
    try:
        tracedb.open(path)
    except tracedb.Error as error:
        require("TRACEDB_BIN" in str(error), error)
    else:
        raise AssertionError("programs were found where there are none")
    finally:
        os.environ["TRACEDB_BIN"] = str(BIN)
    trace = tracedb.open(path)
    for wrong in (lambda: trace.report(f"ops --output={folder}/written"), lambda: trace.report("ops", output=folder / "written"),
                  lambda: trace.report("-V"), lambda: tracedb.compare(path, path, save_baseline=folder / "written"),
                  lambda: trace.report("ops", **{"limit=1 --output": folder / "written"}), lambda: tracedb.open(path, o=folder / "written")):
        try:
            wrong()
        except tracedb.Error as error:
            equal(error.exit_code, 2, str(error))
        else:
            raise AssertionError("a file could be written")
    require(not (folder / "written").exists(), "a file was written")


def check_shown():
    hostile = ["<script>alert(1)</script>", "\x1b[31m", "\u202eevil", "\ud800", "x" * 100000, None, 1.25, 3]
    table = tracedb.Table([{"<b>": value} for value in hostile] * 10, {"<b>": "ns"}, ["<i>note"])
    for text in (table._repr_html_(), repr(table)):
        require(not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800-\udfff]", text) and len(text) < 30000, "a shown table")
    shown = table._repr_html_()
    equal(set(re.findall(r"</?(\w+)", shown)), {"table", "thead", "tbody", "tr", "th", "td", "p"}, "elements")
    require("and 30 more rows" in shown and "&lt;i&gt;note" in shown, shown[-200:])
    equal(repr(tracedb.Table([])), "(no rows)", "nothing")


def check_pandas(trace):
    """With pandas, or a stand-in for it, and without."""
    table = trace.report("ops")
    sys.modules["pandas"] = None
    try:
        table.to_pandas()
    except ImportError:
        pass
    else:
        raise AssertionError("a frame without pandas")
    finally:
        del sys.modules["pandas"]
    try:
        import pandas  # noqa: F401, PLC0415
    except ImportError:
        sys.modules["pandas"] = types.SimpleNamespace(DataFrame=lambda rows, columns: types.SimpleNamespace(
            columns=columns, index=range(len(rows))))
    frame = table.to_pandas()
    equal((list(frame.columns), len(frame.index)), (table.columns, len(table)), "frame")


def check_readme(folder):
    """What the package's README shows."""
    shutil.copy(folder / "a.json", folder / "mi300x.json")
    shutil.copy(folder / "b.json", folder / "h100.json")
    for side in ("base", "new"):
        (folder / side).mkdir()
        run("make-trace", "--layers", 2, "--steps", 6, "--mix", "D", "--runs", 2, "--seed", len(side), folder / side / "x.json")
    lines = "\n".join(line for line in CODE.search((ROOT / "tools/python/README.md").read_text())[1].splitlines()
                      if "to_pandas" not in line)
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tools" / "python"), "TRACEDB_BIN": str(BIN)}
    result = subprocess.run([sys.executable, "-c", lines], cwd=folder, capture_output=True, text=True, env=environment, check=False)
    equal((result.returncode, result.stderr), (0, ""), "README")


def check_pictures():
    hostile = tracedb.Table([{"name": value, "ns": 5.0 * place} for place, value in
                             enumerate(["<script>", "\x1b[31m", "\u202eevil", "&", "x" * 100000, None])], {"ns": "ns"})
    picture = hostile.bars("name", "ns", most=5)
    root = ElementTree.fromstring(picture.svg)
    equal([part.tag.rpartition("}")[2] for part in root].count("rect"), 5, "bars")
    require(picture._repr_html_() == picture.svg and len(picture.svg) < 5000 and "\x1b" not in picture.svg, picture.svg[:200])
    ElementTree.fromstring(tracedb.Table([]).bars("a", "b").svg)


def check_notebook(folder):
    """Every cell runs, and what a cell ends with shows itself."""
    os.environ["PATH"] = f"{BIN}:{os.environ['PATH']}"
    names, shown, before = {}, [], os.getcwd()
    os.chdir(folder)
    try:
        for cell in json.loads((ROOT / "tools/python/tour.ipynb").read_text())["cells"]:
            if cell["cell_type"] != "code":
                continue
            tree = ast.parse("".join(cell["source"]))
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, "cell", "exec"), names)  # noqa: S102
            if last:
                value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307
                shown.append(value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
    finally:
        os.chdir(before)
    require(len(shown) > 6 and sum("<svg" in text for text in shown) > 2, [text[:40] for text in shown])


def check_jupyter(folder):
    if not shutil.which("jupyter-nbconvert"):
        raise Skip("jupyter-nbconvert is not installed; the cells ran without it")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tools" / "python")}
    shutil.copy(ROOT / "tools/python/tour.ipynb", folder)  # its cells run in the folder that it is in
    result = subprocess.run(["jupyter-nbconvert", "--to", "html", "--execute", "tour.ipynb"], cwd=folder,
                            env=environment, capture_output=True, text=True, check=False)
    require(result.returncode == 0, result.stderr[-2000:])
    require("<svg" in (folder / "tour.html").read_text(), "no picture")


def check_version():
    """One version for all."""
    known = run("trace-query", "--version").stdout.split()[-1]
    project = (ROOT / "tools/python/pyproject.toml").read_text()
    equal((tracedb.__version__, re.search(r'^version = "(.*)"', project, re.M)[1]), (known, known), "version")


USE = '''import json, sys, tracedb
trace = tracedb.open(sys.argv[1])
assert list(trace.report("ops", phase="decode"))
print(json.dumps({"file": tracedb.__file__, "kernels": list(trace.sql("SELECT count(*) AS n FROM kernels")),
                  "reasons": len(tracedb.compare(sys.argv[1], sys.argv[2]).reasons)}))'''


def check_wheel(folder, path, other):
    """The wheel, unpacked where the Python of a new environment has its packages, and used there."""
    copy = shutil.copytree(ROOT / "tools" / "python", folder / "package", ignore=shutil.ignore_patterns("__pycache__"))
    result = None
    for python in filter(shutil.which, (sys.executable, "/usr/bin/python3")):
        if subprocess.run([python, "-c", "import setuptools, wheel, pip"], capture_output=True, check=False).returncode == 0:
            result = subprocess.run([python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index",
                                     "--disable-pip-version-check", "-w", folder / "wheels", copy], capture_output=True,
                                    text=True, check=False)
    if result is None:
        raise Skip("no Python here has pip, setuptools and wheel")
    require(result.returncode == 0, result.stderr)
    wheel, = (folder / "wheels").glob("tracedb-*.whl")
    names = subprocess.run([sys.executable, "-m", "zipfile", "-l", wheel], capture_output=True, text=True, check=True).stdout
    require("tracedb/__init__.py" in names and "tracedb/py.typed" in names, names)
    venv.create(folder / "venv")
    installed = folder / "venv" / "bin" / "python"
    site = subprocess.run([installed, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], capture_output=True,
                          text=True, check=True).stdout.strip()
    subprocess.run([sys.executable, "-m", "zipfile", "-e", wheel, site], check=True)  # what pip does with a wheel of Python alone
    used = subprocess.run([installed, "-I", "-c", USE, path, other], capture_output=True, text=True, check=False)
    require(used.returncode == 0, used.stderr)
    found = json.loads(used.stdout)
    require(found["file"].startswith(site) and found["reasons"] > 0, found)
    equal(found["kernels"], as_json("sql", path, "SELECT count(*) AS n FROM kernels") ["rows"], "kernels")


def main(cases, folder):
    os.environ["TRACEDB_BIN"] = str(BIN)
    path = make_trace(folder / "a.json", *SERVER, "--vendor", "amd")
    other = make_trace(folder / "b.json", *SERVER, "--vendor", "nvidia")
    trace = cases.run("open", tracedb.open, path)
    if trace is None:
        return
    cases.each((check_reports, check_sql), trace, path)
    cases.run("compare", check_compare, path, other)
    cases.run_apart("compare sets", check_compare_sets)
    cases.run("failures", check_failures, folder, path)
    cases.run("shown", check_shown)
    cases.run("pandas", check_pandas, trace)
    cases.run("README", check_readme, folder)
    cases.run("pictures", check_pictures)
    (folder / "notebook").mkdir()
    cases.each((check_notebook, check_jupyter), folder / "notebook")
    cases.run("version", check_version)
    cases.run("wheel", check_wheel, folder, path, other)
