"""Random workflows (tests/diff), built and served: what comes back over several connections has the bits that the interpreter computes."""
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from serving import built, served
from harness import BUILD, main, scratch

COUNT = 64 if BUILD.name == "release" else 16  # of one file; a sanitized wfc takes ten times as long
KEPT = Path(__file__).resolve().parent / "kept/served"


class ServedDiff(unittest.TestCase):
    def check(self, source):
        asked, wrong = served(source, built(source))
        self.assertEqual(len(wrong), 0, f"{source}\n" + "\n".join(wrong[:5]))
        return asked

    def test_replies_of_written_and_kept_programs(self):
        folder = scratch() / "diff"
        folder.mkdir()
        subprocess.run([BUILD / "bin/wf_diff", "run", "--count", str(COUNT), "--seed", "5", "--tries", "0", "--expect", folder], check=True, timeout=250)
        self.assertGreater(sum(map(self.check, sorted(folder.glob("*.wf")))), COUNT)
        for path in KEPT.glob("*"):
            shutil.copy(path, folder)  # models, externs and files that programs name stand there
        for source in sorted(KEPT.glob("*.wf")):
            with self.subTest(source=source.name):
                self.check(folder / source.name)


if __name__ == "__main__":
    main()
