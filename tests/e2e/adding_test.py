#!/usr/bin/env python3
"""The walkthroughs of docs/adding.md, carried out in a copy of the tree: what they add builds, passes and is found missing when a step is left out."""
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import harness

PAGE = harness.ROOT / "docs/adding.md"
BLOCK = re.compile(r"^(`{3,})(diff|\w+ new) (\S+)\n(.*?)^\1$", re.M | re.S)
NOT_NEEDED = {"build", ".git", "__pycache__"}


def sections():
    """{title: [(is_new, path, text)]} of the page's worked examples."""
    found = {}
    for part in PAGE.read_text().split("\n## ")[1:]:
        blocks = [(kind != "diff", path, text) for _, kind, path, text in BLOCK.findall(part)]
        if blocks:
            found[part.splitlines()[0]] = blocks
    return found


def change(lines, hunk):
    """`lines` with the one place that the hunk's old lines show replaced by its new ones."""
    old = [line[1:] for line in hunk if line[:1] in " -"]
    new = [line[1:] for line in hunk if line[:1] in " +"]

    def fits(line, wanted):
        return line.startswith(wanted[:-4]) if wanted.endswith(" ...") else line == wanted

    places = [at for at in range(len(lines) - len(old) + 1) if all(fits(lines[at + i], wanted) for i, wanted in enumerate(old))]
    if len(places) != 1:
        raise AssertionError(f"{len(places)} places look like\n" + "\n".join(old))
    at = places[0]
    rests = [lines[at + i][len(wanted) - 4:] for i, wanted in enumerate(old) if wanted.endswith(" ...")]
    return lines[:at] + [line[:-4] + rests.pop(0) if line.endswith(" ...") else line for line in new] + lines[at + len(old):]


def apply(blocks, tree):
    for is_new, path, text in blocks:
        file = tree / path
        if is_new and file.exists():
            raise AssertionError(f"{path} is there already")
        file.write_text(text if is_new else "\n".join(change(file.read_text().splitlines(), text.splitlines())) + "\n")


def copied(name):
    """A copy of the tree as far as building and the lint go."""
    tree = harness.scratch() / name
    shutil.copytree(harness.ROOT, tree, ignore=lambda _, names: NOT_NEEDED & set(names))
    return tree


def run(*command, **more):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=240, check=False, **more)


class Adding(unittest.TestCase):
    def assert_runs(self, *command, **more):
        done = run(*command, **more)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
        return done.stdout

    def lint(self, tree, *checks):
        return run(sys.executable, "-B", tree / "tests/lint/lint.py", "--root", tree, *checks).stdout.splitlines()

    def blocks(self, title):
        found = sections()
        self.assertIn(title, found, f"{PAGE} has other examples: {sorted(found)}")
        return found[title]

    def test_a_native_function(self):
        tree = copied("native")
        apply(self.blocks("A worked example: a native function"), tree)
        self.assertEqual(self.lint(tree, "layers", "cmake-deps", "sizes", "functions", "exceptions", "readmes", "format"), [])
        # Unsanitized and unoptimised: quick, and the same results.
        environment = {**os.environ, "CCACHE_BASEDIR": str(tree), "CCACHE_NOHASHDIR": "1"}
        build = tree / "build/copy"
        self.assert_runs("cmake", "-G", "Ninja", "-S", tree, "-B", build, "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", env=environment)
        self.assert_runs("cmake", "--build", build, "--target", "wf_nodes_test", env=environment)
        printed = self.assert_runs(build / "bin/wf_nodes_test")
        self.assertIn("ArgMin.FailsOnAnEmptyVector", printed)
        self.assertIn("[  PASSED  ]", printed)
        # The compiler takes the declaration from the library beside it.
        installed = harness.scratch() / "installed"
        (installed / "bin").mkdir(parents=True)
        shutil.copy(harness.WFC, installed / "bin/wfc")
        shutil.copytree(tree / "stdlib", installed / "share/wf/stdlib")
        program = tree / "tests/lang/nodes/library.wf"
        self.assert_runs(installed / "bin/wfc", "check", program)
        self.assertIn("argmin", harness.wfc("check", program, check=False).stderr)

    def test_a_diagnostic(self):
        blocks = self.blocks("A worked example: a diagnostic")
        tree = copied("diagnostic")
        apply(blocks, tree)
        self.assertEqual(self.lint(tree, "diagnostics"), [])
        for _, path, _ in (block for block in blocks if block[0]):
            kept = (tree / path).read_text()
            (tree / path).unlink()
            self.assertNotEqual(self.lint(tree, "diagnostics"), [], f"nothing misses {path}")
            (tree / path).write_text(kept)


if __name__ == "__main__":
    harness.main()
