#!/usr/bin/env python3
"""Where more waits than threads can take, what is `high` is answered before what is `low`, in the pool and in the queue of a model, and what is `low` is answered all the same."""
import select

import harness
import onnx_file

SOURCE = """
model Wide = onnx("wide.onnx");

fn slow(seed: i64) -> f64 = sum[k < 3_000_000](f64(k % 7) * 0.5 + f64(seed));
fn x_of(seed: i64) -> f32[1024] = [i] => f32(i * seed % 17) / 17.0;

workflow Soon(seed: i64) -> (y: f64) { node y = slow(seed) { priority high; } return (y: y); }
workflow Later(seed: i64) -> (y: f64) { node y = slow(seed) { priority low; } return (y: y); }
workflow SoonRow(seed: i64) -> (y: f32) { node y = Wide(x: x_of(seed)) { priority high; batch 1; queue 256; instances 1; } return (y: y[0]); }
workflow LaterRow(seed: i64) -> (y: f32) { node y = Wide(x: x_of(seed)) { priority low; batch 1; queue 256; instances 1; } return (y: y[0]); }
service Orders { workflow Soon; workflow Later; workflow SoonRow; workflow LaterRow; }
"""
LOW, HIGH = 60, 10


def source():
    path = harness.scratch() / "orders.wf"
    (harness.scratch() / "wide.onnx").write_bytes(onnx_file.perceptron(1024, 8192))
    path.write_text(SOURCE)
    return path


class Priorities(harness.ServerCase):
    source = source()
    args = ("--io-threads", "1", "--compute-threads", "2", "--schedule", "pool")

    def order(self, high, low):
        """Who is answered, one after the other: all that is low was asked before."""
        asked = {}
        for workflow in [low] * LOW + [high] * HIGH:
            connection = self.server.connect()
            self.addCleanup(connection.close)
            asked[connection.socket] = (connection, workflow)
        for connection, workflow in asked.values():
            connection.send(harness.request("POST", f"/Orders/{workflow}", b'{"seed": 3}'))
        answered = []
        while asked:
            ready = select.select(list(asked), [], [], 60)[0]
            self.assertTrue(ready)
            for one in ready:
                connection, workflow = asked.pop(one)
                self.assertEqual(connection.receive().status, 200)
                answered.append(workflow)
        return answered

    @harness.timed
    def check(self, high, low):
        order = self.order(high, low)
        last = len(order) - 1 - order[::-1].index(high)
        print(f"{high}: the last of {HIGH} is answered as number {last + 1} of {len(order)}")
        self.assertLess(last, len(order) - LOW / 3)  # those that had begun, and those that have waited for long, go before

    def test_in_the_pool(self):
        self.check("Soon", "Later")

    def test_in_the_queue_of_a_model(self):
        self.check("SoonRow", "LaterRow")


if __name__ == "__main__":
    harness.main()
