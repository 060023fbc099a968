"""The graph of a seed."""
import computing
import elementwise
import moving
import patterns
import special
from graph import Graph, case_of
from oracle import Refused

FAMILIES = (elementwise.PRODUCTIONS, moving.PRODUCTIONS, computing.PRODUCTIONS, patterns.PRODUCTIONS)
MOST_TRIES = 200


def generated(seed):
    """The graph and a case with its outputs."""
    graph = Graph(seed)
    wanted = graph.dice.randrange(1, 9)
    for _ in range(MOST_TRIES):
        production = graph.dice.choice(special.PRODUCTIONS if graph.chance(0.1) else graph.dice.choice(FAMILIES))
        try:
            production(graph)
        except Refused:
            continue
        wanted -= 1
        if wanted <= 0 and graph.nodes:
            break
    return graph, case_of(graph, graph.outputs())
