"""A graph while it is written: every value is known as soon as its node is there, since ONNX Runtime has computed it, so that what comes next can fit."""
import random

import numpy as np
from onnx import defs, helper

from oracle import Refused, described, model_of, session_of

FLOATS = (np.float32, np.float64, np.float16)
SIGNED, UNSIGNED = (np.int64, np.int32, np.int8, np.int16), (np.uint8, np.uint16, np.uint32, np.uint64)
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS
ANY = NUMBERS + (np.bool_,)
OPSETS = (7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22)
EXTENTS = (1, 1, 1, 2, 2, 3, 3, 4, 5, 7, 8, 9, 16, 17)
MOST_ELEMENTS = 20_000
SMALL = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, 1e-40, -1e-40, 1e-30, 88.0, -104.0)
EDGES = {"small": SMALL, "none": (np.nan, np.inf, -np.inf, *SMALL), "huge": (1e30, -1e30, 3e38, -3e38, 65504.0, 2147483648.0, *SMALL)}


class Value:
    def __init__(self, name, array, is_constant=False, is_leaf=False):
        self.name, self.array, self.is_constant, self.is_leaf = name, array, is_constant, is_leaf

    @property
    def shape(self):
        return self.array.shape

    @property
    def rank(self):
        return self.array.ndim

    @property
    def dtype(self):
        return self.array.dtype.type


class Node:
    def __init__(self, proto, session):
        self.proto, self.session = proto, session
        self.inputs, self.outputs = [name for name in proto.input if name], list(proto.output)


class Graph:
    def __init__(self, seed):
        self.seed, self.dice, self.numbers = seed, random.Random(seed), np.random.default_rng(seed)
        self.opset = self.dice.choice((21, 22)) if self.chance(0.5) else self.dice.choice(OPSETS)
        self.edges = self.pick("small", "none", "huge") if self.chance(0.3) else ""  # what leaves have among ordinary numbers; "none": what is no number
        self.empties = self.chance(0.1)  # whether extents may be 0
        self.symbolic = self.chance(0.3)  # whether inputs leave their extents open
        self.values, self.nodes, self.used, self.count = {}, [], set(), 0

    # Choices

    def chance(self, share):
        return self.dice.random() < share

    def pick(self, *choices):
        return self.dice.choice(choices)

    def extent(self):
        return 0 if self.empties and self.chance(0.15) else self.dice.choice(EXTENTS)

    def shape(self, rank=None, least=0, most=4):
        rank = self.dice.choice(range(least, most + 1)) if rank is None else rank
        while True:
            shape = tuple(self.extent() for _ in range(rank))
            if np.prod(shape) <= MOST_ELEMENTS // 8:
                return shape

    def float_type(self):
        return self.pick(np.float32, np.float32, np.float32, np.float32, np.float64, np.float16)

    def type_among(self, types):
        """f32 and i64 are what most models have."""
        usual = [each for each in (np.float32, np.int64) if each in types]
        return self.dice.choice(usual) if usual and self.chance(0.6) else self.dice.choice(types)

    def axis(self, value, rank=None):
        """An axis of the value, counted from either end, and where it is."""
        rank = value.rank if rank is None else rank
        if rank == 0:
            raise Refused("a scalar has no axis")
        at = self.dice.randrange(rank)
        return (at - rank if self.chance(0.3) else at), at

    # Leaves

    def floats(self, shape, dtype=np.float32, plain=False):
        """plain: without edges."""
        kind = self.dice.random()
        array = self.numbers.standard_normal(shape)
        if kind < 0.15:
            array = np.round(array * 3)
        elif kind < 0.25:
            array = array * 10.0 ** self.numbers.uniform(-4, 4, shape)
        if self.edges and not plain and self.chance(0.6):
            array = np.where(self.numbers.random(shape) < 0.2, self.numbers.choice(EDGES[self.edges], shape), array)
        with np.errstate(all="ignore"):
            return np.asarray(array).astype(dtype)

    def integers(self, shape, dtype=np.int64):
        info = np.iinfo(dtype)
        array = self.numbers.integers(max(-9, info.min), 10, shape).astype(dtype)
        if self.edges and self.chance(0.6):
            extremes = np.array([info.min, info.max, info.max - 1, 0, info.max // 2 + 1], dtype)
            array = np.where(self.numbers.random(shape) < 0.2, self.numbers.choice(extremes, shape), array).astype(dtype)
        return np.asarray(array)

    def content(self, shape, dtype):
        if dtype == np.bool_:
            return np.asarray(self.numbers.random(shape) < 0.5)
        return self.floats(shape, dtype) if dtype in FLOATS else self.integers(shape, dtype)

    def leaf(self, array, constant=None):
        """An input, or a constant."""
        constant = self.chance(0.3) if constant is None else constant
        value = Value(f"{'c' if constant else 'x'}{self.count}", np.asarray(array), constant, True)
        self.count += 1
        self.values[value.name] = value
        return value

    def parameter(self, array):
        """Extents, axes and the like: constants, but for a few that only a run tells."""
        return self.leaf(array, not self.chance(0.06))

    def new(self, types, shape=None):
        return self.leaf(self.content(self.shape() if shape is None else shape, self.type_among(types)))

    def value(self, types=ANY, least=0, most=5, fits=lambda value: True):
        """One that is there, the last ones rather than others, or a new leaf."""
        there = [each for each in self.values.values()
                 if each.dtype in types and least <= each.rank <= most and not (each.is_leaf and each.name in self.used and self.chance(0.7)) and fits(each)]
        computed = [each for each in there if not each.is_leaf]
        if computed and self.chance(0.8):
            return computed[-1 - min(int(self.dice.expovariate(1)), len(computed) - 1)]
        if there and self.chance(0.3):
            return self.dice.choice(there)
        for _ in range(20):
            made = self.content(self.shape(least=least, most=max(least, min(most, 4))), self.type_among(types))
            if fits(Value("", made)):
                return self.leaf(made)
        raise Refused("nothing fits")

    def like(self, value, shape, types=None):
        """Another of its type, and of this shape."""
        there = [each for each in self.values.values() if each.dtype == value.dtype and each.shape == tuple(shape)]
        return self.dice.choice(there) if there and self.chance(0.4) else self.leaf(self.content(shape, value.dtype))

    def broadcastable(self, shape):
        """A shape that meets this one."""
        shape = tuple(self.extent() if extent == 1 and self.chance(0.4) else 1 if self.chance(0.25) else extent for extent in shape)
        drop = self.dice.randrange(len(shape) + 1) if shape and self.chance(0.35) else 0
        shape = shape[drop:]
        if len(shape) < 4 and self.chance(0.1):
            shape = (self.pick(1, 2, 3), *shape)
        if np.prod(shape) > MOST_ELEMENTS:
            raise Refused("too large")
        return shape

    # Nodes

    def numbers_only(self, value):
        if value.dtype in FLOATS and np.isnan(value.array).any():
            raise Refused("it has NaN")
        return value

    def finite(self, value):
        if value.dtype in FLOATS and not np.isfinite(value.array).all():
            raise Refused("it is not finite")
        return value

    def op(self, kind, *inputs, outputs=1, domain="", **attributes):
        """The results of a new node. None stands for an input, and in `outputs` False for a result, that is left out."""
        wanted = [True] * outputs if isinstance(outputs, int) else outputs
        given = [self.parameter(each) if isinstance(each, np.ndarray) else each for each in inputs]
        while given and given[-1] is None:
            given.pop()
        names = [f"v{self.count + i}" if each else "" for i, each in enumerate(wanted)]
        self.count += len(wanted)
        self.check_known(kind, domain)
        attributes = {name: value for name, value in attributes.items() if value is not None}
        proto = helper.make_node(kind, [each.name if each else "" for each in given], names, name=f"n{len(self.nodes)}", domain=domain, **attributes)
        return self.add(proto)

    def check_known(self, kind, domain):
        if domain == "" and kind not in ("SimplifiedLayerNormalization",):
            try:
                defs.get_schema(kind, self.opset, "")
            except defs.SchemaError:
                raise Refused(f"{kind} is newer") from None

    def add(self, proto):
        names = [name for name in proto.output if name]
        reads = dict.fromkeys([*(name for name in proto.input if name), *captured(proto)])
        feeds = {name: (self.values[name].array, self.values[name].is_constant) for name in reads}
        session = session_of([proto], feeds, names, self.opset)
        arrays = session.run({name: array for name, (array, constant) in feeds.items() if not constant})
        if any(array.size > MOST_ELEMENTS or array.dtype.kind not in "fiub" for array in arrays):
            raise Refused("too large, or no numbers")
        self.nodes.append(Node(proto, session))
        self.nodes[-1].inputs = list(reads)
        self.used.update(reads)
        made = []
        for name, array in zip(names, arrays):
            self.values[name] = Value(name, array)
            made.append(self.values[name])
        return made[0] if len(proto.output) == 1 else made

    # The whole

    def outputs(self):
        ends = [name for node in self.nodes for name in node.outputs if name and (name not in self.used or self.chance(0.05))]
        return ends[-6:]


def bodies_of(proto):
    return [each.g for each in proto.attribute if each.HasField("g")]


def captured(proto):
    """Names that the bodies of a node read from outside."""
    found = []
    for body in bodies_of(proto):
        own = {each.name for each in body.input} | {each.name for each in body.initializer} | {name for node in body.node for name in node.output}
        for node in body.node:
            found += [name for name in [*node.input, *captured(node)] if name and name not in own]
        found += [each.name for each in body.output if each.name not in own]
    return found


class Case:
    """Nodes with what they read and the outputs that are wanted of them."""
    def __init__(self, nodes, leaves, outputs, opset, symbolic=False):
        self.nodes, self.leaves, self.outputs, self.opset, self.symbolic = nodes, leaves, outputs, opset, symbolic

    def extents(self, value):
        """Those above 1 by a symbol each, the same for the same extent. Axis 0 is open where it is of the same extent in all inputs, since it counts samples then."""
        firsts = {each.shape[:1] for each in self.leaves if not each.is_constant}
        return [f"d{extent}" if self.symbolic and extent > 1 and (axis or len(firsts) == 1) else extent for axis, extent in enumerate(value.shape)]

    def model(self, answers=None):
        inputs = [described(each.name, each.array, self.extents(each)) for each in self.leaves if not each.is_constant]
        constants = {each.name: each.array for each in self.leaves if each.is_constant}
        outputs = self.outputs
        if answers is not None:
            outputs = [described(name, array, [None] * array.ndim if self.symbolic else None) for name, array in zip(self.outputs, answers)]
        return model_of([node.proto for node in self.nodes], inputs, outputs, constants, self.opset)

    def feeds(self):
        return {each.name: each.array for each in self.leaves if not each.is_constant}


def case_of(graph, outputs):
    """What these outputs need of the graph, in its order."""
    needed, nodes = set(outputs), []
    for node in reversed(graph.nodes):
        if needed.intersection(node.outputs):
            nodes.insert(0, node)
            needed.update(node.inputs)
    leaves = [each for each in graph.values.values() if each.is_leaf and each.name in needed]
    return Case(nodes, leaves, outputs, graph.opset, graph.symbolic)
