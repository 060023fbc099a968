#!/usr/bin/env python3
"""The dashboard and the alerts of docs/monitoring ask for series and labels that a server has: held against the metrics of one that has served, failed and refused."""
import json
import re
import shutil
import subprocess
import threading

import harness

harness.in_environment()

import yaml  # noqa: E402
from prometheus_client.parser import text_string_to_metric_families  # noqa: E402

MONITORING = harness.ROOT / "docs/monitoring"
DIGITS = harness.EXAMPLES / "digits"
OF_PROMETHEUS = {"job", "instance"}  # labels that it adds itself
WORDS = {"by", "without", "on", "ignoring", "group_left", "group_right", "and", "or", "unless", "bool", "offset"}
SELECTOR = re.compile(r"([a-zA-Z_:][\w:]*)\s*(\{[^{}]*(?:\{\d+\}[^{}]*)*\})?")
MATCHER = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"')
GROUPING = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)")


def labels_of(grouping):
    return {label.strip() for label in grouping.split(",") if label.strip()}


class Query:
    """The selectors and the groupings of an expression: enough of the language for what stands in these files."""
    def __init__(self, text):
        self.text = text
        self.groupings = set().union(*map(labels_of, GROUPING.findall(text)))
        rest = re.sub(r"\[[^\[\]]*\](?=[\s),]|$)", "", GROUPING.sub("", text))
        self.selectors = []
        for found in SELECTOR.finditer(rest):
            name, matchers = found.groups()
            called = rest[found.end():].lstrip().startswith("(")
            if name not in WORDS and not called:
                self.selectors.append((name, MATCHER.findall(matchers or "")))


def dashboard():
    return json.loads((MONITORING / "grafana.json").read_text())


def rules():
    (group,) = yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"]
    return group["rules"]


def published_as(name):
    """The example, whose service publishes its workflow by another name than it is declared with."""
    folder = harness.scratch() / "digits"
    shutil.copytree(DIGITS, folder)
    source = folder / "digits.wf"
    source.write_text(source.read_text().replace("  workflow Classify;", f'  workflow Classify as "{name}";'))
    return source


class Monitoring(harness.ServerCase):
    source = published_as("classify")
    args = ("--model-root", DIGITS, "--schedule", "pool", "--limits-inflight", "2", *harness.patient())

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        picture = (DIGITS / "testdata/seven.png").read_bytes()

        def ask():
            for body in (picture, b"none") * 4:
                cls.server.call("POST", "/DigitService/classify", body, {"content-type": "application/octet-stream"})
        threads = [threading.Thread(target=ask) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        text = cls.server.call("GET", "/metrics", port="admin").body.decode()
        cls.series = {}
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                cls.series.setdefault(sample.name, []).append(sample.labels)

    def values(self, name, label):
        return {labels[label] for labels in self.series[name] if label in labels}

    def offered_by(self, variable, label):
        """What users choose from, where the variable is one of the label's values."""
        (query,) = (row["query"] for row in dashboard()["templating"]["list"] if row["name"] == variable)
        name, of = re.fullmatch(r"label_values\((\w+)(?:\{.*\})?, (\w+)\)", query).groups()
        return self.values(name, of) if of == label else set()

    def assert_answered(self, query, labels_wanted=()):
        """Each selector finds series, which have every label that the expression and its legend name."""
        query = Query(query)
        self.assertTrue(query.selectors, query.text)
        for name, matchers in query.selectors:
            if name == "up":
                continue
            self.assertIn(name, self.series, query.text)
            labels = set().union(*self.series[name]) | OF_PROMETHEUS
            self.assertLessEqual(query.groupings | set(labels_wanted), labels, f"{name} in {query.text}")
            for label, how, value in matchers:
                self.assertIn(label, labels, query.text)
                if value.startswith("$"):
                    self.assertTrue(self.offered_by(value[1:], label) & self.values(name, label) or label in OF_PROMETHEUS, query.text)
                if label in OF_PROMETHEUS or label == "code" or value.startswith("$") or how not in ("=", "=~"):
                    continue
                self.assertLessEqual(set(value.split("|")), self.values(name, label), query.text)
            codes = [value for label, _, value in matchers if label == "code"]
            for code in codes:
                self.assertTrue(any(re.fullmatch(code, str(number)) for number in range(10_000)), query.text)

    def test_every_panel_asks_for_what_there_is(self):
        for panel in dashboard()["panels"]:
            for target in panel["targets"]:
                with self.subTest(panel=panel["title"]):
                    self.assert_answered(target["expr"], re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))

    def test_variables_are_labels(self):
        board = dashboard()
        variables = {row["name"]: row for row in board["templating"]["list"]}
        used = set(re.findall(r"\$(\w+)", json.dumps([panel["targets"] for panel in board["panels"]]))) - {"__rate_interval"}
        self.assertEqual(used, set(variables) - {"datasource"})
        for row in variables.values():
            if row["type"] == "query":
                name, label = re.fullmatch(r"label_values\((\w+)(?:\{.*\})?, (\w+)\)", row["query"]).groups()
                self.assertIn(label, set().union(*self.series[name]) | OF_PROMETHEUS)

    def test_panels_have_places_of_their_own(self):
        panels = dashboard()["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        taken = [(x, y) for panel in panels for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
                 for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])]
        self.assertEqual(len(taken), len(set(taken)))
        self.assertLess(max(x for x, _ in taken), 24)

    def test_every_alert_asks_for_what_there_is(self):
        for rule in rules():
            with self.subTest(alert=rule["alert"]):
                self.assert_answered(rule["expr"])
                kept = Query(rule["expr"]).groupings
                told = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
                self.assertLessEqual(told, kept or OF_PROMETHEUS, rule)
                self.assertIn(rule["labels"]["severity"], ("page", "ticket"))

    @harness.unittest.skipUnless(shutil.which("promtool"), "promtool is missing; scripts/setup --bench installs it with prometheus")
    def test_prometheus_takes_the_rules_and_the_metrics(self):
        done = subprocess.run(["promtool", "check", "rules", MONITORING / "alerts.yml"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        text = self.server.call("GET", "/metrics", port="admin").body
        done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    harness.main()
