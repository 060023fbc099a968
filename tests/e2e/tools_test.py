#!/usr/bin/env python3
"""What wfc writes for other tools, tried with them: SARIF with Microsoft's validator, mermaid with mermaid's own parser. Both come from npm, into the build folder."""
import json
import os
import subprocess
import unittest
from pathlib import Path

import harness

PACKAGES = ["@microsoft/sarif-multitool-linux@5.7.0", "mermaid@11", "jsdom@26"]
FOLDER = harness.BUILD / "npm"

WRONG = """workflow W(x: i64) -> (y: i64) {
  let text = "\u00e9\u00e8"; let b = missing;
  return (y: x + unknwon);
}

service S {
  workflow W;
  timeout 2 s;
}
"""

PARSE_MERMAID = """
import { JSDOM } from "jsdom";
const dom = new JSDOM("");
globalThis.window = dom.window;
globalThis.document = dom.window.document;
const mermaid = (await import("mermaid")).default;
const texts = JSON.parse(await new Promise((done) => { let all = ""; process.stdin.on("data", (d) => (all += d)); process.stdin.on("end", () => done(all)); }));
const found = [];
for (const text of texts) found.push(await mermaid.parse(text).then((r) => r.diagramType, (e) => "error: " + e.message));
console.log(JSON.stringify(found));
process.exit(0);
"""


def install():
    """The packages, once for a build folder."""
    stamp = FOLDER / "installed"
    if stamp.exists() and stamp.read_text() == str(PACKAGES):
        return
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "package.json").write_text('{"private": true}')
    subprocess.run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", *PACKAGES], cwd=FOLDER, check=True, timeout=240, capture_output=True)
    stamp.write_text(str(PACKAGES))


def sarif_findings(log):
    """Lines of the validator about errors in the log."""
    tool = FOLDER / "node_modules/@microsoft/sarif-multitool-linux/Sarif.Multitool"
    tool.chmod(0o755)
    environment = dict(os.environ, DOTNET_SYSTEM_GLOBALIZATION_INVARIANT="1")
    done = subprocess.run([tool, "validate", log], env=environment, capture_output=True, text=True, timeout=120)
    assert "1 files scanned" in done.stdout, done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if ": error " in line]


class Tools(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        install()

    def sarif_of(self, *texts):
        folder = harness.scratch() / "with space"
        folder.mkdir(exist_ok=True)
        names = [folder / f"{number}.wf" for number in range(len(texts))]
        for name, text in zip(names, texts):
            name.write_text(text, encoding="utf-8")
        return harness.wfc("check", "--format=sarif", *names, check=False).stdout

    def test_sarif_is_valid(self):
        log = harness.scratch() / "log.sarif"
        log.write_text(self.sarif_of(WRONG, WRONG), encoding="utf-8")
        self.assertEqual(sarif_findings(log), [])
        run = json.loads(log.read_text())["runs"][0]
        self.assertGreaterEqual(len(run["results"]), 6)
        missing = next(r for r in run["results"] if "missing" in r["message"]["text"])
        self.assertEqual(missing["locations"][0]["physicalLocation"]["region"]["startColumn"], 28)  # in characters
        self.assertTrue(any("fixes" in result for result in run["results"]))

    def test_sarif_of_nothing_is_valid(self):
        log = harness.scratch() / "empty.sarif"
        log.write_text(self.sarif_of((harness.EXAMPLES / "hello/hello.wf").read_text()), encoding="utf-8")
        self.assertEqual(sarif_findings(log), [])

    def test_the_validator_hears_mistakes(self):
        log = harness.scratch() / "broken.sarif"
        log.write_text(self.sarif_of(WRONG).replace('"results"', '"resutls"'), encoding="utf-8")
        self.assertNotEqual(sarif_findings(log), [])

    def test_mermaid_parses(self):
        texts = []
        for program in ("hello/hello.wf", "fallback/fallback.wf", "digits/digits.wf"):
            for level in ("workflow", "stage", "node", "task"):
                texts.append(harness.wfc("graph", "--format=mermaid", f"--level={level}", harness.EXAMPLES / program).stdout)
        script = FOLDER / "parse.mjs"
        script.write_text(PARSE_MERMAID)
        done = subprocess.run(["node", script], input=json.dumps([*texts, "flowchart LR\n  a[\n"]), capture_output=True, text=True, timeout=120, cwd=FOLDER)
        found = json.loads(done.stdout or f'["{done.returncode}"]')
        self.assertEqual(found[:-1], ["flowchart-v2"] * len(texts), done.stderr)
        self.assertTrue(found[-1].startswith("error: "))


if __name__ == "__main__":
    harness.main()
