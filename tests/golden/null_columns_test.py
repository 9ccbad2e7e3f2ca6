"""No column of a table or view is NULL in every real trace, but for those listed here with the reason: a column that
nobody fills is a mistake, or none at all."""
import sqlite3

from trace_cases import TRACES, equal, ingest, kineto_traces, open_index, skip_without_traces

REASONS = {
    ("counter", "category_id"): "counters have none here",
    **{("event_argument", column): "only with --keep-args" for column in ("event_table", "event_id", "args")},
    ("collective", "comms_id"): "of collectives on a thread only, in these traces",
    **{("collective", column): "no sends and receives in these traces" for column in ("source_rank", "destination_rank")},
    **{("flow_text", column): "no flow of these traces has such an id" for column in ("id", "flow_id")},
    ("kernel", "graph_id"): "no profiler of these traces writes it",
    ("kernel", "graph_node_id"): "no profiler of these traces writes it",
}
for table, view in (("collective", "collectives"), ("kernel", "kernels")):
    REASONS.update({(view, column): reason for (of, column), reason in list(REASONS.items()) if of == table})




def columns(database):
    names = [row[0] for row in database.execute(
        "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%'")]
    return {(name, row[1]) for name in names for row in database.execute(f"SELECT * FROM pragma_table_info('{name}')")}


def traces():
    return (kineto_traces() + sorted((TRACES / "damaged").glob("cut*")) + sorted((TRACES / "ascend").glob("*.json"))
            + sorted((TRACES / "ascend").glob("*kernel_details.csv")))


def never_filled(folder):
    missing = None
    for place, trace in enumerate(traces()):
        database = open_index(ingest(trace, folder / f"{place}.tracedb"))
        missing = columns(database) if missing is None else missing
        filled = set()
        for name, column in sorted(missing):
            try:
                found = database.execute(f'SELECT 1 FROM "{name}" WHERE "{column}" IS NOT NULL LIMIT 1').fetchone()
            except sqlite3.Error as error:
                raise AssertionError(f"{name}.{column} of {trace.name}: {error}") from error
            if found:
                filled.add((name, column))
        missing -= filled
        (folder / f"{place}.tracedb").unlink()
    return missing


def main(cases, _):
    if not skip_without_traces(cases, TRACES / "kineto"):
        missing = cases.run_apart("read", never_filled) or set()
        cases.run("columns that are always NULL", equal, sorted(missing - set(REASONS)), [], "without a reason")
        for name, column in sorted(set(REASONS) - missing):
            print(f"note: {name}.{column} has values now; its reason can go")
