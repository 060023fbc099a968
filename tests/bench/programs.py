"""What is measured: examples and their requests, and programs of any size."""
import harness
import lsp_wire

HELLO = harness.EXAMPLES / "hello/hello.wf"
DIGITS = harness.EXAMPLES / "digits/digits.wf"
GREET, GREET_BODY = "/Hello/Greet", b'{"name":"Ada"}'
CLASSIFY = "/DigitService/Classify"


def seven():
    return (DIGITS.parent / "testdata/seven.png").read_bytes()


def written(name, text):
    source = harness.scratch() / name
    source.write_text(text)
    return source


def functions_and_workflows(lines):
    return lsp_wire.big_program(lines)


def service(parameters, nodes, result):
    head = "package bench.nodes;\n\nworkflow Nodes(" + ", ".join(f"{name}: f32[64]" for name in parameters) + ") -> (y: f32[64]) {\n"
    return head + "".join(f"  node {name}: f32[64] = {value};\n" for name, value in nodes) + f"  return (y: {result});\n}}\n\nservice Bench {{\n  workflow Nodes;\n}}\n"


def chain(count):
    """Each node reads the one before."""
    nodes = [(f"n{i}", f"[k] => {'x' if i == 0 else f'n{i - 1}'}[k] * {i % 7 + 1}.5 + 1.0") for i in range(count)]
    return service(["x"], nodes, f"n{count - 1}")


def trivial_chains(counts):
    """A workflow Nodes<count> for each: nodes that hand a tensor on, each to the next."""
    def workflow(count):
        nodes = "".join(f"  node n{i} = [k < n] => {f'n{i - 1}' if i else 'x'}[k];\n" for i in range(count))
        return f"workflow Nodes{count}(x: f32[n]) -> (y: f32[n]) {{\n{nodes}  return (y: n{count - 1});\n}}\n\n"

    return "package bench.chains;\n\n" + "".join(map(workflow, counts)) + "service Chains {\n" + "".join(f"  workflow Nodes{count};\n" for count in counts) + "}\n"


def fan(count):
    """Half the nodes read the parameter; the others join two earlier ones each, until one is left."""
    nodes = [(f"n{i}", f"[k] => x[k] * {i % 7 + 1}.5") for i in range((count + 2) // 2)]
    while len(nodes) < count:
        first = 2 * (len(nodes) - (count + 2) // 2)
        nodes.append((f"n{len(nodes)}", f"[k] => n{first}[k] + n{first + 1}[k]"))
    return service(["x"], nodes, f"n{len(nodes) - 1}")


def matrices(parameters, values, number="", constants=""):
    """A node for each, and a few that add them up, or a number in each."""
    nodes, left = [(f"n{i}", value) for i, value in enumerate(values)], [f"n{i}{number}" for i in range(len(values))]
    while len(left) > 1:
        added = [(f"t{len(nodes) + i}", " + ".join(left[first:first + 20])) for i, first in enumerate(range(0, len(left), 20))]
        nodes += added
        left = [name for name, _ in added]
    lines = "".join(f"  node {name} = {value};\n" for name, value in nodes)
    return f"package bench.nodes;\n\n{constants}workflow Nodes({parameters}) -> (z: f32) {{\n{lines}  return (z: {left[0]});\n}}\n\nservice Bench {{\n  workflow Nodes;\n}}\n"


def sums(count):
    """Each adds up a matrix, and has a literal of its own."""
    return matrices("x: f32[m, k]", [f"sum[i < m, j < k](x[i, j] * 0.{i + 1001})" for i in range(count)])


def products(count):
    """Each is a product of matrices, and has a literal of its own in it."""
    return matrices("x: f32[m, k], y: f32[k, n]", [f"[i < m, j < n] => sum[l < k](x[i, l] * y[l, j] * 0.{i + 1001})" for i in range(count)], "[0, 0]")


def weights(count):
    """Each multiplies by a matrix of its own."""
    rows = [[f"[{', '.join(f'{(i * 7 + k * 13 + j * 5) % 97}.5' for j in range(9))}]" for k in range(17)] for i in range(count)]
    constants = "".join(f"const W{i}: f32[17, 9] = [{', '.join(lines)}];\n" for i, lines in enumerate(rows))
    return matrices("x: f32[m, 17]", [f"[i < m, j < 9] => sum[l < 17](x[i, l] * W{i}[l, j])" for i in range(count)], "[0, 0]", constants + "\n")


def shapes(count):
    """Each is a product of two matrices whose extents no other has."""
    parameters = ", ".join(f"a{i}: f32[{3 + i}, 5], b{i}: f32[5, {7 + i}]" for i in range(count))
    return matrices(parameters, [f"[i < {3 + i}, j < {7 + i}] => sum[l < 5](a{i}[i, l] * b{i}[l, j])" for i in range(count)], "[0, 0]")


def joined(count):
    """All are read by the last."""
    nodes = [(f"n{i}", f"[k] => x[k] * {i % 7 + 1}.5") for i in range(count - 1)]
    return service(["x"], [*nodes, ("whole", "[k] => " + " + ".join(f"{name}[k]" for name, _ in nodes))], "whole")


SHAPES = (chain, fan, sums, products, weights, shapes, joined)
