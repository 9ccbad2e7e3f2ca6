#!/usr/bin/env python3
"""Checks that #include lines keep to the layers: which directory may use which, and where each library may appear; and
that exceptions are caught in few places.

Usage: includes_test.py REPOSITORY
"""
import pathlib
import re
import sys

# directory of src -> the directories it may use besides itself. A room is a directory of a layer: where a layer is
# listed, all its rooms are meant, and where rooms of the same layer are, only these.
LAYERS = {
    "base": set(),
    "sql": {"base"},
    "trace": {"base"},
    "index": {"base", "sql", "trace"},
    "passes": {"base", "sql", "trace", "index"},
    "ingest": {"base", "sql", "trace", "index"},
    "compare": {"base", "sql", "trace", "index", "passes"},
    "ascend": {"base", "sql", "trace", "index", "passes"},
    "aie": {"base", "sql", "trace", "index"},
    "fleet": {"base", "sql", "trace", "index", "passes"},
    "ranks": {"base", "sql", "trace", "index", "passes"},
    "report": {"base", "sql"},
    "export": {"base", "sql", "trace", "index", "passes", "report"},
    "present": {"base", "sql", "trace", "compare", "aie", "ascend", "fleet", "ranks", "report"},
    "report_page": {"base", "sql", "trace", "index", "passes", "compare", "report", "present"},
}
# room -> the rooms of the same layer that it may use. The files in the folder of the layer itself are its front, which
# may use every room and is used by none; in base and sql they are the ground that rooms stand
# on, written "".
ROOMS = {
    "base/text": {""},
    "base/files": {""},
    "base/stream": {"", "files", "text"},
    "base/python": {"", "files", "stream", "text"},
    "sql/host": {""},
    "sql/file": {""},
    "sql/tables": {""},
    "sql/user": {"", "tables"},
    "ingest/read": set(),
    "ingest/store": set(),
    "ingest/kineto": {"read", "store"},
    "ingest/rows": {"read", "store"},
    "ingest/ascend": {"read", "store", "rows"},
    "ingest/nsys": {"read", "store", "rows"},
    "ingest/rocm": {"read", "store", "rows"},
    "ingest/xla": {"read", "store", "kineto", "rows"},
    "ingest/link": {"read", "store"},
    "ingest/write": {"read", "store", "link"},
    "passes/columns": set(),
    "passes/classify": set(),
    "passes/steps": {"columns", "classify"},
    "passes/layers": {"columns", "classify", "steps"},
    "passes/capture": {"columns", "steps", "layers"},
    "passes/roles": {"classify", "steps", "layers"},
    "passes/time": {"columns"},
    "passes/host": {"columns"},
    "passes/select": {"columns", "classify", "steps", "layers", "capture", "roles", "time"},
    "passes/stacks": {"columns", "select"},
    "passes/critical": {"columns", "select", "steps", "time"},
    "passes/work": set(),
    "passes/tables": {"work", "columns", "steps", "layers", "roles", "time", "host", "select", "stacks", "critical"},
    "passes/sql": {"roles", "select"},
    "export/parquet": set(),
    "compare/trace": set(),
    "compare/steps": {"trace"},
    "compare/align": {"trace", "steps"},
    "compare/runs": {"trace", "steps"},
    "compare/wafer": set(),
    "report_page/html": set(),
    "report_page/pictures": {"html"},
    "report_page/served": {"html"},
}
# What a layer may use of another one besides: the kind of a kernel follows the rules of its class, also where it is stored.
EXCEPTIONS = {("ingest", "passes/classify/kernel_kind.h")}
# third-party header -> the places in src and tools that may include it. libfmt and the C++ and POSIX headers may be
# used everywhere.
LIBRARIES = {
    r"xxh\w*\.h": ["src/base/stream/content_hash.cc"],
    r"zlib\.h": ["src/base/stream/compressed_source.cc", "tools/make_trace/output.cc", "tools/trace_query/commands/serve/http_server.cc"],
    r"zstd\w*\.h": ["src/base/stream/compressed_source.cc"],
    r"boost/math/.*": ["src/compare/runs/set_statistics.cc", "src/compare/steps/step_metrics.cc"],
    r"re2/.*": ["src/base/text/regular_expression.cc"],
    r"yaml-cpp/.*": ["src/ascend/op_mapping.cc"],
    r"protozero/.*": ["src/ingest/xla/", "tools/make_trace/"],
    r"isa-l.*": ["src/base/stream/compressed_source.cc"],
    r"sqlite3\.h": ["src/sql/"],
    r"sqlite3ext\.h": ["src/sql/host/"],
    r"simdjson\.h": ["src/ingest/", "src/base/python/json.cc"],
    r"boost/beast/.*": ["tools/trace_query/commands/serve/"],
    r"boost/(?!math/|beast/).*": ["tools/"],
    r"doctest/.*": [],
}
# What is thrown goes through to one of these.
CATCHERS = ("src/base/parallel.h", "src/base/failure.h", "tools/trace_ingest/main.cc", "tools/trace_query/main.cc", "tools/make_trace/main.cc",
            "src/ingest/xla/proto_file.h")
CATCH = re.compile(r"\bcatch \(")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def includes(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            yield number, match[1] == "<", match[2]


def library_problem(name, header):
    for pattern, places in LIBRARIES.items():
        if re.fullmatch(pattern, header) and not any(name.startswith(place) for place in places):
            return f"<{header}> may be included by {' '.join(places) or 'tests'} only"
    return None


def room_problem(layer, room, used, header):
    rooms = {name: uses for name, uses in ROOMS.items() if name.startswith(layer + "/")}
    if not room and used and any("" in uses for uses in rooms.values()):
        return f"{header} stands on the files in the folder of {layer}, which may not include it"
    if not room or room == used or not rooms:
        return None
    if f"{layer}/{room}" not in ROOMS:
        return f"{layer}/{room} is no known room: enter it into ROOMS"
    if used not in ROOMS[f"{layer}/{room}"]:
        return f"{layer}/{room} may not include {layer}/{used} ({header})" if used else f"{header} is the front of {layer}"
    return None


def layer_problem(name, header):
    if not name.startswith("src/"):
        return None
    layer, *rooms = name.removeprefix("src/").split("/")[:-1] or [""]
    used, *used_rooms = header.split("/")[:-1] or [""]
    if layer not in LAYERS:
        return f"{name} is in no known directory of src: enter it into LAYERS"
    if "/" not in header:
        # Generated headers of the schema and the like have no directory.
        return None
    if used in LAYERS and used != layer and used not in LAYERS[layer] and (layer, header) not in EXCEPTIONS:
        return f"{layer} may not include {used} ({header})"
    if used == layer:
        return room_problem(layer, "/".join(rooms), "/".join(used_rooms), header)
    if used in ("tools", "tests", "benchmarks") or ".." in header.split("/"):
        return f'"{header}": name headers from src on, and nothing outside it'
    return None


def find_problems(root):
    for folder in ("src", "tools"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".cc", ".h"):
                continue
            name = path.relative_to(root).as_posix()
            for number, is_library, header in includes(path):
                problem = library_problem(name, header) or (None if is_library else layer_problem(name, header))
                if problem:
                    yield f"{name}:{number}: {problem}"


def find_catchers(root):
    for folder in ("src", "tools"):
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix in (".cc", ".h") and name not in CATCHERS and CATCH.search(path.read_text(encoding="utf-8")):
                yield f"{name}: catches exceptions; only {', '.join(CATCHERS)} do"


def find_cycles(table):
    """The tables themselves must not allow a cycle."""
    for start in table:
        seen, pending = set(), list(table[start])
        while pending:
            layer = pending.pop()
            if layer == start:
                yield f"the table lets {start} include itself through others"
                break
            if layer not in seen:
                seen.add(layer)
                pending += table[layer]


def main():
    root = pathlib.Path(sys.argv[1])
    rooms = {room: {f"{room.split('/')[0]}/{used}" for used in uses if used} for room, uses in ROOMS.items()}
    problems = [*find_cycles(LAYERS), *find_cycles(rooms), *find_problems(root), *find_catchers(root)]
    print("\n".join(problems) or "includes keep to the layers")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
