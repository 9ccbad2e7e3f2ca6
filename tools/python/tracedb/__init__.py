"""Answers from profiler traces, by the programs trace-ingest and trace-query.

    trace = tracedb.open("trace.json.gz")     # builds the index, or finds it
    trace.report("ops", phase="decode")       # what trace-query ops --phase decode prints, as a Table
    trace.sql("SELECT op, sum(dur) AS ns FROM kernels GROUP BY 1")
    tracedb.compare(a, b).reasons             # why b is slower than a

Times are integers in nanoseconds; what is unknown is None.
"""
from ._picture import Picture
from ._programs import Error
from ._table import Table
from ._trace import Comparison, Trace, compare, compare_sets, open

__all__ = ["Comparison", "Error", "Picture", "Table", "Trace", "compare", "compare_sets", "open"]
__version__ = "0.2.0"
