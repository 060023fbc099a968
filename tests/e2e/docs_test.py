#!/usr/bin/env python3
"""The programs printed in the pages for users compile as they stand, and the examples without a warning."""
import re
import unittest

import harness

PAGES = ("README.md", "docs/language.md", "docs/server.md")


def programs(page):
    """(line, text) of every ```wf block: a program, or declarations that stand by themselves."""
    text = (harness.ROOT / page).read_text()
    for match in re.finditer(r"^```wf\n(.*?)^```$", text, re.M | re.S):
        yield text.count("\n", 0, match.start()) + 1, match.group(1)


class Docs(unittest.TestCase):
    def assert_clean(self, source):
        done = harness.wfc("check", source, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), source)

    def test_every_printed_program_checks(self):
        found = 0
        # Beside the digits example, whose model some of them name.
        for page in PAGES:
            for line, text in programs(page):
                with self.subTest(page=page, line=line):
                    folder = harness.scratch() / f"{page.replace('/', '-')}-{line}"
                    folder.mkdir()
                    (folder / "models").symlink_to(harness.EXAMPLES / "digits/models")
                    (folder / "program.wf").write_text(text)
                    self.assert_clean(folder / "program.wf")
                    found += 1
        self.assertGreaterEqual(found, 4)

    def test_every_example_checks_without_a_warning(self):
        for source in sorted(harness.EXAMPLES.glob("*/*.wf")):
            with self.subTest(source=source.name):
                self.assert_clean(source)

    def test_every_file_of_the_standard_library_checks(self):
        # Natives and type variables stand only in the library itself, so a program imports it.
        for source in sorted((harness.ROOT / "stdlib").glob("*.wf")):
            with self.subTest(source=source.name):
                program = harness.scratch() / f"uses_{source.stem}.wf"
                program.write_text(f"import std.{source.stem};\n")
                harness.wfc("check", program)


if __name__ == "__main__":
    harness.main()
