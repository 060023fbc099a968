#!/usr/bin/env python3
"""Stages, a node's timeout, and fallbacks that say why they were taken."""
import time

import harness


class Fallback(harness.ServerCase):
    source = harness.EXAMPLES / "fallback/fallback.wf"

    def pi(self, **parameters):
        reply = self.server.post("/Numbers/Pi", parameters)
        self.assertEqual(reply.status, 200, reply)
        return reply.json

    def test_the_first_choice_when_it_is_in_time(self):
        answer = self.pi(terms=1000)
        self.assertEqual(answer["how"], "series")
        self.assertAlmostEqual(answer["value"], 3.1405926538, places=8)

    def test_a_failure_takes_the_fallback_and_names_its_code(self):
        answer = self.pi(terms=0)
        self.assertEqual(answer["how"], "fraction, for 100001")
        self.assertAlmostEqual(answer["value"], 355 / 113, places=12)

    def test_a_timeout_takes_the_fallback_without_waiting_for_the_work(self):
        started = time.monotonic()
        answer = self.pi(terms=20_000_000_000)  # tens of seconds
        self.assertEqual(answer["how"], "fraction, for 6000")
        self.assertLess(time.monotonic() - started, 5)

    def test_abandoned_work_does_not_stay(self):
        for _ in range(8):
            self.pi(terms=20_000_000_000)
        self.assertEqual(self.server.settled("wf_abandoned_inflight"), 0)
        self.assertEqual(self.pi(terms=1000)["how"], "series")


if __name__ == "__main__":
    harness.main()
