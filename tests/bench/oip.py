"""Benchmarks of tensors by the Open Inference Protocol over gRPC, beside Triton: there and back, and through chains of nodes."""
import grpc_call
import installed
import peers
import programs
from bench import Row, in_turns
from programs import written
from wire import started

IDENTITY = """package bench.identity;

workflow Same(x: f32[n]) -> (x: f32[n]) {
  return (x: x);
}

service Identity {
  workflow Same;
}
"""
IN_FLIGHT = {1: (1, 1), 16: (4, 4), 100: (10, 10)}  # connections and streams of each


def comes_back(address, call, tensor):
    if not peers.grpc_answer(address, grpc_call.PATH, call).endswith(tensor):
        raise AssertionError(f"the tensor does not come back from {address}")


def at_their_best(options, calls):
    """(calls a second, how many in flight) of each side at its best; `calls`: its address and the bytes of its call, by name."""
    rates = {name: {} for name in calls}
    for in_flight, shape in IN_FLIGHT.items():
        measures = {name: lambda address=address, call=call: peers.h2load(address, grpc_call.PATH, call, options.seconds, *shape, grpc_call.HEADERS, warm_up=0)
                    for name, (address, call) in calls.items()}
        for name, rate in in_turns(options.rounds, measures).items():
            rates[name][in_flight] = rate
    return {name: max((rate, in_flight) for in_flight, rate in each.items()) for name, each in rates.items()}


def processor_seconds(server, call, count):
    """What so many calls take of the processor: in user space, and in all."""
    before = peers.cpu_seconds(server.process.pid)
    peers.h2load_count(server.addresses["grpc"], grpc_call.PATH, call, count, *IN_FLIGHT[16], grpc_call.HEADERS)
    user, system = (after - earlier for after, earlier in zip(peers.cpu_seconds(server.process.pid), before))
    return user, user + system


def beside_triton(options, calls, tensor):
    """at_their_best of `ours` and, where it is there, `Triton`: both must answer with the tensor, before and after."""
    calls = {name: each for name, each in calls.items() if each is not None}
    for name, (address, call) in calls.items():
        comes_back(address, call, tensor)
    best = at_their_best(options, calls)
    for name, (address, call) in calls.items():  # h2load does not look at grpc-status
        comes_back(address, call, tensor)
    return best


def row_beside_triton(name, best, goal):
    (ours, in_flight), (theirs, their_in_flight) = best["ours"], best.get("Triton", (None, "-"))
    return Row(name, ours, theirs, "calls/s", f"Triton at {their_in_flight}, ours at {in_flight}", goal)


def oip(options):
    """a tensor there and back, few bytes and 600 kB, against Triton with its Python backend: each at the best of 1, 16 and 100 in flight"""
    server = peers.start_server(written("identity.wf", IDENTITY))
    triton = started(installed.triton)
    try:
        for floats, name in ((4, "16B"), (150_000, "600kB")):
            call = grpc_call.floats(b"Identity.Same", b"x", floats)
            best = beside_triton(options, {"ours": (server.addresses["grpc"], call), "Triton": triton and (triton.address, grpc_call.floats(b"identity", b"x", floats))},
                                 call[-4 * floats:])
            yield row_beside_triton(f"oip-grpc-{name}", best, 20)
        count, size = int(best["ours"][0] * options.seconds), 4 * floats
        seconds = in_turns(options.rounds, {"ours": lambda: processor_seconds(server, call, count)[1] / count, "echo": lambda: peers.echo_seconds(size, count)})
        per_core = {name: size / each / 1e9 for name, each in seconds.items()}
        yield Row("oip-grpc-600kB-per-core", per_core["ours"], 2, "GB/s", "goal, of each direction", 1)
        yield Row("oip-grpc-600kB-of-sockets", per_core["ours"], per_core["echo"], "GB/s", "sockets, without a protocol", 0)
    finally:
        if triton:
            triton.stop()
        server.stop()


CHAINS = (1, 3, 30, 300)


def chain(options):
    """chains of 1, 3, 30 and 300 trivial nodes: what a node takes, and three of them against Triton's ensemble of three"""
    server = peers.start_server(written("chains.wf", programs.trivial_chains(CHAINS)))
    triton = started(installed.triton)
    calls = {nodes: grpc_call.floats(f"Chains.Nodes{nodes}".encode(), b"x", 4) for nodes in CHAINS}
    try:
        rates = {}
        for nodes, call in calls.items():
            theirs = triton and nodes == 3 and (triton.address, grpc_call.floats(b"pipeline", b"x", 4))
            best = beside_triton(options, {"ours": (server.addresses["grpc"], call), "Triton": theirs or None}, call[-16:])
            rates[nodes] = best["ours"][0]
            yield row_beside_triton("chain-3", best, 40) if nodes == 3 else Row(f"chain-{nodes}", rates[nodes], rates[1], "calls/s", "a chain of one", 0)
        count = int(rates[CHAINS[-1]] * options.seconds)
        user = in_turns(options.rounds, {nodes: lambda call=calls[nodes]: processor_seconds(server, call, count)[0] for nodes in (CHAINS[0], CHAINS[-1])})
        a_node = (user[CHAINS[-1]] - user[CHAINS[0]]) / count / (CHAINS[-1] - CHAINS[0])
        yield Row("chain-per-node", a_node * 1e9, 100, "ns", "goal, in user space", 1, higher_is_better=False)
    finally:
        if triton:
            triton.stop()
        server.stop()
