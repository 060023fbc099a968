"""Makes a case that differs smaller: fewer nodes, inputs in the place of what nodes compute."""
from graph import Case, Value, captured, case_of
from oracle import Refused, Session


def answered(case):
    return Session(case.model()).run(case.feeds())


def with_leaf(case, name, array):
    """`name` is an input; nodes that then nobody needs are gone."""
    leaves = [*case.leaves, Value(name, array, False, True)]
    nodes = [node for node in case.nodes if name not in node.outputs]
    return pruned(Case(nodes, leaves, case.outputs, case.opset, case.symbolic))


def pruned(case):
    needed, nodes = set(case.outputs), []
    for node in reversed(case.nodes):
        if needed.intersection(node.outputs):
            nodes.insert(0, node)
            needed.update(node.inputs)
    return Case(nodes, [leaf for leaf in case.leaves if leaf.name in needed], case.outputs, case.opset, case.symbolic)


def smaller_ones(case, values):
    """Cases with less in them, the smallest first."""
    for node in case.nodes:
        for name in filter(None, node.outputs):
            if [name] != case.outputs:
                yield pruned(Case(case.nodes, case.leaves, [name], case.opset, case.symbolic))
    for node in case.nodes[:-1]:
        names = [name for name in node.outputs if name]
        if len(names) == 1 and names[0] not in case.outputs:
            yield with_leaf(case, names[0], values[names[0]].array)
    for output in case.outputs if len(case.outputs) > 1 else ():
        yield pruned(Case(case.nodes, case.leaves, [each for each in case.outputs if each != output], case.opset, case.symbolic))
    if case.symbolic:
        yield Case(case.nodes, case.leaves, case.outputs, case.opset)


def shrunk(case, values, differs):
    """The smallest that still differs; `differs` takes a case and what it is to answer."""
    progress = True
    while progress:
        progress = False
        for smaller in smaller_ones(case, values):
            if not smaller.nodes or (len(smaller.nodes), len(smaller.leaves), len(smaller.outputs)) == (len(case.nodes), len(case.leaves), len(case.outputs)) and smaller.symbolic == case.symbolic:
                continue
            try:
                wanted = answered(smaller)
            except Refused:
                continue
            if differs(smaller, wanted):
                case, progress = smaller, True
                break
    return case
