"""The TensorBoard plugin's figures of the real traces, one by one, against our reports and index."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from reference_index import Index  # noqa: E402
from reference_reasons import compare_all, trace_of  # noqa: E402
from reference_tb_trees import forward_backward  # noqa: E402
from reference_tensorboard import TensorBoard, read  # noqa: E402
from trace_cases import REFERENCE, read_trace  # noqa: E402



def figures(reference, folder):
    trace = trace_of(reference.name)
    return TensorBoard(Index(trace, folder), read(reference), forward_backward(read_trace(trace)[0])).figures()


if __name__ == "__main__":
    compare_all("tensorboard", sorted((REFERENCE / "tensorboard").glob("*.json.gz")), figures)
