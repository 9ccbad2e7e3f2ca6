"""What views cost, in steps of SQLite's virtual machine, not in time: a join of a view with the kernels may cost some times
what reading both costs, never their product."""
from index_folder import trace_file
from trace_cases import ingest, open_index, require

STEPS = 1000  # between two calls of the handler
MOST = 12  # times as much as reading the view and the kernels, and 200 steps for a look-up a kernel
LOOK_UP = 200
AS_IN_TRACE = ("external_id", "graph_id", "graph_node_id")


class TooMany(Exception):
    """The limit of steps."""


def steps(database, statement, limit):
    count = 0

    def called():
        nonlocal count
        count += STEPS
        return 1 if count > limit else 0

    database.set_progress_handler(called, STEPS)
    try:
        database.execute(statement).fetchall()
    except Exception as error:
        raise TooMany(f"more than {limit} steps: {statement}") from error
    finally:
        database.set_progress_handler(None, STEPS)
    return count


def joins(view, columns):
    """Joins that people write: by ids and times."""
    for column in columns:
        # What is as in the trace may be text, which no automatic index serves.
        if column == "id" or column.endswith("_id") and column not in AS_IN_TRACE or column in ("ts", "ts_end"):
            other = "ts" if column in ("ts", "ts_end") else "id"
            yield f"SELECT count(*) FROM {view} v JOIN kernels k ON k.{other} = v.{column}"
            if column != "ts_end":  # computed in most views: no index can help a LEFT JOIN there
                yield f"SELECT count(*) FROM kernel k LEFT JOIN {view} v ON k.{other} = v.{column}"


def one_view(database, view):
    columns = [row[1] for row in database.execute(f"SELECT * FROM pragma_table_info('{view}')")]
    kernels = database.execute("SELECT count(*) FROM kernel").fetchone()[0]
    alone = steps(database, f"SELECT count(*) FROM {view}", 10**9)
    limit = MOST * (alone + 30 * kernels) + LOOK_UP * kernels
    for statement in joins(view, columns):
        steps(database, statement, limit)


def main(cases, folder):
    trace_file(folder / "a.json", 40)
    database = open_index(ingest(folder / "a.json", folder / "a.tracedb"))
    count = database.execute("SELECT count(*) FROM kernel").fetchone()[0]
    cases.run("kernels", require, count > 2000, f"only {count} kernels: no product would show")
    for (view,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'view'").fetchall():
        cases.run(view, one_view, database, view)
