#!/usr/bin/env python3
"""Files of very many small nodes: what reading, planning and running one takes stays a small sum a node, and grows with the file alone."""
import unittest

import harness
from onnx_file import graph, initializer, model, node, value_info

IS_MEASURED = harness.BUILD.name == "release"  # what sanitizers keep, and the time they take, is theirs
NODES = 100_000 if IS_MEASURED else 5_000
X = [value_info("x", (1, 4))]


def chain(op, *others, count=NODES):
    return [node(op, [f"{i:x}" if i else "x", *others], [f"{i + 1:x}"]) for i in range(count)]


def tree():
    """As wide as it gets: half of the nodes read the input, the others add two of what there is."""
    nodes, row = [node("Relu", ["x"], [f"{i:x}"]) for i in range(NODES // 2)], list(range(NODES // 2))
    while len(row) > 1:
        first = len(nodes)
        pairs = list(zip(row[::2], row[1::2]))
        nodes += [node("Add", [f"{a:x}", f"{b:x}"], [f"{first + i:x}"]) for i, (a, b) in enumerate(pairs)]
        row = list(range(first, len(nodes))) + row[2 * len(pairs):]
    return nodes, f"{row[0]:x}"


def file(nodes, output, initializers=()):
    return model(nodes, list(initializers), X, [value_info(output, (1, 4))])


def branches(count):
    """Nodes that a run decides between: each has two bodies."""
    def branch(op, i, result):
        return graph([node(op, [f"v{i}"], [result])], [], [], [value_info(result, (1, 4))])
    first = [node("ReduceSum", ["x"], ["sum"], keepdims=0), node("Cast", ["sum"], ["is"], to=9), node("Relu", ["x"], ["v0"])]
    return first + [node("If", ["is"], [f"v{i + 1}"], then_branch=branch("Relu", i, f"t{i}"), else_branch=branch("Abs", i, f"e{i}"))
                    for i in range(count)]


class ManyNodes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = harness.scratch() / "many_nodes"
        cls.folder.mkdir(exist_ok=True)

    def took(self, name, content, *command):
        path = self.folder / f"{name}.onnx"
        path.write_bytes(content)
        code, _, err, seconds, mib = harness.measured(harness.WFC, "model", command[0], path, *command[1:])
        self.assertEqual(code, 0, err)
        return seconds, mib

    def check(self, name, content, most_bytes, most_seconds, count=NODES):
        """most_bytes: of memory for each node, the file itself among them; without the rest of the process."""
        for command in (("inspect",), ("run", "--random=1")):
            _, base = self.took("one", file(chain("Relu", count=1), "1"), *command)
            seconds, mib = self.took(name, content, *command)
            with self.subTest(name, command=command[0]):
                if IS_MEASURED:
                    self.assertLess((mib - base) * 2**20 / count, most_bytes)
                    self.assertLess(seconds, most_seconds)

    def test_chains(self):
        last = f"{NODES:x}"
        self.check("relu", file(chain("Relu"), last), 950, 5)
        self.check("add", file(chain("Add", "x"), last), 950, 5)
        self.check("identity", file(chain("Identity"), last), 950, 5)

    def test_a_tree(self):
        self.check("tree", file(*tree()), 950, 5)

    def test_constants(self):
        constants = [node("Constant", [], [f"c{i:x}"], value_ints=[i % 100]) for i in range(NODES)]
        self.check("constants", file([*constants, node("Relu", ["x"], ["y"])], "y"), 750, 5)

    def test_weights(self):
        nodes = [node("Add", [f"{i:x}" if i else "x", f"w{i:x}"], [f"{i + 1:x}"]) for i in range(NODES)]
        self.check("weights", file(nodes, f"{NODES:x}", [initializer(f"w{i:x}", (1, 4), bytes(16)) for i in range(NODES)]), 2000, 10)

    def test_branches(self):
        count = NODES // 10
        self.check("branches", file(branches(count), f"v{count}"), 4000, 5, count)


if __name__ == "__main__":
    harness.main()
