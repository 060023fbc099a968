#!/usr/bin/env python3
"""The Open Inference Protocol when the server is busy, late or draining, against the hand-written server of the unit tests."""
import json
import threading
import time
import unittest

import harness

IN_FLIGHT = 8  # of the service


def call(name, datatype, shape, data, **more):
    return json.dumps({"inputs": [{"name": name, "datatype": datatype, "shape": shape, "data": data}], **more}).encode()


def sleep(ms, **more):
    return "POST", "/v2/models/Sleep/infer", call("ms", "INT64", [], [ms], **more)


class OipLoad(unittest.TestCase):
    def setUp(self):
        self.server = harness.Server(harness.BUILD / "bin/wf_test_server", "--compute-threads", IN_FLIGHT)
        self.server.wait_ready()

    def tearDown(self):
        self.assertEqual(self.server.stop(), 0, self.server.output())

    def test_more_than_the_service_takes_is_unavailable(self):
        connections = [self.server.connect() for _ in range(IN_FLIGHT)]
        for connection in connections:
            connection.send(harness.request(*sleep(1500)))
        self.assertEqual(self.server.settled("wf_inflight_requests", IN_FLIGHT), IN_FLIGHT)
        refused = self.server.call(*sleep(0))
        self.assertEqual((refused.status, refused.headers["retry-after"], refused.json["code"]), (503, "1", 3010), refused)
        for connection in connections:
            with connection:
                self.assertEqual(connection.receive().status, 200)

    def test_the_timeout_of_a_call_is_unavailable(self):
        reply = self.server.call(*sleep(5000, parameters={"timeout": 20_000}))
        self.assertEqual((reply.status, reply.json["code"], reply.json["name"]), (503, 6000, "Timeout"), reply)

    def test_a_client_that_leaves_ends_its_call(self):
        with self.server.connect() as connection:
            connection.send(harness.request(*sleep(60_000)))
            time.sleep(0.1)
        self.assertEqual(self.server.settled("wf_inflight_requests"), 0)

    def test_statuses_follow_the_declared_error(self):
        reply = self.server.call("POST", "/v2/models/Test.Greet/infer", call("name", "BYTES", [2], ["a", "nobody"]))
        self.assertEqual((reply.status, reply.json["error"]), (404, "sample 1: nobody is there"), reply)
        reply = self.server.call("POST", "/v2/models/Test.Greet/infer", b"x" * (1 << 20) + b"x")
        self.assertEqual((reply.status, reply.json["code"]), (413, 5000), reply)

    def test_annotations_are_parameters(self):
        reply = self.server.call("POST", "/v2/models/Test/infer", call("name", "BYTES", [1], ["Ada"]))
        self.assertEqual(reply.json["parameters"], {"greeted": "Ada"})

    def test_calls_from_many_connections_at_once(self):
        bad = []

        def work(worker):
            with self.server.connect() as connection:
                for i in range(50):
                    reply = connection.call("POST", "/v2/models/Greet/infer", call("name", "BYTES", [3], [f"{worker}.{i}.{s}" for s in range(3)], id=f"{worker}.{i}"))
                    expected = [f"hello, {worker}.{i}.{s}" for s in range(3)]
                    if reply.status != 200 or reply.json["outputs"][0]["data"] != expected or reply.json["id"] != f"{worker}.{i}":
                        bad.append(reply)

        threads = [threading.Thread(target=work, args=(worker,)) for worker in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(bad, [])


if __name__ == "__main__":
    unittest.main()
