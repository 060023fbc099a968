"""Programs of any size, to measure wfc with."""
import lsp_wire


def functions_and_workflows(lines):
    return lsp_wire.big_program(lines)


def service(parameters, nodes, result):
    head = "package bench.nodes;\n\nworkflow Nodes(" + ", ".join(f"{name}: f32[64]" for name in parameters) + ") -> (y: f32[64]) {\n"
    return head + "".join(f"  node {name}: f32[64] = {value};\n" for name, value in nodes) + f"  return (y: {result});\n}}\n\nservice Bench {{\n  workflow Nodes;\n}}\n"


def chain(count):
    """Each node reads the one before."""
    nodes = [(f"n{i}", f"[k] => {'x' if i == 0 else f'n{i - 1}'}[k] * {i % 7 + 1}.5 + 1.0") for i in range(count)]
    return service(["x"], nodes, f"n{count - 1}")


def fan(count):
    """Half the nodes read the parameter; the others join two earlier ones each, until one is left."""
    nodes = [(f"n{i}", f"[k] => x[k] * {i % 7 + 1}.5") for i in range((count + 2) // 2)]
    while len(nodes) < count:
        first = 2 * (len(nodes) - (count + 2) // 2)
        nodes.append((f"n{len(nodes)}", f"[k] => n{first}[k] + n{first + 1}[k]"))
    return service(["x"], nodes, f"n{len(nodes) - 1}")


SHAPES = (chain, fan)
