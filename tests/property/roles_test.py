"""Roles of kernels of generated language models against the generator's labels, with and without modules."""
import itertools
from collections import Counter

from compare_cases import BETWEEN, RARE, TOTALS
from trace_cases import as_json, equal, planted, require, sql

# The label of a kernel -> its role; both norms of a layer have one label, and are told apart by their order.
ROLES = {"embedding": "embedding", "qkv_gemm": "qkv_proj", "q_norm": "qk_norm", "rope": "rope", "kv_cache": "kv_cache",
         "prefill_attention": "attention", "decode_attention": "attention", "decode_attention_reduce": "attention",
         "o_gemm": "o_proj", "attention_all_reduce": "attention_comm", "residual_add": "residual",
         "gate_up_gemm": "gate_up", "silu_mul": "activation", "down_gemm": "down", "mlp_all_reduce": "mlp_comm",
         "router_gemm": "router", "topk_softmax": "routing", "moe_sort": "routing", "moe_gemm_1": "experts",
         "moe_gemm_2": "experts", "moe_silu_mul": "activation", "moe_sum": "combine", "final_norm": "final_norm",
         "lm_head_gemm": "lm_head", "logits_all_gather": "lm_head_comm", "sample": "sampling", "temperature": "sampling", "softmax": "sampling"}
NONE = ("quant", "copy_block_table")


def expected(labels):
    """The role of each kernel; None: it must have none."""
    norms = Counter()
    for label in labels:
        place = (label["step"], label["layer"])
        if label["role"] == "rms_norm":
            norms[place] += 1
            yield "input_norm" if norms[place] == 1 else "post_attention_norm"
        else:
            require(label["role"] in ROLES or label["role"] in NONE, f"label {label['role']}")
            yield ROLES.get(label["role"])


def check(folder, options):
    index, _, labels = planted(folder, "--steps", 6, "--layers", 4, "--mix", "P,D*2", *options)
    labels.sort(key=lambda row: (int(row["step"]), int(row["stream"])))
    roles = sql(index, "SELECT role, role_source, role_confidence_pct AS sure FROM kernels ORDER BY step, stream, ts, id")
    pairs = list(zip(roles, expected(labels), labels, strict=True))
    for row, _, _ in pairs:
        equal((row["role"] is None, row["role"] is None), (row["role_source"] is None, row["sure"] is None), "unknown")
    found = sum(row["role"] is not None for row, _, _ in pairs)
    labelled = sum(role is not None for _, role, _ in pairs)
    # Only the module around it says that scaling by the temperature is part of sampling.
    labelled -= sum(label["role"] == "temperature" and row["role"] is None for row, _, label in pairs)
    wrong = Counter((label["role"], row["role"]) for row, role, label in pairs if row["role"] != role)
    right = sum(row["role"] is not None and row["role"] == role for row, role, _ in pairs)
    require(right >= 0.98 * found and right >= 0.95 * labelled,
            f"{right} of {found} right, {labelled} labelled; (label, role): {wrong.most_common(6)}")


def check_sums(folder, options):
    """The rows by role add up to all kernel time, in ops, in layers and in compare."""
    index, _, _ = planted(folder, "--steps", 3, "--layers", 3, "--mix", "P,D", *options)

    def total(*arguments):
        rows = as_json(*arguments, index)["rows"]
        return sum(row["total_time"] for row in rows), sum(row["instances"] for row in rows)

    equal(total("ops", "--by", "role"), total("ops"), "ops --by role")
    equal(total("layers", "--per-role"), total("layers"), "layers --per-role")
    other, _, _ = planted(folder, "--steps", 3, "--layers", 3, "--mix", "P,D", *options, "--seed", 8, "--slow", "dense_gemm=1.3",
                          name="other")
    by_role, by_op = (ledger(index, other, rows) for rows in ("role", "op"))
    equal(by_role["totals"], by_op["totals"], "compare: totals of the ledger")
    for phase, (baseline, candidate, change) in by_role["sums"].items():
        span = by_role["totals"][phase, "[span]"]
        require(abs(baseline - span[0]) < 100 and abs(candidate - span[1]) < 100 and change == span[2],
                f"compare --by role, {phase}: {(baseline, candidate, change)}, of {span}")


def ledger(baseline, candidate, by):
    """The totals of the ledger, and sums of its rows within the span, by phase."""
    section, = as_json("compare", "--section", "ledger", "--by", by, baseline, candidate)["sections"]
    totals, sums = {}, {}
    for row in section["rows"]:
        figures = (row["baseline"], row["candidate"], row["change"])
        if row["item"] in TOTALS:
            totals[row["phase"], row["item"]] = figures
        elif row["item"] not in (*BETWEEN, RARE):
            sums[row["phase"]] = tuple(map(sum, zip(sums.get(row["phase"], (0, 0, 0)), figures)))
    require(sums, "an empty ledger")
    return {"totals": totals, "sums": sums}


def main(cases, _):
    for vendor, moe, parallel, stacks in itertools.product(("amd", "nvidia"), ("off", "on"), ("1", "4"), ("on", "off")):
        options = ["--vendor", vendor, "--moe", moe, "--tensor-parallel", parallel, "--python-stacks", stacks]
        cases.run_apart(f"{vendor} moe {moe} tp {parallel} stacks {stacks}", check, options)
    for vendor in ("amd", "nvidia"):
        cases.run_apart(f"sums {vendor}", check_sums, ["--vendor", vendor])
