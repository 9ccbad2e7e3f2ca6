"""A current ClickHouse inside this process: libchdb.so of the npm package @chdb/lib-linux-x64-gnu, by its C interface."""
import ctypes
import os
from pathlib import Path

from trace_cases import Skip, require


class Chdb:
    def __init__(self, folder):
        library = os.environ.get("TRACEDB_LIBCHDB", "")
        if not Path(library).is_file():
            raise Skip("no current ClickHouse: npm install @chdb/lib-linux-x64-gnu, and TRACEDB_LIBCHDB=.../libchdb.so")
        self._chdb = chdb = ctypes.CDLL(library)
        chdb.chdb_connect.restype = ctypes.POINTER(ctypes.c_void_p)
        chdb.chdb_connect.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]
        chdb.chdb_query_n.restype = ctypes.c_void_p
        chdb.chdb_query_n.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
        for name, kind in (("buffer", ctypes.c_void_p), ("length", ctypes.c_size_t), ("error", ctypes.c_char_p)):
            function = getattr(chdb, f"chdb_result_{name}")
            function.restype, function.argtypes = kind, [ctypes.c_void_p]
        words = (ctypes.c_char_p * 2)(b"clickhouse", b"--path=" + os.fsencode(folder))
        self._connection = chdb.chdb_connect(2, words)
        require(bool(self._connection), "libchdb does not start")
        chdb.chdb_close_conn.argtypes, chdb.chdb_close_conn.restype = [ctypes.POINTER(ctypes.c_void_p)], None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Its threads would keep this process from ending."""
        self._chdb.chdb_close_conn(self._connection)

    def run(self, sql):
        """The answer as tab-separated text."""
        text, kind = sql.encode(), b"TabSeparated"
        result = self._chdb.chdb_query_n(self._connection[0], text, len(text), kind, len(kind))
        error = self._chdb.chdb_result_error(result)
        require(not error, f"chdb: {error and error.decode()}\n{sql}")
        length = self._chdb.chdb_result_length(result)
        return ctypes.string_at(self._chdb.chdb_result_buffer(result), length).decode() if length else ""
