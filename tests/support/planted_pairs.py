"""Pairs of synthetic traces for tests of `compare`, and what the generator's ground truth says a comparison must find."""
import collections
import dataclasses
import re

from trace_cases import equal, open_index, planted, require
from usual_steps import counted

TAIL = "-2"
# A comparison names kernels in readable form and without Inductor's numbers; these the generator has otherwise.
INDUCTOR_NUMBER = re.compile(r"^(triton_.*)_\d+$")
READABLE = {"_ZN5aiter24add_rmsnorm_quant_kernelI14__hip_bfloat16aLi256ELi8ELb1EEEvPT0_PfPT_S4_S4_dii":
            "void aiter::add_rmsnorm_quant_kernel<__hip_bfloat16, signed char, 256, 8, true>(signed char*, float*, "
            "__hip_bfloat16*, float*, float*, double, int, int)"}


@dataclasses.dataclass
class Side:
    """A trace that was made, ingested, and read back: `steps` are lists of (layer, role, class, name) by step."""
    index: object
    truth: dict
    kinds: list
    steps: dict

    def sequences(self, kind):
        """{layer: [(role, class, name)]}: the same in every step of the kind."""
        found = None
        for step, rows in self.steps.items():
            if self.kinds[step] != kind:
                continue
            layers = collections.defaultdict(list)
            for layer, *kernel in rows:
                layers[layer].append(tuple(kernel))
            require(found in (None, layers), f"{kind} steps differ")
            found = layers
        return found

    def call_steps(self, kind):
        """Names the kind of all steps as a report does, where the generator has no word for it."""
        self.kinds = [kind] * len(self.kinds)
        for step in self.truth["steps"]:
            step["kind"] = kind

    def slowed(self, kind):
        """{layer: classes} of the kernels that were slowed down; their classes as their names tell them."""
        (target,) = self.truth["slow_targets"]
        classes = self.truth["role_classes"]
        out = collections.defaultdict(set)
        for layer, kernels in self.sequences(kind).items():
            if target["layer"] is None or str(target["layer"]) == layer:
                out[layer].update(kernel[1] for kernel in kernels if target["target"] in (kernel[0], classes[kernel[0]]))
        return {layer: found for layer, found in out.items() if found}

    def mean_of_steps(self, kind, figure):
        """ns a step, as sum and number of steps."""
        values = [figure(step) for step in self.counted(kind)[0]]
        return sum(values), len(values)

    def counted(self, kind):
        """The steps that figures are of, and their periods if they are compared by these, else None."""
        return counted_steps(self.truth["steps"], kind)


def counted_steps(steps, kind):
    periods = [after["gpu_begin"] - step["gpu_begin"] if after and after["kind"] == kind else None
               for step, after in zip(steps, [*steps[1:], None]) if step["kind"] == kind]
    own = [step for step in steps if step["kind"] == kind]
    places, by_period = counted([step["gpu_end"] - step["gpu_begin"] for step in own], periods)
    return [own[i] for i in places], [periods[i] for i in places] if by_period else None


def make_side(folder, name, options):
    index, truth, labels = planted(folder, *options, name=name)
    database = open_index(index)
    names = database.execute("SELECT k.dur, n.name FROM kernel k JOIN kernel_name n ON n.id = k.name_id ORDER BY k.ts, k.id")
    # The order of labels is that of launches; streams start their kernels in another order.
    for label, (dur, kernel) in zip(sorted(labels, key=lambda label: int(label["ts"])), names, strict=True):
        equal(dur, int(label["dur"]), "duration of a labelled kernel")
        label["name"] = INDUCTOR_NUMBER.sub(r"\1", READABLE.get(kernel, kernel))
    steps = collections.defaultdict(list)
    for label in labels:
        around = [label[key] for key in ("pass", "stack", "iteration") if label[key] not in ("", "0")]
        place = "/".join([*around, label["layer"]])
        steps[int(label["step"])].append((place, label["role"], label["class"], label["name"]))
    return Side(index, truth, [step["kind"] for step in truth["steps"]], steps)


def cut_in_parts(side, kind, layer):
    """A layer's work in the parts that kernels may be fused from: [(parts, kernel name, class)]; kernels planted by
    --insert, which stand behind the output projection, and copies are left out."""
    inserted = sum(target["layer"] in (None, int(layer)) for target in side.truth["inserted_targets"])
    parts_of = {(fusion["role"], fusion["parts"][-1] == "final_norm"): fusion["parts"] for fusion in side.truth["fusions"]}
    out = []
    skip = 0
    for role, kernel_class, name in side.sequences(kind).get(layer, []):
        if skip > 0:
            skip -= 1
        elif kernel_class != "copy":
            out.append((parts_of.get((role, layer == TAIL), [role]), name, kernel_class))
        if role == "o_gemm":
            skip = inserted
    return out


def ends_of(cuts):
    ends = []
    at = 0
    for parts, name, kernel_class in cuts:
        ends.append((at, at + len(parts), name, kernel_class))
        at += len(parts)
    return ends


def only_unnamed_add(fused, parts):
    """Whether all that one kernel does more than the other side's is a residual add that its class does not name: that
    makes no finding. By classes."""
    return fused == "norm" and sorted(parts) == ["elementwise", "norm"]


def fusions_of(fusing, other):
    """What one layer of `fusing` does in one kernel and `other` in several: [(kernel, parts)]; and kernels that cover
    part of another side's kernel, of which nothing is asked."""
    equal([part for cut in fusing for part in cut[0]], [part for cut in other for part in cut[0]], "work")
    found, crossing = [], set()
    for begin, end, name, kernel_class in ends_of(fusing):
        inside = [piece for piece in ends_of(other) if piece[1] > begin and piece[0] < end]
        if inside[0][0] < begin or inside[-1][1] > end:
            if not (inside[0][0] <= begin and inside[0][1] >= end):  # it lies not within one kernel
                crossing.add(name)
        elif len(inside) > 1 and not only_unnamed_add(kernel_class, [piece[3] for piece in inside]):
            found.append((name, tuple(piece[2] for piece in inside)))
    return found, crossing


def expected_fusions(baseline, candidate):
    """{(phase, who fuses, kernel, parts): (kernels a step, parts a step)}, and {(phase, who, kernel)} not asked for."""
    out = collections.defaultdict(lambda: [0, 0])
    crossing = set()
    for kind in sorted(set(baseline.kinds) & set(candidate.kinds)):
        for layer in baseline.sequences(kind):
            cuts = {"baseline": cut_in_parts(baseline, kind, layer), "candidate": cut_in_parts(candidate, kind, layer)}
            for who, other in (("baseline", "candidate"), ("candidate", "baseline")):
                found, crossed = fusions_of(cuts[who], cuts[other])
                crossing |= {(kind, who, name) for name in crossed}
                for name, parts in found:
                    counts = out[kind, who, name, " + ".join(parts)]
                    counts[0] += 1
                    counts[1] += len(parts)
    return {key: tuple(counts) for key, counts in out.items()}, crossing


def kept_kernels(baseline, candidate):
    """{(phase, name): kernels a step} that do the same piece of work on both sides."""
    kept = collections.Counter()
    for kind in set(baseline.kinds) & set(candidate.kinds):
        for layer in baseline.sequences(kind):
            pieces = [set(ends_of(cut_in_parts(side, kind, layer))) for side in (baseline, candidate)]
            kept.update((kind, piece[2]) for piece in pieces[0] & pieces[1])
    return kept


def found_fusions(rows):
    return {(row["phase"], row["fused_by"], row["fused_kernel"], row["part_kernels"]): (row["fused_n"], row["parts_n"])
            for row in rows}
