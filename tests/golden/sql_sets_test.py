"""trace-query sql on several indexes: schemas and the tables of all say what each index says by itself, in the order of the
indexes and for any number of threads; an index that cannot be read is named, and the others answer."""
import csv
import io
import json
import random
import shutil
from pathlib import Path

from trace_cases import edit_database, equal, ingest, make_trace, refused, require, run

SIZES = ((3, 1), (4, 2), (2, 3))  # steps and seed of each trace
LABELS = ["index_name", "source", "job", "rank", "date"]


def sql(*words, check=True):
    return run("trace-query", "sql", "-q", *words, check=check)


def rows(*words):
    return json.loads(sql("--json", *words).stdout)["rows"]


def lines(*words):
    return list(csv.reader(io.StringIO(sql("--csv", "--raw-cells", *words).stdout)))


def answers(indexes, statements, *options):
    """The lines of each statement, all from one run: to start a run for each would take most of the time."""
    end = "end_of_statement"  # an empty line before each statement but the first
    found = lines(*indexes, ";".join(f"{one}; SELECT 0 AS {end}" for one in statements), *options)
    ends = [place for place, line in enumerate(found) if line == [end]]
    equal(len(ends), len(statements), "statements answered")
    return [found[begin:place - 1] for begin, place in zip([0] + [place + 3 for place in ends], ends)]


def make_indexes(folder):
    indexes = []
    for number, (steps, seed) in enumerate(SIZES):
        (folder / f"job{number}").mkdir()
        trace = make_trace(folder / f"job{number}" / f"t{number}.json", "--layers", 2, "--steps", steps, "--mix", "P,D*2",
                           "--seed", seed, "--vendor", "nvidia", "--truth", "/dev/null")
        indexes.append(ingest(trace, folder / f"t{number}.json.tracedb"))
    return indexes


def tables_of(index):
    listed = [row["Object"] for row in csv.DictReader(io.StringIO(run("trace-query", "schema", "--csv").stdout))
              if row["Type"] in ("view", "pass")]
    return sorted(set(listed) - {"schema"})


def check_tables(indexes):
    """Every view and every table of a pass: of one index alone, as a schema, and in the table of all."""
    tables = tables_of(indexes[0])
    # Each by itself: what it needs, nothing before it may have computed.
    alone = [[lines(index, f"SELECT * FROM {table}") for table in tables] for index in indexes]
    of_all = [lines(*indexes, f"SELECT * FROM all_{table}", "--threads", "3") for table in tables]
    of_schemas = [answers(indexes, [f"SELECT * FROM {schema}.{table}" for table in tables]) for schema in "abc"]
    of_main = answers(indexes, [f"SELECT * FROM {table}" for table in tables])
    for i, table in enumerate(tables):
        of_one = [found[i] for found in alone]
        head, *all_rows = of_all[i]
        equal(head, LABELS + of_one[0][0], f"columns of all_{table}")
        expected = [row for one in of_one for row in one[1:]]
        equal([row[len(LABELS):] for row in all_rows], expected, f"all_{table}")
        names = [f"t{number}.json" for number, one in enumerate(of_one) for _ in one[1:]]
        equal([row[0] for row in all_rows], names, f"index_name of all_{table}")
        for schema, found, one in zip("abc", of_schemas, of_one):
            equal(found[i], one, f"{schema}.{table}")
        equal(of_main[i], of_one[0], f"{table} without a schema")


def check_facts(indexes):
    """The tables of the file itself are in the schemas, too."""
    for table in ("kernel", "string", "meta", "launch_config", "step", "kernel_name"):
        for schema, index in zip("abc", indexes):
            equal(lines(*indexes, f"SELECT * FROM {schema}.{table}"), lines(index, f"SELECT * FROM {table}"), table)


def check_labels(indexes):
    found = rows(*indexes, "SELECT DISTINCT index_name, job, source, rank, date FROM all_trace_info")
    equal([row["index_name"] for row in found], ["t0.json", "t1.json", "t2.json"], "names")
    equal([row["job"] for row in found], ["job0", "job1", "job2"], "jobs")
    require(all(row["source"].endswith(row["index_name"]) for row in found), found)
    named = rows(f"old={indexes[0]}", f"New_2={indexes[1]}", "SELECT DISTINCT index_name FROM all_steps")
    equal([row["index_name"] for row in named], ["old", "New_2"], "names as given")
    both = rows(f"old={indexes[0]}", f"New_2={indexes[1]}",
                "SELECT (SELECT count(*) FROM old.kernels) a, (SELECT count(*) FROM new_2.kernels) b")
    equal(list(both[0].values()), [rows(index, "SELECT count(*) n FROM kernels")[0]["n"] for index in indexes[:2]], "named")


def check_threads(indexes):
    statement = ("SELECT index_name, op, phase, count(*), sum(dur) FROM all_kernels WHERE dur > 1000 GROUP BY 1, 2, 3;"
                 "SELECT index_name, id, name, layer FROM all_kernels WHERE step = 1; SELECT DISTINCT op FROM all_kernels")
    answers = [sql("--csv", *indexes, statement, "--threads", threads).stdout for threads in (1, 2, 8)]
    require(len(answers[0].splitlines()) > 100, answers[0])
    equal(answers[1:], answers[:1] * 2, "threads")


class Groups:
    """Random statements on all_kernels that group."""

    COLUMNS = ("name", "op", "phase", "step", "stream", "kind", "index_name", "job", "layer", "cpu_op", "device")
    COUNTED = ("dur", "ts", "id", "step", "name", "op", "layer", "dur_us", "correlation", "cpu_op")
    CONDITIONS = ("dur > 4000", "dur BETWEEN 2000 AND 90000", "name LIKE '%a%'", "op = 'norm'", "op IN ('norm', 'dense_gemm')",
                  "step >= 1", "step = '1'", "phase IS NOT NULL", "layer < 1 OR layer IS NULL", "ts % 2 = 0",
                  "length(name) > 60", "index_name >= 't1'", "job != 'job1'", "stream = 7", "NOT dur < 9000", "0",
                  "dur_us > 12.5", "k.dur > 3000 AND step < 3", "dur < 0", "stream = 7 OR dur > 5000",
                  "layer = 1 OR index_name = 't1.json' AND dur > 5000", "op = 'norm' OR step = 1 OR id < 40")

    def __init__(self, seed):
        self.dice = random.Random(seed)

    def some(self, of, most, least=1):
        return self.dice.sample(of, self.dice.randint(least, most))

    def aggregate(self):
        column = self.dice.choice(self.COUNTED)
        whole = self.dice.choice(("dur", "ts", "id", "step", "layer"))
        return self.dice.choice(("count(*)", f"count({column})", f"sum({whole})", f"avg({whole})", f"min({column})",
                                 f"max({column})", f"total({whole})", f"count(*) + 2 * sum({whole})", f"round(avg(k.{whole}), 1)",
                                 f"median({whole})", f"count(DISTINCT {column})"))

    def statement(self):
        groups = self.some(self.COLUMNS, 3, 0)
        values = sorted({self.aggregate() for _ in range(self.dice.randint(1, 4))})
        items = groups + [f"{value} AS v{i}" if self.dice.random() < 0.5 else value for i, value in enumerate(values)]
        conditions = self.some(self.CONDITIONS, 3, 0)
        text = f"SELECT {', '.join(items)} FROM all_kernels k"
        if conditions:
            text += " WHERE " + " AND ".join(f"({one})" if " OR " in one and self.dice.random() < 0.5 else one for one in conditions)
        if groups:
            by_place = self.dice.random() < 0.4
            text += " GROUP BY " + ", ".join(str(i + 1) if by_place else name for i, name in enumerate(groups))
            if self.dice.random() < 0.3:
                text += f" HAVING {self.aggregate()} > 3"
            text += " ORDER BY " + ", ".join(str(i + 1) for i in self.dice.sample(range(len(items)), len(items)))
            if self.dice.random() < 0.3:
                text += f" LIMIT {self.dice.randint(1, 9)}"
        return text


def from_all_rows(statement):
    """The same without anything that is left to the members: SQLite gets every row, and it alone groups and compares."""
    require("FROM all_kernels k" in statement, statement)
    return statement.replace("FROM all_kernels k", "FROM (SELECT * FROM all_kernels LIMIT -1) k")


def check_or(indexes):
    """SQLite answers OR by a scan for each side, and tells rows that both find by their row ids."""
    sides = ("stream = 7", "layer = 1", "dur > 5000", "index_name = 't1.json'", "op = 'norm'", "phase = 'decode' AND dur < 9000",
             "job = 'job1'", "id < 40", "name LIKE '%gemm%'")
    dice = random.Random(6)
    statements = []
    for _ in range(60):
        condition = " OR ".join(dice.sample(sides, dice.randint(2, 3)))
        statements.append(f"SELECT index_name, id FROM all_kernels k WHERE {condition} ORDER BY index_name, id LIMIT 400")
        statements.append(f"SELECT DISTINCT op, layer FROM all_kernels k WHERE {condition} ORDER BY 1, 2")
    of_rows = answers(indexes, [from_all_rows(one) for one in statements])
    for one, found, expected in zip(statements, answers(indexes, statements), of_rows):
        equal(found, expected, one)
    of_schema = "SELECT count(*) FROM b.kernels WHERE {} OR {}"
    for left, right in (("layer = 0", "dur > 5000"), ("stream = 7", "op = 'norm'")):
        equal(lines(*indexes, of_schema.format(left, right)), lines(*indexes, of_schema.format("+" + left, "+" + right)), left)


def check_hidden_names(indexes):
    """A WITH gives the name another meaning, however it is quoted."""
    for name in ("all_kernels", '"all_kernels"', "[all_kernels]", "`all_kernels`", '"ALL_kernels"'):
        found = lines(*indexes, f"WITH {name} AS (SELECT 7 AS dur) SELECT * FROM (SELECT min(dur) AS least FROM all_kernels)")
        equal(found, [["least"], ["7"]], name)


def check_groups(indexes):
    """Conditions that go to the members leave the groups that SQLite makes of all rows."""
    groups = Groups(5)
    statements = [groups.statement() for _ in range(150)]
    found = sql("--csv", *indexes, ";".join(statements), "--threads", "2").stdout
    of_rows = sql("--csv", *indexes, ";".join(map(from_all_rows, statements))).stdout
    require(len(of_rows.splitlines()) > 1000, f"{len(of_rows.splitlines())} lines")
    if found != of_rows:
        for one in statements:
            equal(lines(*indexes, one), lines(*indexes, from_all_rows(one)), one)
    equal(found, of_rows, "all together")


def check_equal_names(indexes, folder):
    for place in ("x", "y"):
        (folder / place).mkdir()
        shutil.copy(indexes[0], folder / place / "same.tracedb")
    found = rows(folder / "x" / "same.tracedb", folder / "y" / "same.tracedb", folder / "y" / "same.tracedb",
                 "SELECT index_name i, count(*) n FROM all_kernels GROUP BY 1")
    equal(len(found), 3, f"indexes of one name: {found}")
    equal(len({row["n"] for row in found}), 1, "their kernels")


def check_folder(indexes, folder):
    found = rows(folder, "SELECT count(DISTINCT index_name) n FROM all_steps")
    equal(found, rows(folder / "*", "SELECT count(DISTINCT index_name) n FROM all_steps"), "a pattern")
    listed = folder / "list"
    listed.write_text("\n".join(map(str, indexes)))
    found = rows("--files-from", listed, "SELECT index_name i FROM all_steps GROUP BY 1")
    equal([row["i"] for row in found], ["t0.json", "t1.json", "t2.json"], "--files-from")
    one = rows("--files-from", listed, "SELECT count(*) n FROM steps")
    equal(one, rows(indexes[0], "SELECT count(*) n FROM steps"), "the first is main")


def check_many(indexes, folder):
    """More than SQLite attaches: the first ten are schemas, all are in the tables of all."""
    many = folder / "many"
    many.mkdir()
    for number in range(30):
        (many / f"{number:02}.tracedb").symlink_to(indexes[number % 3])
    inputs = sorted(many.iterdir())
    counts = [rows(index, "SELECT count(*) n FROM kernels")[0]["n"] for index in indexes]
    found = rows(*inputs, "SELECT count(*) n, count(DISTINCT index_name) i FROM all_kernels")
    equal(found, [{"n": 10 * sum(counts), "i": 30}], "30 indexes")
    equal(rows(*inputs, "SELECT count(*) n FROM j.kernels"), [{"n": counts[0]}], "the tenth")
    refused(2, "the indexes are a, b, c, d, e, f, g, h, i, j; all_kernels", "trace-query", "sql", "-q", *inputs, "SELECT count(*) n FROM k.kernels")
    for option in ("--device", "--stream"):
        none = sql(*inputs, "SELECT count(*) n FROM all_ops", option, "987", check=False)
        require(none.returncode == 2 and f"{option} 987: there " in none.stderr, f"what none of them has: {none.stdout}{none.stderr}")


def check_broken(indexes, folder):
    broken = folder / "broken.json.tracedb"
    broken.write_bytes(Path(indexes[1]).read_bytes()[:20000])
    inputs = (indexes[0], broken, indexes[2])
    expected = rows(indexes[0], indexes[2], "SELECT index_name i, count(*) n FROM all_kernels GROUP BY 1")
    for threads in (1, 4):
        result = sql("--json", *inputs, "SELECT index_name i, count(*) n FROM all_kernels GROUP BY 1", "--threads", threads,
                     check=False)
        equal([result.returncode, len(result.stderr.splitlines())], [3, 1], result.stderr)
        require("broken.json.tracedb" in result.stderr, result.stderr)
        equal(json.loads(result.stdout)["rows"], expected, "of the others")
    used = sql(*inputs, "SELECT count(*) FROM b.kernels", check=False)
    equal([used.returncode, "broken.json.tracedb" in used.stderr], [3, True], used.stderr)
    first = sql("--json", broken, indexes[2], "SELECT count(*) n FROM kernels", check=False)
    equal(first.returncode, 3, first.stderr)
    require("broken" in first.stderr, first.stderr)
    alone = sql(broken, broken, "SELECT 1", check=False)
    equal(alone.returncode, 3, alone.stderr)


def check_refused(indexes):
    for words in ((f"main={indexes[0]}", "SELECT 1"), (f"x={indexes[0]}", f"X={indexes[1]}", "SELECT 1"),
                  (indexes[0], indexes[1], f"ATTACH '{indexes[2]}' AS z"), (indexes[0], indexes[1], "DETACH b"),
                  (indexes[0], indexes[1], "DROP TABLE b.kernels"), (indexes[0], indexes[1], "DELETE FROM b.kernels"),
                  (indexes[0], indexes[1], "CREATE VIRTUAL TABLE b.x USING \"schema b\""),
                  (indexes[0], indexes[1], "CREATE TABLE b.x (y)"), (indexes[0], indexes[1], "INSERT INTO all_steps SELECT 1"),
                  (indexes[0], indexes[1]), (indexes[0], indexes[1], "SELECT * FROM b.kernelz"),
                  (indexes[0], "SELECT * FROM b.kernels"), (indexes[0], indexes[1], "SELECT * FROM all_kernel"),
                  (f"x={Path(indexes[0]).parent}", "SELECT 1"),
                  (f"x={indexes[0]}", "SELECT 1", "-o", indexes[0])):
        refused(2, "", "trace-query", "sql", "-q", *words)
    hint = sql(indexes[0], indexes[1], "SELECT * FROM b.kernelz", check=False).stderr
    require("did you mean 'kernel" in hint, hint)


ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT"


def check_hostile_indexes(indexes, folder):
    """A view in place of ours, and names that are SQL or commands of a terminal."""
    evil = folder / "evil.tracedb"
    shutil.copy(indexes[1], evil)
    edit_database(evil, "DROP VIEW steps", f"CREATE VIEW steps AS {ENDLESS} x AS step FROM c")
    odd = folder / "x'; DROP TABLE a.kernel; -- \x1b[31m.tracedb"
    shutil.copy(indexes[2], odd)
    for statement in ("SELECT index_name, count(*) FROM all_steps GROUP BY 1", "SELECT DISTINCT index_name FROM all_kernels"):
        result = sql(indexes[0], evil, odd, statement, check=False)
        equal([result.returncode, "evil.tracedb" in result.stderr], [3, True], result.stderr)
        require("DROP TABLE a.kernel" in result.stdout and "\x1b" not in result.stdout + result.stderr, result.stdout)
    require(sql(indexes[0], evil, "SELECT * FROM b.steps", check=False).returncode == 3, "its schema")


def check_hostile_statements(indexes):
    for expected, statement, *options in (
            (5, f"{ENDLESS} count(*) FROM c", "--timeout", "0.5"),
            (5, "SELECT count(*) FROM all_kernels a, all_kernels b, all_kernels c, b.kernels d", "--timeout", "0.5"),
            (5, f"{ENDLESS} count(*) FROM c, b.kernels k WHERE k.dur > c.x", "--timeout", "0.5"),
            (5, "SELECT length(group_concat(a.name || b.name)) FROM all_kernels a, all_kernels b ORDER BY 1", "--timeout", "60",
             "--max-memory", "100M"),
            (2, "SELECT printf('%.*c', 2000000000, 'x') FROM all_steps"), (2, "SELECT zeroblob(1e9) FROM b.steps"),
            (2, "SELECT " + "(" * 1000 + "1" + ")" * 1000 + " FROM all_steps"), (2, "SELECT load_extension('x') FROM all_steps"),
            (2, "SELECT * FROM all_steps WHERE step = " + " + ".join(["1"] * 500)), (2, "VACUUM b INTO 'x'"),
            (2, "PRAGMA b.user_version = 7"), (2, "SELECT abs(-9223372036854775808) FROM all_steps")):
        refused(expected, "", "trace-query", "sql", "-q", *indexes, statement, *options)


def main(cases, folder):
    indexes = make_indexes(folder)
    cases.each((check_tables, check_facts, check_labels, check_threads, check_groups, check_or, check_hidden_names,
                check_refused, check_hostile_statements), indexes)
    cases.each((check_folder, check_equal_names, check_many, check_broken, check_hostile_indexes), indexes, folder)
