"""The views kernels and launches of trace-query sql, which answer from arrays, say what the views of the index say: the
same random statements on both, in the tool with the passes' columns as functions, and in Python's own sqlite3."""
import collections
import json
import random

from made_events import event, write_trace
from trace_cases import TRACES, ingest, kineto_traces, make_trace, open_index, require, run, skip_without_traces

# What the views of trace-query sql add to those of the index, column by column, as functions of one kernel.
WORDS = {"kernels": {"op": "op_class(v.name)", "stack": "kernel_stack(v.id)", "layer": "kernel_layer(v.id)",
                     "layer_part": "kernel_layer_part(v.id)", "role": "kernel_role(v.id)",
                     "role_source": "kernel_role_source(v.id)", "role_confidence_pct": "kernel_role_confidence(v.id)",
                     "input_dims": "(SELECT s.dims FROM kernel k JOIN cpu_op c ON c.id = k.cpu_op_id "
                                   "JOIN op_shape s ON s.id = c.shape_id WHERE k.id = v.id)"},
         "launches": {"op": "op_class(v.kernel)", "stack": "kernel_stack(v.kernel_id)",
                      "layer": "kernel_layer(v.kernel_id)", "role": "kernel_role(v.kernel_id)"}}
STEPS = {"kernels": {"step": "kernel_step(v.id)", "phase": "kernel_phase(v.id)"}, "launches": {}}
AGGREGATES = ("count(*)", "count({0})", "sum({2}dur)", "total({1})", "avg({1})", "min({0})", "max({0})",
              "count(DISTINCT {0})", "group_concat({0})")
STATEMENTS = 60


def columns_of(index, view):
    return [row[1] for row in open_index(index).execute(f"PRAGMA table_info({view})")]


def plain_views(index):
    """Common table expressions that take the places of the views of trace-query sql."""
    texts = []
    for view, words in WORDS.items():
        changed = STEPS[view]
        own = ", ".join(f'{changed.get(name, "v." + name)} AS "{name}"' for name in columns_of(index, view))
        texts.append(f"{view} AS (SELECT {own}, {', '.join(f'{text} AS {name}' for name, text in words.items())} "
                     f"FROM main.{view} v)")
    return "WITH " + ", ".join(texts) + " "


class Generator:
    """Random statements on one view, with values that are in it."""

    def __init__(self, index, view, seed, words):
        self.chance = random.Random(f"{view} {seed}")
        self.view = view
        self.key = "id" if view == "kernels" else "kernel_id"
        self.names = columns_of(index, view) + words
        shared = [name for name in self.names if name not in words]
        rows = open_index(index).execute(f"SELECT {', '.join(shared)} FROM {view}").fetchall()
        sample = self.chance.sample(rows, min(len(rows), 40))
        self.values = {name: [row[i] for row in sample] for i, name in enumerate(shared)}
        self.numbers = [name for name, values in self.values.items()
                        if any(isinstance(value, (int, float)) for value in values)] or [self.key]

    def name(self):
        return self.chance.choice(self.names)

    def some(self, most):
        return self.chance.sample(self.names, self.chance.randint(1, most))

    def literal(self, name):
        odd = ["0", "-1", "17.5", "1e300", "-9223372036854775808", "9223372036854775807", "''", "'decode'", "'0'",
               "NULL", "x'00'", "'norm'", "1"]
        value = self.chance.choice(self.values.get(name, [None]))
        if value is None or self.chance.random() < 0.2:
            return self.chance.choice(odd)
        if isinstance(value, str):
            return "'" + value.replace("'", "''") + "'"
        shift = self.chance.choice((0, 0, 0.5, -1)) if isinstance(value, int) and abs(value) < 1 << 50 else 0
        return repr(value + shift)

    def condition(self, table=""):
        name = self.name()
        column = table + name
        form = self.chance.randrange(9)
        if form < 4:
            return f"{column} {self.chance.choice(('=', '<', '<=', '>', '>=', '<>', 'IS', '=='))} {self.literal(name)}"
        if form == 4:
            return f"{column} IN ({', '.join(self.literal(name) for _ in range(self.chance.randint(1, 4)))})"
        if form == 5:
            return f"{column} BETWEEN {self.literal(name)} AND {self.literal(name)}"
        if form == 6:
            return f"{column} IS {self.chance.choice(('', 'NOT '))}NULL"
        if form == 7:
            return f"{column} {self.chance.choice(('LIKE', 'NOT LIKE', 'GLOB'))} '%e%'"
        return f"({self.condition(table)} OR {self.condition(table)})"

    def where(self, table="", most=2):
        conditions = [self.condition(table) for _ in range(self.chance.randint(0, most))]
        return " WHERE " + " AND ".join(conditions) if conditions else ""

    def order(self, names):
        chosen = self.chance.sample(names, self.chance.randint(1, len(names)))
        return " ORDER BY " + ", ".join(name + self.chance.choice(("", " DESC")) for name in chosen)

    def aggregates(self, table=""):
        forms = self.chance.sample(AGGREGATES, self.chance.randint(1, 3))
        return ", ".join(form.format(table + self.name(), table + self.chance.choice(self.numbers), table) for form in forms)

    def limit(self):
        return self.chance.choice(("", f" LIMIT {self.chance.randint(0, 9)}",
                                   f" LIMIT {self.chance.randint(1, 9)} OFFSET {self.chance.randint(0, 50)}"))

    def grouped(self):
        by = self.some(3)
        having = self.chance.choice(("", " HAVING count(*) > 2", f" HAVING {by[0]} IS NOT NULL"))
        order = self.order(by) if self.chance.random() < 0.4 else ""
        bare = self.chance.choice(("", ", " + self.key))
        return (f"SELECT {', '.join(by)}, {self.aggregates()}{bare} FROM {self.view}{self.where()} "
                f"GROUP BY {', '.join(by)}{having}{order}{self.limit() if order else ''}"), True

    def by_expression(self):
        number = self.chance.choice(self.numbers)
        by = self.chance.choice((f"{number} / 1000", f"{number} / 7.0", f"round({number} / 1e3, 1)", f"-{number}",
                                 f"length({self.name()})", f"coalesce({self.name()}, 'none')", f"{number} % 13"))
        select = self.chance.choice((f"SELECT {by} AS bin, {self.aggregates()} FROM {self.view}{self.where()} GROUP BY ",
                                     f"SELECT {by}, {self.aggregates()} FROM {self.view}{self.where()} GROUP BY "))
        return select + self.chance.choice((by, "1", by + " ORDER BY 1 DESC", "1 ORDER BY count(*), 1")), True

    def scanned(self):
        names = self.some(4)
        order = self.chance.choice(("", f" ORDER BY {self.key}{self.limit()}"))
        return f"SELECT {', '.join(names)} FROM {self.view}{self.where(most=3)}{order}", bool(order)

    def sorted(self):
        names = self.some(4)
        return f"SELECT {', '.join(names)} FROM {self.view}{self.where()}{self.order(names)}{self.limit()}", True

    def counted(self):
        return f"SELECT {self.aggregates()} FROM {self.view}{self.where(most=3)}", True

    def distinct(self):
        names = self.some(3)
        order = self.chance.choice(("", " ORDER BY " + ", ".join(names)))
        return f"SELECT DISTINCT {', '.join(names)} FROM {self.view}{self.where()}{order}", bool(order)

    def window(self):
        part, by = self.name(), self.name()
        number = self.chance.choice(self.numbers)
        return (f"SELECT {self.key}, row_number() OVER w, lag({number}) OVER w, sum(dur) OVER w FROM {self.view}"
                f"{self.where(most=1)} WINDOW w AS (PARTITION BY {part} ORDER BY {by}, {self.key}) ORDER BY {self.key} "
                "LIMIT 200"), True

    def joined(self):
        other, key = ("launches", "kernel_id") if self.view == "kernels" else ("kernels", "id")
        on = self.chance.choice((f"b.{key} = a.{self.key}", f"b.{key} = a.{self.key} + 1", f"b.{key} = a.launch_id",
                                 f"b.launch_id = a.{self.key}", f"b.{key} = a.{self.key} AND b.op = a.op"))
        kind = self.chance.choice(("JOIN", "LEFT JOIN"))
        return (f"SELECT a.{self.name()}, b.launch_id, b.op, b.layer FROM {self.view} a {kind} {other} b ON {on}"
                f"{self.where('a.')}"), False

    def joined_to_steps(self):
        return (f"SELECT s.step, s.phase, {self.aggregates('k.')} FROM steps s LEFT JOIN kernels k ON k.step = s.step "
                f"{'AND k.dur > 2000 ' if self.chance.random() < 0.5 else ''}GROUP BY s.step, s.phase ORDER BY 1"
                if self.view == "kernels" else
                f"SELECT {self.name()}, kernel_id FROM launches WHERE kernel_id IN (SELECT first_kernel_id FROM steps)"), False

    def correlated(self):
        by = self.chance.choice(("step", "op", "stream", "id") if self.view == "kernels" else ("op", "layer", "launch_id"))
        inner = f"SELECT {self.aggregates('b.')} FROM {self.view} b WHERE b.{by} = a.{by}"
        inner = inner.split(", ")[0] + inner[inner.index(" FROM"):] if ", " in inner else inner
        if self.chance.random() < 0.5:
            return (f"SELECT {self.key} FROM {self.view} a WHERE EXISTS (SELECT 1 FROM {self.view} b "
                    f"WHERE b.{by} = a.{by} AND b.{self.key} > a.{self.key}) AND {self.condition('a.')} ORDER BY 1 LIMIT 40"), True
        return f"SELECT {by}, ({inner}) FROM {self.view} a WHERE {self.key} % 97 = 0 ORDER BY {self.key}", True

    def nested(self):
        by = self.name()
        return (f"SELECT n, count(*), sum(s) FROM (SELECT {by}, count(*) n, sum(dur) s FROM "
                f"{self.view}{self.where()} GROUP BY {by}) GROUP BY n ORDER BY n"), True

    def combined(self):
        a, b = self.name(), self.name()
        word = self.chance.choice(("UNION", "UNION ALL", "EXCEPT", "INTERSECT"))
        return f"SELECT {a} FROM {self.view}{self.where()} {word} SELECT {b} FROM {self.view}{self.where()}", False

    def statement(self):
        form = self.chance.choice((self.grouped, self.grouped, self.grouped, self.by_expression, self.by_expression,
                                   self.scanned, self.sorted, self.sorted, self.counted, self.counted, self.distinct,
                                   self.window, self.joined, self.joined_to_steps, self.correlated, self.nested,
                                   self.combined))
        return form()


def answers(folder, index, statements):
    """Rows of each statement, as texts."""
    script = folder / "statements.sql"
    script.write_text(";\n".join(statements) + ";\n")
    result = run("trace-query", "sql", "-q", "--jsonl", "-f", script, index)
    found = [[] for _ in statements]
    for line in result.stdout.splitlines():
        row = json.loads(line)
        found[row["statement"] - 1].append(line)
    return found


def normal(rows, ordered):
    return rows if ordered else sorted(rows)


def check_rows(folder, index, seed, statements=STATEMENTS):
    plain = plain_views(index)
    asked = []
    for view in WORDS:
        generator = Generator(index, view, seed, list(WORDS[view]))
        asked += [generator.statement() for _ in range(statements)]
    own = answers(folder, index, [text for text, _ in asked])
    expected = answers(folder, index, [plain + text for text, _ in asked])
    for (text, ordered), a, b in zip(asked, own, expected):
        require(normal(a, ordered) == normal(b, ordered),
                f"{text}\n{len(a)} rows {normal(a, ordered)[:4]}\n{len(b)} rows {normal(b, ordered)[:4]}")
    require(sum(map(len, own)) > 5 * len(asked) or statements < 50, "statements with rows")


def check_stock(folder, index, seed, statements=STATEMENTS):
    """The same through Python's sqlite3, with the columns that the index itself has; steps and their phases are those of
    the reports, which may know better."""
    asked = []
    for view in WORDS:
        generator = Generator(index, view, seed, [])
        generator.names = [name for name in generator.names if name not in STEPS[view]]
        forms = (generator.grouped, generator.by_expression, generator.scanned, generator.sorted, generator.counted,
                 generator.distinct, generator.window, generator.nested, generator.combined)
        asked += [generator.chance.choice(forms)() for _ in range(statements)]
    own = answers(folder, index, [text for text, _ in asked])
    database = open_index(index)
    for (text, ordered), rows in zip(asked, own):
        values = [tuple(json.loads(row).values())[1:] for row in rows]
        names = [entry[0] for entry in database.execute(text).description]
        if len(set(names)) < len(names):  # JSON objects have each name once
            continue
        expected = database.execute(text).fetchall()
        if not ordered:  # JSON writes 7.0 as 7
            values, expected = collections.Counter(values), collections.Counter(expected)
        odd = next(((x, y) for x, y in zip(values, expected) if x != y), None)
        require(values == expected, f"{text}: {len(values)} and {len(expected)} rows, first difference {odd}")


def every_column(folder, index):
    """Every row of every column, in order."""
    statements = [f"SELECT {name}, typeof({name}) FROM {view} ORDER BY {'id' if view == 'kernels' else 'kernel_id'}"
                  for view in WORDS for name in columns_of(index, view) + list(WORDS[view])]
    statements += [f"SELECT count(*) FROM {view}" for view in WORDS]
    own = answers(folder, index, statements)
    expected = answers(folder, index, [plain_views(index) + text for text in statements])
    for text, a, b in zip(statements, own, expected):
        odd = next(((x, y) for x, y in zip(a, b) if x != y), None)
        require(a == b, f"{text}: {len(a)} and {len(b)} rows, first difference {odd}")


ODD = [  # (ts, dur, arguments of the kernel); launches at ts - 50 where they have a correlation
    (100, 10, {"stream": 7, "correlation": 1}), (120, None, {"stream": 7, "correlation": 2}),
    (120, 0, {"stream": "default", "correlation": 18446744073709551615}), (140, 9007199254740.993, {"stream": 9}),
    (150, 9007199254740.994, {"stream": 9, "correlation": -9223372036854775808}), (160, 1.5, {}),
    (160, 1.5, {"stream": 20, "correlation": 3, "External id": "18446744073709551614", "graph id": 5}),
    (170, 2, {"stream": 20, "correlation": 3, "grid": [1, 2, 3], "block": [4, 5, 6], "registers per thread": 255})]


def odd_trace(path):
    events = []
    for number, (ts, dur, arguments) in enumerate(ODD * 5):
        shift = 10000 * (number // len(ODD))
        events.append(event("kernel", ("gemm'; --", "norm", "", "gemm\u2603")[number % 4], ts + shift, dur, 0, 7, **arguments, device=0))
        if dur is None:
            del events[-1]["dur"]
        if arguments.get("correlation") and number % 3:
            events.append(event("cuda_runtime", "cudaLaunchKernel", ts + shift - 50, 5, 11, "worker", correlation=arguments["correlation"]))
    return write_trace(path, events)


TRACES_MADE = {
    "graphs": ("--layers", 3, "--steps", 5, "--mix", "P,D*2", "--seed", 5, "--tensor-parallel", 2, "--shapes", "on",
               "--orphans", 7),
    "eager": ("--layers", 2, "--steps", 4, "--graphs", "off", "--vendor", "nvidia", "--streams", 3, "--seed", 6),
    "train": ("--model", "train", "--layers", 2, "--steps", 3, "--seed", 7),
}


def main(cases, folder):
    for name, options in TRACES_MADE.items():
        index = ingest(make_trace(folder / f"{name}.json", *options), folder / f"{name}.tracedb")
        cases.run(f"every column: {name}", every_column, folder, index)
        cases.run(f"statements: {name}", check_rows, folder, index, name)
        cases.run(f"stock: {name}", check_stock, folder, index, name)
    index = ingest(odd_trace(folder / "odd.json"), folder / "odd.tracedb")
    cases.run("every column: odd", every_column, folder, index)
    cases.each((check_rows, check_stock), folder, index, "odd")
    if not skip_without_traces(cases, TRACES / "kineto"):
        for trace in kineto_traces():
            if trace.stat().st_size < 1 << 19:
                index = ingest(trace, folder / "real.tracedb", "--force")
                cases.run(f"every column: {trace.name}", every_column, folder, index)
