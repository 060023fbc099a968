"""Benchmarks of a trivial request and its answer: HTTP/1.1, HTTP/2, gRPC, loops, the tail."""
import grpc_call
import harness
import installed
import onnx_file
import overloading
import peers
import programs
from bench import Row, in_turns
from programs import GREET, GREET_BODY, HELLO, written

OF_NGINX = 0.65  # of nginx's rate that the framework itself is to reach
GREET_CALL = grpc_call.infer(b"Hello.Greet", b"name", b"Ada")


def against_nginx(options, server, path, body, connections=32, content_type="application/json", beside=None):
    """Medians of interleaved rounds: our rate and nginx's for the same request and a reply of the same bytes, and what `beside` measures in each."""
    nginx = peers.Nginx.like(server, path, body, content_type)
    try:
        peers.wrk(server.addresses["http"], path, body, 1, connections, content_type)
        rate = lambda address: lambda: peers.wrk(address, path, body, options.seconds, connections, content_type)
        found = in_turns(options.rounds, {"ours": rate(server.addresses["http"]), "nginx": rate(nginx.address), "beside": beside or (lambda: 0)})
        return tuple(found.values())
    finally:
        nginx.stop()


def started(start, *args):
    """A peer that may be missing: then that is told, and there is none."""
    try:
        return start(*args)
    except installed.Missing as why:
        print(f"# {why}", flush=True)
        return None


def same_answers(ask, servers):
    """What is compared must answer alike; a peer that is missing answers nothing."""
    answers = {name: ask(server) for name, server in servers.items() if server is not None}
    if len(set(answers.values())) != 1:
        raise AssertionError(f"the servers answer differently: {answers}")
    return answers


def http(options):
    """a trivial JSON workflow against nginx's `return 200`, and a model that hands on against Node with onnxruntime-node, one core each"""
    server = peers.start_server(HELLO)
    ours, theirs, _ = against_nginx(options, server, GREET, GREET_BODY, 64)
    server.stop()
    yield Row("http-json-trivial", ours, theirs, "req/s", "nginx return 200", 0.85)
    yield http_model(options)


HAND_ON = """package bench.hand_on;

model HandOn = onnx("hand_on.onnx");

workflow Same(x: f32[4]) -> (y: f32[4]) {
  node y = HandOn(x) { queue 64; }
  return (y: y);
}

service Bench {
  workflow Same;
}
"""
FOUR_NUMBERS = b'{"x":[0.5,1.25,-2,1000]}'


def http_model(options):
    """Four numbers as JSON through the same file of a model."""
    file = harness.scratch() / "hand_on.onnx"
    file.write_bytes(onnx_file.model([onnx_file.node("Identity", ["x"], ["y"])], [], [onnx_file.value_info("x", (1, 4))], [onnx_file.value_info("y", (1, 4))]))
    server = peers.start_server(written("hand_on.wf", HAND_ON))
    node = started(installed.node, file)
    addresses = {"ours": server.addresses["http"], "Node": node and node.address}
    try:
        same_answers(lambda address: peers.http_answer(address, "/Bench/Same", FOUR_NUMBERS), addresses)
        rates = in_turns(options.rounds, {name: lambda address=address: peers.wrk(address, "/Bench/Same", FOUR_NUMBERS, options.seconds, 64)
                                          for name, address in addresses.items() if address})
        return Row("http-json-model", rates["ours"], rates.get("Node"), "req/s", "Node + onnxruntime-node", 4)
    finally:
        if node:
            node.stop()
        server.stop()


def http2(options):
    """the trivial workflow over HTTP/2 on few connections with many streams, and on many with one"""
    server = peers.start_server(HELLO)
    nginx = peers.Nginx.like(server, GREET, GREET_BODY, protocol="http2")
    try:
        for connections, streams in ((10, 10), (64, 1)):
            rate = lambda address: lambda: peers.h2load(address, GREET, GREET_BODY, options.seconds, connections, streams)
            found = in_turns(options.rounds, {"ours": rate(server.addresses["http"]), "nginx": rate(nginx.address)})
            yield Row(f"http2-json-trivial-c{connections}-m{streams}", found["ours"], found["nginx"], "req/s", "nginx return 200", OF_NGINX)
    finally:
        nginx.stop()
        server.stop()


def grpc(options):
    """the same as calls of gRPC, on few connections and on many, against Google's gRPC in C++ in the better of its two ways"""
    server = peers.start_server(HELLO)
    ways = {way: peers.GoogleGrpc(way) for way in ("callback", "queue")}
    addresses = {"ours": server.addresses["grpc"], **{way: peer.address for way, peer in ways.items()}}
    try:
        answers = same_answers(lambda address: peers.grpc_answer(address, grpc_call.PATH, GREET_CALL), addresses)
        if not answers["ours"].endswith(b"hello, Ada"):
            raise AssertionError(f"no greeting: {answers}")
        for connections, streams, goal in ((10, 10, 3.3), (64, 1, 1.6)):
            rates = in_turns(options.rounds, {name: lambda address=address: peers.h2load(address, grpc_call.PATH, GREET_CALL, options.seconds, connections, streams,
                                                                                        grpc_call.HEADERS) for name, address in addresses.items()})
            best = max(ways, key=rates.get)
            yield Row(f"grpc-trivial-c{connections}-m{streams}", rates["ours"], rates[best], "calls/s", f"gRPC C++, {best}", goal)
    finally:
        for way in ways.values():
            way.stop()
        server.stop()


def loops(options):
    """two loops against one: a `fn` of 500 us on the loops themselves, and the trivial workflow"""
    def rates(source, path, bodies, connections, *args):
        servers = {count: peers.start_server(source, *args, loops=count) for count in (1, 2)}
        try:
            body = bodies(servers[1])
            found = in_turns(options.rounds, {count: lambda server=server: peers.wrk(server.addresses["http"], path, body, options.seconds, connections, cpus=peers.REST)
                                              for count, server in servers.items()})
            return found[2], found[1]
        finally:
            for server in servers.values():
                server.stop()

    if len(peers.LOOPS) < 2:
        print("# two loops are not faster than one: there is one core", flush=True)
    two, one = rates(overloading.overload.source(), "/Overload/Work", lambda server: overloading.overload.work_of(server, 0.0005).encode(), 6, "--schedule=inline")
    print(f"# one loop answered {one:.0f}/s, so that a request took {1e6 / one:.0f} us", flush=True)
    yield Row("loops-2-fn-500us", two, one, "req/s", "one loop", 1.8)
    two, one = rates(HELLO, GREET, lambda _: GREET_BODY, 64)
    yield Row("loops-2-trivial", two, one, "req/s", "one loop", 0.9)


def tail(options):
    """the slowest of a thousand answers at half of what the server can do, against nginx at the same rate; --minutes 10 for ten minutes of each"""
    seconds, slices = (60, options.minutes) if options.minutes else (options.seconds, options.rounds)
    server = peers.start_server(HELLO)
    nginx = peers.Nginx.like(server, GREET, GREET_BODY)
    try:
        rate = int(peers.wrk(server.addresses["http"], GREET, GREET_BODY, options.seconds, 64) / 2)
        wrong = {"ours": 0, "nginx": 0}

        def slowest(name, address):
            seen = peers.at_rate(address, GREET, GREET_BODY, rate, seconds)
            wrong[name] += seen["answered"] - seen["statuses"].get("200", 0) + seen["lost"] + seen["timed_out"] + seen["refused"]
            late = seen["not_sent"] > (seen["answered"] + seen["not_sent"]) / 1000  # then the slowest of a thousand is none of those answered
            return float("inf") if late else seen["latency_seconds"]["p999"] * 1e6

        found = in_turns(slices, {name: lambda name=name, address=address: slowest(name, address)
                                  for name, address in (("ours", server.addresses["http"]), ("nginx", nginx.address))})
        if wrong["nginx"]:
            print(f"# nginx fails {wrong['nginx']} requests", flush=True)
        yield Row("tail-p99.9-half-load", found["ours"], found["nginx"], "us", f"nginx at {rate:,}/s", 1 / 1.3, higher_is_better=False)
        yield Row("tail-errors", wrong["ours"], 0, "requests", "goal (none)", 1, higher_is_better=False)
    finally:
        nginx.stop()
        server.stop()
