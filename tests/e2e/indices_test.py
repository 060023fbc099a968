#!/usr/bin/env python3
"""Random indices of i64 against Python, for numbers at the ends of the type: what is proved to lie within an axis is not checked, so a wrong proof reads elsewhere.

Each function reads `x: f32[10]` at an expression of what a request gives (n, m, and h, the length of a tensor that nobody keeps) and of the loop's own index."""
import random

import harness

FUNCTIONS = 20 if harness.IS_SANITIZED else 60
CALLS = 14  # of each
EXTENT, ELEMENTS = 3, 10  # of the result, of what is read: each element is its own index
CONSTANTS = (0, 1, 2, 3, 5, 7, 9, 10, -1, -2, -5, 100, 1 << 20, 1 << 31, 1 << 40, 1 << 62, 2**63 - 1, -(1 << 62))
NUMBERS = (0, 1, -1, 3, 9, 10, 2**63 - 1, -(2**63), 1 << 62, 1 << 40, 12345)
LENGTHS = (3, 4, 10, 1 << 40, 1 << 62, 2**63 - 1)
FORMS = (
    "[i] => x[{at}]",
    "let back: f32[h] = [i] => x[{at}]; back[0:3]",
    "let ramp: f32[h] = [j] => x[9] * f32(j); let at: i64[3] = [i] => {at}; [i] => x[at[i]]",
)
FAILURES = {7001, 7002}  # no such element; a division by 0
LENGTH_FAILURES = FAILURES | {3012, 7004}
dice = random.Random(37)


class Fails(Exception):
    pass


def wrapped(value):
    return (value + 2**63) % 2**64 - 2**63


def drawn(depth):
    """('n',), (constant,) or (operation, operands...), which the checker cannot compute: no operation has constants alone."""
    if depth == 0 or dice.random() < 0.12:
        return (dice.choice("nmhi"),) if dice.random() < 0.65 else (dice.choice(CONSTANTS),)
    operation = dice.choice(("+", "-", "*", "/", "%", "min", "max", "min", "max", "if", "clip", "from 0", "from 0"))
    if operation == "from 0":  # which lies within the axis, unless it wraps
        natural = (dice.choice("+*-"), ("max", varied(depth - 1), (0,)), (dice.choice((1, 2, 5, -1, 1 << 40, 2**63 - 1)),))
        return dice.choice((("min", natural, (9,)), ("%", natural, (10,)), ("min", ("/", natural, (3,)), (9,))))
    if operation == "clip":
        return ("min", ("max", varied(depth - 1), (dice.choice((0, 0, 0, 1, -1)),)), (dice.choice((9, 9, 9, 8, 10, 3)),))
    if operation in "/%" and dice.random() < 0.8:
        return (operation, varied(depth - 1), (dice.choice((1, 2, 3, 7, 10, -1, -3, -10, 1 << 40)),))
    return (operation, varied(depth - 1), *(drawn(depth - 1) for _ in range(3 if operation == "if" else 1)))


def varied(depth):
    """One that has a name in it."""
    while True:
        found = drawn(depth)
        if isinstance(found[0], str):
            return found


def written(tree):
    head, *rest = tree
    if isinstance(head, int):
        return str(head) if head >= 0 else f"(0 - {-head})"
    parts = [written(part) for part in rest]
    if head == "if":
        return "(if {} < {} {{ {} }} else {{ {} }})".format(*parts)
    if head in ("min", "max"):
        return f"{head}({', '.join(parts)})"
    return f"({parts[0]} {head} {parts[1]})" if parts else head


def value(tree, names):
    head, *rest = tree
    if isinstance(head, int):
        return head
    if not rest:
        return names[head]
    if head == "if":
        return value(rest[2 if value(rest[0], names) < value(rest[1], names) else 3], names)
    a, b = (value(part, names) for part in rest)
    if head in "/%":
        if b == 0:
            raise Fails
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return wrapped(quotient if head == "/" else a - quotient * b)
    return {"+": wrapped(a + b), "-": wrapped(a - b), "*": wrapped(a * b), "min": min(a, b), "max": max(a, b)}[head]


def wanted(tree, names):
    """The elements, or nothing where one of them fails."""
    try:
        found = [value(tree, {**names, "i": i}) for i in range(EXTENT)]
    except Fails:
        return None
    return found if all(0 <= at < ELEMENTS for at in found) else None


class Indices(harness.ServerCase):
    @classmethod
    def setUpClass(cls):
        cls.trees = [varied(dice.choice((2, 3, 4))) for _ in range(FUNCTIONS)]
        lines = []
        for k, tree in enumerate(cls.trees):
            body = FORMS[k % len(FORMS)].format(at=written(tree))
            lines.append(f"fn pick{k}(n: i64, m: i64, h: i64, x: f32[10]) -> f32[3] {{ {body} }}\n"
                         f"workflow W{k}(n: i64, m: i64, h: i64, x: f32[10]) -> (y: f32[3]) {{ node y = pick{k}(n, m, h, x); return (y: y); }}\n")
        path = harness.scratch() / "indices.wf"
        path.write_text("".join(lines) + "service S { " + " ".join(f"workflow W{k};" for k in range(FUNCTIONS)) + " }\n")
        cls.source = path
        super().setUpClass()

    def test_each_is_read_or_refused_as_python_says(self):
        read = refused = 0
        for k, tree in enumerate(self.trees):
            for call in range(CALLS):
                names = {"n": dice.choice(NUMBERS), "m": dice.choice(NUMBERS), "h": EXTENT if 2 * call < CALLS else dice.choice(LENGTHS)}
                reply = self.server.post(f"/S/W{k}", {**names, "x": list(range(ELEMENTS))})
                with self.subTest(f"pick{k}", index=written(tree), **names):
                    if reply.status == 200:
                        self.assertEqual(reply.json["y"], wanted(tree, names))
                        read += 1
                        continue
                    refused += 1
                    self.assertIn(reply.json["error"]["code"], FAILURES if names["h"] == EXTENT else LENGTH_FAILURES)
                    if names["h"] == EXTENT:
                        self.assertIsNone(wanted(tree, names))
        self.assertGreater(read, FUNCTIONS)
        self.assertGreater(refused, FUNCTIONS)


if __name__ == "__main__":
    harness.main()
