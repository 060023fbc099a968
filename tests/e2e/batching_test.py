#!/usr/bin/env python3
"""Requests of different connections share runs of the model, and each gets its own answer."""
import harness
from digits_test import DIGITS, held_out

CONNECTIONS = 64
ROUNDS = 20
LEAST_MEAN = 4


class Batching(harness.ServerCase):
    source = DIGITS / "digits.wf"
    args = ("--schedule=pool",)

    def test_64_connections_fill_batches_and_keep_their_own_answers(self):
        pictures = held_out()[:CONNECTIONS]
        requests = [harness.request("POST", "/DigitService/Classify?top=10", picture) for picture, _ in pictures]
        with self.server.connect() as connection:
            alone = []
            for data in requests:
                connection.send(data)
                alone.append(connection.receive().json)
        rows, runs = (self.server.metric_sum("wf_batch_size" + part) for part in ("_sum", "_count"))
        connections = [self.server.connect() for _ in range(CONNECTIONS)]
        for _ in range(ROUNDS):
            for connection, data in zip(connections, requests):
                connection.send(data)
            for connection, expected in zip(connections, alone):
                answer = connection.receive().json
                # Runs of different sizes may differ in last bits: scores are close, and labels whose scores are clearly apart keep their order.
                self.assertEqual(answer["labels"][0], expected["labels"][0])
                found = dict(zip(answer["labels"], answer["scores"]))
                for label, score in zip(expected["labels"], expected["scores"]):
                    self.assertAlmostEqual(found[label], score, places=4)
        for connection in connections:
            connection.close()
        rows = self.server.metric_sum("wf_batch_size_sum") - rows
        runs = self.server.metric_sum("wf_batch_size_count") - runs
        print(f"batching: {rows:.0f} rows in {runs:.0f} runs, mean {rows / runs:.1f}")
        self.assertEqual(rows, CONNECTIONS * ROUNDS)
        self.assertGreater(rows / runs, LEAST_MEAN)


if __name__ == "__main__":
    harness.main()
