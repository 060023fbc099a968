"""`wfc test`: forms of the report, exit statuses, tests that crash or never end."""
import os
import signal
import subprocess
import time
import unittest
from pathlib import Path
from xml.etree import ElementTree

import harness

PROGRAM = r'''
error Odd = 100001 "odd";

workflow Half(x: i64) -> (half: i64) {
  require x % 2 == 0 else fail Odd("a \u{1}control\n<character> & \"quotes\" ]]>");
  return (half: x / 2);
}

test "halves" {
  expect Half(x: 4).half == 2;
}

test "fails # with \\ and <&> \u{7}" {
  let r = Half(x: 3);
  expect r.half == 1;
}

test "is wrong" {
  expect Half(x: 4).half == 3;
}
'''

ENDLESS = '''
test "before" {
  expect true;
}

test "endless" {
  expect sum[i < 3000000](sum[j < 1000000](sin(f64(i) + f64(j)))) == 1.0;
}

test "after" {
  expect true;
}
'''


WRITES = """
extern node k(n: i64) -> i64 = cpp("k.cc");

workflow W(n: i64) -> (y: i64) {
  node y = k(n);
  return (y: y);
}

test "fine" {
  expect W(1).y == 1;
}

test "wrong" {
  expect W(2).y == 5;
}

test "crash" {
  expect W(3).y == 3;
}
"""

K = """
#include "program.wf.h"
#include <cstdio>
#include <cstdlib>

int64_t externs::k(wf::Context&, int64_t n) {
  std::fprintf(stderr, "this is %d\\n", static_cast<int>(n));
  if (n == 3) std::abort();
  return n;
}
"""


def program(text, name="program.wf"):
    folder = harness.scratch() / f"tests-{os.urandom(4).hex()}"
    folder.mkdir()
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def children(pid):
    return [int(word) for task in Path(f"/proc/{pid}/task").iterdir() for word in (task / "children").read_text().split()]


def long_workflow(tests):
    """as many nodes as one program holds a few dozen times, and tests that call it"""
    nodes = "".join(f"  node n{i} = {'a' if i == 0 else f'n{i - 1}'} * 3 + {i};\n" for i in range(700))
    return f"workflow W(a: i64) -> (r: i64) {{\n{nodes}  return (r: n699);\n}}\n" + tests


class TestCommand(unittest.TestCase):
    @unittest.skipIf(harness.IS_SANITIZED, "30,000 tasks take a sanitized compiler minutes")
    def test_tests_that_one_program_does_not_hold_run_in_parts(self):
        many = "".join(f'test "t{i}" {{\n  expect W(a: {i}).r != 7;\n}}\n' for i in range(50))
        self.assertRegex(harness.wfc("test", program(long_workflow(many))).stdout, r"\n50 passed \(")

    def test_one_that_no_program_holds_fails_and_the_others_run(self):
        def fine(name):
            return f'test "{name}" {{\n  expect W(a: 2).r != 7;\n}}\n'

        large = 'test "large" {\n' + "".join(f"  expect W(a: {i}).r != 7;\n" for i in range(60)) + "}\n"
        done = harness.wfc("test", program(long_workflow(fine("a") + fine("b") + large + fine("c"))), check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("error[WF5090]", done.stdout)
        self.assertRegex(done.stdout, r"ok     a [^\n]*\nok     b [^\n]*\nFAILED large")
        self.assertRegex(done.stdout, r"3 passed, 1 failed")

    def test_statuses(self):
        path = program(PROGRAM)
        self.assertEqual(harness.wfc("test", path, check=False).returncode, 1)
        done = harness.wfc("test", "--filter=halves", path)
        self.assertIn("1 passed", done.stdout)
        self.assertNotIn("wrong", done.stdout)
        self.assertRegex(harness.wfc("test", "--filter=nothing has this name", path).stdout, r"^0 passed, 3 filtered out \(\d+ ms\)\n$")
        self.assertIn("1..0 # SKIP 3 filtered out", harness.wfc("test", "--format=tap", "--filter=nothing has this name", path).stdout)
        self.assertEqual(harness.wfc("test", check=False).returncode, 2)
        self.assertEqual(harness.wfc("test", "--format=yaml", path, check=False).returncode, 2)
        self.assertEqual(harness.wfc("test", "--timeout=0", path, check=False).returncode, 2)

    def test_a_file_that_does_not_compile_fails_and_the_others_run(self):
        broken = program('test "a" {\n  expect 1 == "a";\n}\n')
        fine = program('test "b" {\n  expect 1 == 1;\n}\n')
        done = harness.wfc("test", broken, fine, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("error[WF3021]", done.stderr)
        self.assertIn("1 passed, 1 file was not built", done.stdout)
        self.assertEqual(harness.wfc("test", broken.parent / "none.wf", check=False).returncode, 1)

    def test_reports_say_why_a_file_does_not_compile(self):
        broken = program('test "a" {\n  expect 1 == "a";\n}\n')
        tap = harness.wfc("test", "--format=tap", broken, check=False).stdout
        self.assertIn("it does not compile, so none of its tests ran", tap)
        self.assertIn("error[WF3021]", tap)
        failure = ElementTree.fromstring(harness.wfc("test", "--format=junit", broken, check=False).stdout).find(".//failure")
        self.assertIn("error[WF3021]", failure.text)
        self.assertIn('expect 1 == "a";', failure.text)
        missing = harness.wfc("test", "--format=tap", broken.parent / "none.wf", check=False).stdout
        self.assertIn("it cannot be read, so none of its tests ran", missing)

    def test_junit_is_xml_with_everything_in_it(self):
        path = program(PROGRAM)
        report = path.parent / "report.xml"
        done = harness.wfc("test", "--format=junit", "--output", report, path, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        suites = ElementTree.parse(report).getroot()
        self.assertEqual((suites.tag, suites.get("tests"), suites.get("failures")), ("testsuites", "3", "2"))
        cases = suites.findall("testsuite/testcase")
        self.assertEqual([case.get("name") for case in cases], ["halves", "fails # with \\ and <&> \N{REPLACEMENT CHARACTER}", "is wrong"])
        self.assertEqual([case.find("failure") is None for case in cases], [True, False, False])
        self.assertTrue(all(float(case.get("time")) >= 0 and int(case.get("line")) > 0 for case in cases))
        self.assertIn("<character> & \"quotes\" ]]>", cases[1].find("failure").get("message"))
        self.assertIn("right: 3", cases[2].find("failure").text)

    def test_tap(self):
        lines = harness.wfc("test", "--format=tap", program(PROGRAM), check=False).stdout.splitlines()
        self.assertEqual(lines[:2], ["TAP version 13", "1..3"])
        results = [line for line in lines if line.startswith(("ok", "not ok"))]
        self.assertRegex(results[0], r"^ok 1 - .*program\.wf: halves$")
        self.assertRegex(results[1], r"^not ok 2 - .*: fails \\# with \\\\ and <&> \\\\u\{07\}$")
        self.assertRegex(results[2], r"^not ok 3 - .*: is wrong$")
        self.assertEqual(lines.count("  ---"), 3)
        self.assertEqual(lines.count("  ..."), 3)

    def test_one_that_never_ends_fails_and_the_others_run(self):
        done = harness.wfc("test", "--timeout=1", program(ENDLESS), check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("not done within 1s", done.stdout)
        self.assertRegex(done.stdout, r"ok +before[^\0]*FAILED endless[^\0]*ok +after[^\0]*2 passed, 1 failed")

    def test_one_that_crashes_fails_and_the_others_run(self):
        running = subprocess.Popen([harness.WFC, "test", "--timeout=60", program(ENDLESS)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = running.stdout.readline()
        self.assertRegex(line, "ok +before")
        time.sleep(0.5)  # into the second
        server, = children(running.pid)
        os.kill(server, signal.SIGKILL)
        out, _ = running.communicate(timeout=60)
        self.assertEqual(running.returncode, 1)
        self.assertRegex(out, r"FAILED endless[^\0]*crashed: it ended with signal 9[^\0]*ok +after[^\0]*2 passed, 1 failed")

    def test_what_one_writes_stands_beneath_it_alone(self):
        path = program(WRITES)
        (path.parent / "k.cc").write_text(K)
        out = harness.wfc("test", path, check=False).stdout
        self.assertRegex(out, r"ok +fine[^\0]*FAILED wrong[^\0]*this is 2[^\0]*FAILED crash[^\0]*this is 3[^\0]*1 passed, 2 failed")
        self.assertEqual(out.count("this is"), 2, out)


if __name__ == "__main__":
    harness.main()
