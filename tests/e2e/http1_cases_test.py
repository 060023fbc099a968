#!/usr/bin/env python3
"""Every transcript of tests/protocol/http1, sent to a server: as many answers as it tells of requests, the error that it ends in, the connection left as it should be."""
import harness
import http1_cases


class Transcripts(harness.ServerCase):
    source = harness.EXAMPLES / "hello/hello.wf"

    def test_each_is_served_as_it_says(self):
        cases = http1_cases.cases()
        self.assertGreaterEqual(len(cases), 500)
        for case, answers in http1_cases.ask_all(http1_cases.served, self.server.addresses["http"], cases):
            with self.subTest(case=case.name):
                self.assertEqual(answers.end, case.end, answers.data[:400])
                self.assertEqual(len(answers.statuses), len(case.statuses), answers.data[:400])
                for is_, wanted in zip(answers.statuses, case.statuses):
                    self.assertTrue(is_ == wanted or wanted is None and 200 <= is_ < 600 and is_ != 500, answers)
                self.assertIsNone(http1_cases.LEAKS.search(answers.data), answers.data)
        self.assertEqual(self.server.post("/Hello/Greet", {"name": "Ada"}).json, {"text": "hello, Ada"})
        self.assertEqual(self.server.settled("wf_inflight_requests"), 0)


if __name__ == "__main__":
    harness.main()
