"""Options of pairs of synthetic traces, drawn by chance: what both sides share, what each has for itself, what is planted.

Each maker takes the source of chance and the number of the pair among those of its kind, and returns the options of
both sides; where an option is named twice, the last one counts (last_of)."""

FUSIONS = ("add+rmsnorm", "allreduce+rmsnorm", "moe_gemm+silu", "moe_routing", "qk_norm+rope", "rmsnorm+quant",
           "rope+kvcache", "silu+quant")
VENDORS = (("amd", "nvidia"), ("nvidia", "amd"), ("amd", "amd"), ("nvidia", "nvidia"))
SLOW = ("dense_gemm", "quantise", "rotary", "kv_cache", "attention_decode", "activation", "norm", "o_gemm", "decode_attention")
MODELS = (("train", ("dense_gemm", "attention", "norm", "activation")), ("vision+text", ("dense_gemm", "attention")),
          ("encoder+decoder", ("attention", "cross_sdpa", "dense_gemm")), ("diffusion", ("norm", "rotary", "attention")))
INSERTED = ("reduce", "sort", "elementwise", "norm", "quantise", "gate_up_gemm", "moe_gemm_1")
SPELLINGS = ("add_norm", "attention", "inductor", "rope_append", "rope_cache")


def shape(chance):
    """Options that both sides share: the same model under the same load."""
    options = ["--layers", chance.randint(4, 6), "--mix", chance.choice(["P,D*3", "D", "P,D*2,M", "P*2,D*2,M"]),
               "--batch", chance.choice([8, 32, 64]), "--moe", chance.choice(["on", "off"]),
               "--quantise", chance.choice(["on", "on", "off"]), "--qk-norm", chance.choice(["on", "on", "off"]),
               "--tensor-parallel", chance.choice([1, 1, 2, 4]), "--streams", chance.choice([1, 2, 3])]
    return options + ["--python-stacks", chance.choice(["on", "on", "off"]),
                      "--jittered-streams", chance.choice(["on", "off", "off"])]


def way(chance):
    """Options that a side has for itself."""
    return ["--seed", chance.randrange(1, 10**6), "--steps", chance.randint(8, 12), "--idle",
            chance.choice([0, 0, 90000]), "--graphs", chance.choice(["on", "on", "off"]),
            "--correlation", chance.choice(["on", "on", "off"]), "--step-gap", chance.choice([0, 0, 400000, 9000000])]


def spell(chance):
    """Libraries of a side for itself: one operation under two names."""
    return ["--spelling", ",".join(chance.sample(SPELLINGS, chance.choice([0, 1, 2])))]


def fuse(chance):
    chosen = chance.sample(FUSIONS, chance.choice([0, 2, 3, 4, 6]))
    return ["--fuse", ",".join(chosen)] if chosen else []


def vendors(place):
    return [("--vendor", name) for name in VENDORS[place % len(VENDORS)]]


def fusion_pair(chance, place):
    a, b = vendors(place)
    common = shape(chance)
    return [[*common, *vendor, *way(chance), *fuse(chance), *spell(chance)] for vendor in (a, b)]


def same_pair(chance, place):
    """Two runs of one program."""
    vendor = vendors(2 + place % 2)[0]
    common = [*shape(chance), *vendor, *fuse(chance)]
    return [*common, *way(chance)], [*common, *way(chance)]


def slow_pair(chance, place):
    """With little noise, so that what was planted is what stands out."""
    a, b = [[*side, *spell(chance), "--jitter", "0.3"] for side in same_pair(chance, place)]
    return a, [*b, "--slow", f"{SLOW[place % len(SLOW)]}@{chance.randint(1, 3)}={chance.choice([1.8, 2.5])}"]


def slow_class_pair(chance, place):
    """A class is slower in all layers, while other kernels are fused and called otherwise."""
    vendor = vendors(2 + place % 2)[0]
    common = [*shape(chance), *vendor]
    a, b = [[*common, *way(chance), *fuse(chance), *spell(chance), "--jitter", "0.3"] for _ in range(2)]
    return a, [*b, "--slow", f"{SLOW[place % len(SLOW)]}=2"]


def clock_pair(chance, place):
    a, b = same_pair(chance, place)
    return a, [*b, "--clock", (1.12, 0.9, 1.06, 0.8)[place % 4]]


def rank_pair(chance, place):
    """Two ranks of one job: everything is equal but one collective a step, which waits for the other rank."""
    common = [*shape(chance), *vendors(2 + place % 2)[0], *fuse(chance), "--tensor-parallel", 4, *way(chance)]
    return [[*common, "--rank", rank, "--seed", chance.randrange(1, 10**6), "--collective-wait", wait]
            for rank, wait in zip((0, 1), chance.sample([0, chance.choice([300000, 4000000, 30000000])], 2))]


def apart_pair(chance, place):
    """The same kernels, and more time between steps, in which calls are recorded."""
    common = [*shape(chance), *vendors(place)[0], *fuse(chance), *way(chance), "--gap-calls", chance.choice([0, 400])]
    gaps = chance.sample([0, chance.choice([5000000, 26000000])], 2)
    return [[*common, "--seed", chance.randrange(1, 10**6), "--step-gap", gap] for gap in gaps]


def model_pair(chance, place):
    """Models that are no server's: training, several stacks, diffusion; a class of them is slower on one side."""
    model, slow = MODELS[place % len(MODELS)]
    common = ["--model", model, "--layers", chance.randint(3, 6), "--second-layers", chance.randint(2, 7), "--passes", 2,
              "--python-stacks", chance.choice(["on", "off"]), *vendors(2 + place // 2 % 2)[0], "--jitter", "0.3",
              "--dialect", "old" if model == "train" and place % 8 >= 4 else "new", "--batch", chance.choice([16, 64])]
    a, b = [[*common, "--seed", chance.randrange(1, 10**6), "--steps", chance.randint(5, 8), "--correlation",
             chance.choice(["on", "on", "off"])] for _ in range(2)]
    return a, [*b, "--slow", f"{chance.choice(slow)}=1.6"]


def shifted_pair(chance, place):
    """Names of one side's replays are out of step with its times."""
    a, b = same_pair(chance, place)
    return a, [*b, "--graphs", "on", "--shift-names", chance.randint(1, 4)]


def insert_pair(chance, place):
    sides = same_pair(chance, place)
    where = chance.choice(["", f"@{chance.randint(0, 3)}"])
    sides[place % 2].extend(["--insert", INSERTED[place % len(INSERTED)] + where])
    return sides


def everything_pair(chance, place):
    a, b = fusion_pair(chance, place)
    return [*a, "--insert", INSERTED[place % len(INSERTED)]], [*b, "--slow", "dense_gemm@2=2", "--insert", "sort@1"]


def mixed_pair(chance, place):
    """One vendor, other fusions, and a kernel more, which may be like its neighbours: all others must keep their equal."""
    vendor = vendors(2 + place % 2)[0]
    common = [*shape(chance), *vendor]
    sides = [*common, *way(chance), *fuse(chance)], [*common, *way(chance), *fuse(chance)]
    sides[place % 2].extend(["--insert", INSERTED[-1 - place % len(INSERTED)]])
    return sides


def long_capture_pair(chance, place):
    a, b = fusion_pair(chance, place)
    return [*a, "--steps", 5], [*b, "--steps", 24]


PAIRS = (("fusions", fusion_pair, 16), ("nothing", same_pair, 4), ("slower", slow_pair, 7), ("slower class", slow_class_pair, 7),
         ("clock", clock_pair, 4), ("ranks", rank_pair, 3), ("apart", apart_pair, 3), ("model", model_pair, 8),
         ("shifted", shifted_pair, 2), ("insertion", insert_pair, 4), ("mixed", mixed_pair, 3),
         ("everything", everything_pair, 2), ("capture length", long_capture_pair, 1))


def last_of(options):
    """The last value of each option, as make-trace cannot take one twice."""
    values = {options[i]: options[i + 1] for i in range(0, len(options), 2)}
    return [part for pair in values.items() for part in pair]
