"""The TensorBoard plugin's figures of the real traces, one by one, against our reports and index."""
from reference_index import Index
from reference_reasons import compare_all, trace_of
from reference_tb_trees import forward_backward
from reference_tensorboard import TensorBoard, read
from trace_cases import REFERENCE, read_trace



def figures(reference, folder):
    trace = trace_of(reference.name)
    return TensorBoard(Index(trace, folder), read(reference), forward_backward(read_trace(trace)[0])).figures()


def main(cases):
    compare_all(cases, "tensorboard", sorted((REFERENCE / "tensorboard").glob("*.json.gz")), figures)
