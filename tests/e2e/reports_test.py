#!/usr/bin/env python3
"""Reports of `wfc test` as others read them: TAP by perl's TAP::Parser, which `prove` is made of, JUnit by junitparser from PyPI."""
import json
import subprocess
import unittest

import harness

if __name__ == "__main__":
    harness.in_environment()

import junitparser  # noqa: E402

PASSING = "workflow Half(x: i64) -> (half: i64) {\n  return (half: x / 2);\n}\n\ntest \"halves\" {\n  expect Half(x: 4).half == 2;\n}\n"
MIXED = PASSING + r'''
test "not # SKIP, 100% <&> ]]> \\ \u{7} \u{1F600}" {
  expect Half(x: 4).half == 3;
}

test "halves twice" {
  expect Half(x: 8).half == 4;
}
'''

READ_TAP = r"""
use TAP::Parser;
use JSON::PP;
local $/;
my $parser = TAP::Parser->new({ tap => scalar <STDIN> });
my @tests;
while (my $result = $parser->next) {
  if ($result->is_test) { push @tests, { ok => $result->is_ok ? 1 : 0, name => $result->description, directive => $result->directive } }
  if ($result->is_yaml) { $tests[-1]{yaml} = $result->data }
}
print encode_json({ tests => \@tests, errors => [$parser->parse_errors], plan => $parser->tests_planned, good => $parser->is_good_plan ? 1 : 0 });
"""


def program(name, text):
    path = harness.scratch() / name
    path.write_text(text, encoding="utf-8")
    return path


class Reports(unittest.TestCase):
    def tap(self, *programs):
        report = harness.wfc("test", "--format=tap", *programs, check=False).stdout
        done = subprocess.run(["perl", "-e", READ_TAP], input=report.encode(), capture_output=True, check=True, timeout=60)
        return json.loads(done.stdout)

    def test_tap(self):
        read = self.tap(program("mixed.wf", MIXED), program("passing.wf", PASSING))
        self.assertEqual((read["errors"], read["plan"], read["good"]), ([], 4, 1))
        self.assertEqual([test["ok"] for test in read["tests"]], [1, 0, 1, 1])
        self.assertEqual([test["directive"] for test in read["tests"]], [""] * 4)
        self.assertIn("not # SKIP", read["tests"][1]["name"].replace("\\#", "#"))
        self.assertEqual(read["tests"][1]["yaml"]["message"], "does not hold")
        self.assertEqual(int(read["tests"][1]["yaml"]["line"]), 9)
        details = read["tests"][1]["yaml"]["details"].splitlines()
        self.assertEqual(details[0], "does not hold")
        self.assertIn("mixed.wf:10:", details[1])
        self.assertGreater(len(details), 3)  # lines below one another, not one long string

    def test_a_file_that_does_not_compile_is_told_once(self):
        broken = program("broken.wf", 'fn f() -> i64 = b;\n\ntest "t" {\n  expect f() == 1;\n}\n')
        report = harness.wfc("test", "--format=tap", broken, check=False).stdout
        self.assertEqual(report.count("does not compile"), 1, report)
        self.assertFalse(self.tap(broken)["tests"][0]["ok"])

    def test_prove_agrees(self):
        for name, text, status in (("good.wf", PASSING, 0), ("bad.wf", MIXED, 1)):
            done = subprocess.run(["prove", "--exec", f"{harness.WFC} test --format=tap", program(name, text)], capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
            self.assertNotIn("Parse errors", done.stdout)
            self.assertEqual("Failed 1/3 subtests" in done.stdout, status == 1)

    def test_junit(self):
        report = harness.scratch() / "report.xml"
        harness.wfc("test", "--format=junit", "--output", report, program("mixed.wf", MIXED), program("passing.wf", PASSING), check=False)
        read = junitparser.JUnitXml.fromfile(str(report))
        self.assertEqual((read.tests, read.failures, read.errors), (4, 1, 0))
        suites = list(read)
        self.assertEqual([len(list(suite)) for suite in suites], [3, 1])
        cases = [case for suite in suites for case in suite]
        self.assertEqual([case.is_passed for case in cases], [True, False, True, True])
        self.assertIn("100% <&> ]]>", cases[1].name)
        self.assertIn("\N{GRINNING FACE}", cases[1].name)
        self.assertEqual(cases[1].result[0].message, "does not hold")
        self.assertAlmostEqual(sum(case.time for case in cases[:3]), suites[0].time, delta=0.01)


if __name__ == "__main__":
    harness.main()
