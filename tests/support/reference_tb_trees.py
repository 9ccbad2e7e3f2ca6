"""The trees of operators, modules and steps that the TensorBoard plugin of the PyTorch profiler builds for each thread, out of
the facts in our index. It hangs runtime calls into them by External id, and adds times up from there.
"""
import json
from collections import defaultdict
from functools import lru_cache

FLOAT = "float microseconds"
EXTERNAL = "calls by External id"
DRIVER = "no driver calls"
FOLD = "nested operators of one name fold"
OWN = "self time without runtime calls"
BACKWARD = "backward under its forward module"
BELOW = "modules below operators are lost"
IMAGES = "device images of steps are steps"
COLLECTIVES = {f"{library}:{name}" for library in ("nccl", "gloo")
               for name in ("broadcast", "reduce", "all_reduce", "all_gather", "reduce_scatter")}
BACKWARD_ROOT = "autograd::engine::evaluate_function:"
ACCUMULATE = BACKWARD_ROOT + " torch::autograd::AccumulateGrad"


class Node:
    """An operator, module, step, optimizer or runtime call of a thread."""

    def __init__(self, kind, name, begin, end, thread, external=None, shape=None, id_=None):
        self.kind, self.name, self.begin, self.end, self.thread = kind, name, begin, end, thread
        self.external, self.shape, self.id = external, shape, id_
        self.children, self.calls = [], []
        self.device = self.own_device = self.own_host = 0.0

    def twin(self):
        """As copy.copy() makes it, in a fifth of the time."""
        own = Node.__new__(Node)
        own.__dict__.update(self.__dict__)
        return own

    def order(self):
        return self.begin, -self.end

    def is_operator(self):
        return self.kind == "op" and self.name not in ("DataParallel.forward", "DistributedDataParallel.forward") and \
            not self.name.startswith("Optimizer.")

    def fill(self, rules):
        """Times of its own and of all below, from the leaves up."""
        self.children.sort(key=Node.order)
        for child in self.children:
            child.fill(rules)
        if self.kind == "backward" and self.children:
            self.begin, self.end = self.children[0].begin, self.children[-1].end
        self.own_host = self.end - self.begin
        self.device = sum(child.device for child in self.children)
        for child in self.children:
            self.own_host -= child.end - child.begin
        for call in self.calls:
            self.own_host -= call.end - call.begin if OWN in rules else 0
            self.device += call.device
            self.own_device += call.device
        if self.kind == "module":
            self.own_device += sum(child.device for child in self.children if child.is_operator())

    def modules(self):
        """The modules below that only steps and modules are above."""
        for child in self.children:
            if child.kind in ("module", "step"):
                yield child
                yield from child.modules()

    def nodes(self):
        """Itself and all below."""
        for child in self.children:
            yield from child.nodes()
        yield self


class Work:
    """A kernel, copy or fill."""

    def __init__(self, row, begin):
        (self.ts, self.dur, self.name, self.kind, self.launch, self.external, self.config, self.device_number, self.op) = row
        self.begin, self.end = begin, begin + (self.dur or 0) / 1000


WORK_SQL = """
SELECT e.ts, e.dur, e.name, e.kind, e.launch_id, e.external_id, e.launch_config_id, d.ordinal, e.cpu_op_id FROM (
  SELECT k.id, k.ts, k.dur, n.name, 'kernel' AS kind, k.launch_id, k.external_id, k.launch_config_id, k.stream_id,
         k.cpu_op_id FROM kernel k JOIN kernel_name n ON n.id = k.name_id
  UNION ALL SELECT m.id, m.ts, m.dur, t.value, m.kind, m.launch_id, m.external_id, NULL, m.stream_id, m.cpu_op_id
  FROM memory_op m JOIN string t ON t.id = m.name_id) e
JOIN stream s ON s.id = e.stream_id JOIN device d ON d.id = s.device_id ORDER BY e.ts, e.id"""
OP_SQL = """
SELECT o.id, o.ts, o.dur, n.value, t.tid, o.external_id, s.dims FROM cpu_op o JOIN string n ON n.id = o.name_id
JOIN thread t ON t.id = o.thread_id LEFT JOIN op_shape s ON s.id = o.shape_id ORDER BY o.id"""
ANNOTATION_SQL = """
SELECT a.ts, a.dur, n.value, coalesce(t.tid, s.number), a.external_id, a.kind FROM annotation a
JOIN string n ON n.id = a.name_id LEFT JOIN thread t ON t.id = a.thread_id LEFT JOIN stream s ON s.id = a.stream_id
ORDER BY a.ts, a.dur DESC"""
MODULE_SQL = """
SELECT c.ts, c.dur, n.value, t.tid FROM python_call c JOIN stack s ON s.id = c.stack_id JOIN frame f ON f.id = s.frame_id
JOIN string n ON n.id = f.name_id JOIN thread t ON t.id = c.thread_id WHERE n.value GLOB 'nn.Module: *' ORDER BY c.id"""
CALL_SQL = """
SELECT r.id, r.ts, r.dur, n.value, t.tid, r.external_id, r.cpu_op_id FROM runtime_call r
JOIN string n ON n.id = r.name_id JOIN thread t ON t.id = r.thread_id ORDER BY r.id"""


class Trees:
    def __init__(self, index, flows):
        self.index, self.flows = index, flows
        self.configs = {row[0]: row[1:] for row in index.rows(
            "SELECT id, grid_x, grid_y, grid_z, block_x, block_y, block_z, registers, shared_memory FROM launch_config")}

    # The model: facts in microseconds, the tree of each thread, what is added up from it.

    def time(self, ts, rules):
        return self.index.raw_us(ts) if FLOAT in rules else ts / 1000

    def work(self, rules):
        return self.work_at(rules & {FLOAT})

    @lru_cache(maxsize=None)
    def work_at(self, rules):
        return [Work(row, self.time(row[0], rules)) for row in self.index.rows(WORK_SQL)]

    def node(self, kind, ts, dur, name, thread, rules, **options):
        begin = self.time(ts, rules)
        return Node(kind, name, begin, begin + (dur or 0) / 1000, thread, **options)

    def hosts(self, rules):
        return self.hosts_at(rules & {FLOAT, IMAGES})

    @lru_cache(maxsize=None)
    def hosts_at(self, rules):
        """Nodes of all threads in order of start: operators, steps, optimizers, collectives, modules."""
        found = [self.node("step" if name.startswith("ProfilerStep#") else "optimizer"
                           if name.startswith("Optimizer.step") else "op", ts, dur, name, tid, rules, external=external,
                           shape=dims, id_=id_) for id_, ts, dur, name, tid, external, dims in self.index.rows(OP_SQL)]
        for ts, dur, name, tid, external, kind in self.index.rows(ANNOTATION_SQL):
            node_kind = self.annotation_kind(name)
            if node_kind and (kind == "user" or IMAGES in rules):
                found.append(self.node(node_kind, ts, dur, name, tid, rules, external=external))
        found += [self.node("module", ts, dur, name.removeprefix("nn.Module: "), tid, rules)
                  for ts, dur, name, tid in self.index.rows(MODULE_SQL)]
        return sorted(found, key=lambda node: node.begin)

    @staticmethod
    def annotation_kind(name):
        if name.startswith("ProfilerStep#"):
            return "step"
        if name.startswith("Optimizer.step"):
            return "optimizer"
        return "annotation" if name in COLLECTIVES else None

    def runtime_calls(self, rules):
        return self.runtime_calls_at(rules & {FLOAT, DRIVER})

    @lru_cache(maxsize=None)
    def runtime_calls_at(self, rules):
        """{id: call}, each with the time of what it launched."""
        calls = {}
        for id_, ts, dur, name, tid, external, op in self.index.rows(CALL_SQL):
            if DRIVER in rules and name.startswith("cu") and not name.startswith("cuda"):
                continue
            calls[id_] = self.node("call", ts, dur, name, tid, rules, external=external, id_=op)
            calls[id_].work = []
        for work in self.work(rules):
            if work.launch in calls:
                calls[work.launch].work.append(work)
                calls[work.launch].device += work.end - work.begin
        return calls

    @lru_cache(maxsize=None)
    def trees(self, rules):
        """{thread: root}"""
        threads = defaultdict(list)
        for node in self.hosts(rules):
            own = node.twin()
            own.children, own.calls = [], []
            threads[node.thread].append(own)
        self.hang_calls(threads, rules)
        roots = {thread: self.tree(thread, sorted(nodes, key=Node.order), rules) for thread, nodes in threads.items()}
        if BACKWARD in rules and self.flows:
            self.move_backward(roots, rules)
        return roots

    def hang_calls(self, threads, rules):
        calls = self.runtime_calls(rules).values()
        if EXTERNAL not in rules:
            operators = {node.id: node for nodes in threads.values() for node in nodes if node.id}
            for call in calls:
                if call.id in operators:
                    operators[call.id].calls.append(call)
            return
        waiting = defaultdict(list)
        for call in calls:
            waiting[call.external].append(call)
        for nodes in threads.values():  # the first of a number takes all, and what has none takes those that have none
            for node in nodes:
                node.calls += waiting.pop(node.external, [])

    def tree(self, thread, nodes, rules):
        root = Node("root", "CallTreeRoot", float("-inf"), float("inf"), thread)
        stack = [root]
        for node in nodes:
            while node.begin >= stack[-1].end:
                stack.pop()
            stack[-1].children.append(node)
            stack.append(node)
        if FOLD in rules:
            self.fold(root)
        for child in root.children:
            child.fill(rules)
        return root

    def fold(self, node):
        while len(node.children) == 1 and node.kind == node.children[0].kind == "op" and \
                node.name == node.children[0].name:
            node.calls = node.children[0].calls
            node.children = node.children[0].children
        for child in node.children:
            self.fold(child)

    def move_backward(self, roots, rules):
        """Backward operators go below copies of the modules whose forward operators they belong to; others are lost."""
        modules, backward = [], []
        for root in roots.values():
            self.find_modules(root, modules, backward)
        if not modules or not backward:
            return
        parents = {}
        for node in backward:
            for one in node.nodes():
                for child in one.children:
                    parents.setdefault(child.begin, one)
        groups = []
        for node in backward:
            if node.name == ACCUMULATE:
                groups[-1].append(node)
            else:
                groups.append([node])
        groups = {id(group[0]): group for group in groups}
        of_forward = {}
        for forward, back in self.flows.items():
            parent = parents.get(self.flow_time(back, rules))
            while parent is not None and not parent.name.startswith(BACKWARD_ROOT):
                parent = parents.get(parent.begin)
            if parent is not None:
                of_forward[self.flow_time(forward, rules)] = groups.pop(id(parent), [])
        copies = []
        for module in modules:
            self.copy_backward(module, None, of_forward, copies, rules)
        main = [root for root in roots.values() if any(node.kind == "step" for node in root.children)][-1]
        self.insert(main, sorted(copies, key=Node.order))

    @staticmethod
    def insert(root, copies):
        """Puts each copy below the node at its time; the search goes on from the last one and never back, so what
        comes after its end is lost."""
        node, begin, end = root, root.children[0].begin, root.children[-1].end
        stack, at = [], 0
        for copied in copies:
            while node is not None and copied.begin > end:
                node, at, begin, end = stack.pop() if stack else (None, 0, 0, 0)
                at += 1
            if node is None or copied.end < begin:
                continue
            while at < len(node.children) and copied.end >= node.children[at].begin:
                child = node.children[at]
                if copied.begin >= child.end:
                    at += 1
                else:
                    stack.append((node, at, begin, end))
                    node, at, begin, end = child, 0, child.begin, child.end
            node.children.insert(at, copied)
            at += 1

    def flow_time(self, raw_us, rules):
        return raw_us if FLOAT in rules else (round(raw_us * 1000) - self.index.raw_base_ns) / 1000

    def find_modules(self, root, modules, backward):
        def walk(parent):
            for child in list(parent.children):
                if child.kind == "module":
                    modules.append(child)
                elif child.kind == "step":
                    walk(child)
                elif child.name.startswith(BACKWARD_ROOT):
                    backward.append(child)
                    parent.children.remove(child)
        walk(root)

    def copy_backward(self, node, parent, of_forward, copies, rules):
        if node.kind == "module":
            twin = Node("backward", node.name + ".backward", node.begin, node.end, node.thread)
            (copies if parent is None else parent.children).append(twin)
            parent = twin
        for child in node.children:
            if child.is_operator():
                parent.children += of_forward.get(child.begin, [])
            self.copy_backward(child, parent, of_forward, copies, rules)

    @lru_cache(maxsize=None)
    def operators(self, rules):
        return [node for root in self.trees(rules).values() for node in root.nodes() if node.is_operator()]

    @lru_cache(maxsize=None)
    def operator_sums(self, rules, by_shape=False):
        sums = defaultdict(lambda: defaultdict(float))
        for node in self.operators(rules):
            key = (node.name, self.shape(node.shape)) if by_shape else node.name
            for column, value in (("calls", 1), ("host", node.end - node.begin), ("self_host", node.own_host),
                                  ("dev", node.device), ("self_dev", node.own_device)):
                sums[key][column] += value
        return sums

    @staticmethod
    def shape(dims):
        return str(json.loads(dims)) if dims else "[]"

    @lru_cache(maxsize=None)
    def kernel_operators(self, rules):
        """{(kernel, operator, grid, block, registers, shared memory): [calls, us]}"""
        sums = defaultdict(lambda: [0, 0.0])
        hung = set()
        times = max(1, len({node.thread for node in self.hosts(rules) if node.kind == "step"}))
        for root in self.trees(rules).values():
            for node in root.nodes():
                for call in node.calls:
                    for work in call.work:
                        hung.add(id(work))
                        self.add_kernel(sums, work, node.name)
        if EXTERNAL not in rules:
            for work in self.work(rules):
                if id(work) not in hung and work.launch is None:
                    self.add_kernel(sums, work, "CallTreeRoot", times)
        else:
            launched = self.runtime_calls(rules)
            for work in self.work(rules):
                if work.launch not in launched:
                    self.add_kernel(sums, work, "CallTreeRoot", times)
        return sums

    def add_kernel(self, sums, work, name, times=1):
        if work.kind == "kernel":
            own = sums[(work.name, name, *self.launch(self.configs.get(work.config)))]
            own[0] += times
            own[1] += times * (work.end - work.begin)

    @staticmethod
    def launch(config):
        if config is None:
            return "None", "None", 0, 0
        grid, block = list(config[:3]), list(config[3:6])
        return str(grid), str(block), config[6] or 0, config[7] or 0


def forward_backward(events):
    """{start of a forward operator: start of its backward one}, in microseconds of the trace, by the flows fwdbwd."""
    ends = {"s": {}, "f": {}}
    for event in events:
        if event.get("cat") in ("fwdbwd", "forward_backward") and event.get("ph") in ends:
            ends[event["ph"]][event["id"]] = float(event["ts"])
    return {begin: ends["f"][id_] for id_, begin in ends["s"].items() if id_ in ends["f"]}
