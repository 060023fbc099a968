#!/usr/bin/env python3
"""tests/update.py leaves expectations that hold as they are written: update_test.py --wfc=build/dev/bin/wfc"""
import argparse
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import update  # noqa: E402

HEAD = "workflow W(n: i64) -> (m: i64) {\n"


class Update(unittest.TestCase):
    wfc = None

    def rewritten(self, text):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "fail_one.wf"
            program.write_text(text)
            changed = update.rewrite(program, program.stem, self.wfc)
            self.assertEqual(changed, program.read_text() != text)
            return program.read_text()

    def test_a_part_of_the_message_stays(self):
        held = HEAD + "  return (m: k);  // error: WF3001 `k`\n}\n"
        self.assertEqual(self.rewritten(held), held)

    def test_what_does_not_hold_is_written_anew(self):
        for wrong in ("", "  // error: WF3001 `j`", "  // error: WF3002 `k`", "  // warning: WF3001 `k`"):
            self.assertRegex(self.rewritten(HEAD + f"  return (m: k);{wrong}\n}}\n"), r"\(m: k\);  // error: WF3001 .*`k`.*\n\}\n$")


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--wfc", type=Path, required=True)
    Update.wfc = options.parse_args().wfc.resolve()
    unittest.main(argv=[sys.argv[0]])
