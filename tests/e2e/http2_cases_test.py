#!/usr/bin/env python3
"""Every case of tests/protocol/http2, sent to a server: it ends the connection, the stream, or answers, as the RFC says."""
import harness

if __name__ == "__main__":
    harness.in_environment()

import http1_cases  # noqa: E402
import http2_cases  # noqa: E402


class Cases(harness.ServerCase):
    source = harness.EXAMPLES / "hello/hello.wf"

    def test_each_is_taken_as_it_says(self):
        cases = http2_cases.cases()
        self.assertGreaterEqual(len(cases), 250)
        self.assertEqual(len({case.name for case in cases}), len(cases), "two of one name")
        for case, outcome in http1_cases.ask_all(http2_cases.served, self.server.addresses["http"], cases):
            with self.subTest(case=case.name):
                self.assertRegex(case.cites, r"^\d{4} [\d.]+: ", "no section of an RFC")
                self.assertTrue(any(outcome.meets(facts) for facts in case.outcomes), f"{outcome}, not one of {case.outcomes}")
                self.assertIsNone(http1_cases.LEAKS.search(outcome.raw), outcome.raw)
        self.assertEqual(self.server.post("/Hello/Greet", {"name": "Ada"}).json, {"text": "hello, Ada"})
        self.assertEqual(self.server.settled("wf_inflight_requests"), 0)


if __name__ == "__main__":
    harness.main()
