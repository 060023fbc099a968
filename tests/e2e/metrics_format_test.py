#!/usr/bin/env python3
"""/metrics as Prometheus reads it: its own parser, and what its text format and its histograms promise, while requests of all kinds are under way."""
import threading

import harness

harness.in_environment()

from prometheus_client.parser import text_string_to_metric_families  # noqa: E402

DIGITS = harness.EXAMPLES / "digits"


def problems(text):
    """What breaks the format, or contradicts itself."""
    families, seen = {}, set()
    for family in text_string_to_metric_families(text):
        if family.name in families:
            yield f"{family.name} comes twice"
        if family.type == "unknown" or not family.documentation:
            yield f"{family.name} has no type or no help"
        families[family.name] = family
        for sample in family.samples:
            key = (sample.name, tuple(sorted(sample.labels.items())))
            if key in seen:
                yield f"{key} comes twice"
            seen.add(key)
            if family.type in ("counter", "histogram") and not sample.value >= 0:
                yield f"{key} is {sample.value}"
        if family.type == "histogram":
            yield from problems_of_histogram(family)


def problems_of_histogram(family):
    series = {}
    for sample in family.samples:
        labels = {name: value for name, value in sample.labels.items() if name != "le"}
        one = series.setdefault(tuple(sorted(labels.items())), {"buckets": []})
        if sample.name.endswith("_bucket"):
            one["buckets"].append((float(sample.labels["le"]), sample.value))
        else:
            one[sample.name.removeprefix(family.name)] = sample.value
    for labels, one in series.items():
        bounds, counts = zip(*one["buckets"])
        if list(bounds) != sorted(set(bounds)) or bounds[-1] != float("inf"):
            yield f"{family.name} {labels} has bounds {bounds}"
        if list(counts) != sorted(counts):
            yield f"{family.name} {labels} has counts that fall: {counts}"
        if counts[-1] != one["_count"] or "_sum" not in one:
            yield f"{family.name} {labels}: {counts[-1]} in buckets of {one.get('_count')}, sum {one.get('_sum')}"


class Format(harness.ServerCase):
    source = DIGITS / "digits.wf"
    args = ("--model-root", DIGITS)

    def scrape(self):
        return self.server.call("GET", "/metrics", port="admin")

    def test_prometheus_reads_it_while_requests_come_and_fail(self):
        picture = (DIGITS / "testdata/seven.png").read_bytes()
        stop = threading.Event()

        def load():
            while not stop.is_set():
                self.server.call("POST", "/DigitService/Classify", picture, {"content-type": "application/octet-stream"})
                self.server.call("POST", "/DigitService/Classify", b"none", {"content-type": "application/octet-stream"})
                self.server.call("GET", "/no\"where\\")
                self.server.call("POST", "/v2/models/Classify/infer", b"{}", {"content-type": "application/json"})

        threads = [threading.Thread(target=load) for _ in range(4)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(20):
                reply = self.scrape()
                self.assertTrue(reply.headers["content-type"].startswith("text/plain; version=0.0.4"), reply.headers)
                self.assertEqual(list(problems(reply.body.decode())), [])
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        names = {family.name for family in text_string_to_metric_families(self.scrape().body.decode())}
        self.assertLessEqual({"wf_requests", "wf_request_duration_seconds", "wf_node_compute_seconds", "wf_batch_size", "wf_build_info"}, names)


if __name__ == "__main__":
    harness.main()
