"""What the runners of golden cases share: their command line, a few cases at a time, and how they end. Python 3 alone."""
import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Callable


@dataclass(frozen=True)
class Runner:
    doc: str
    cases: Callable  # of a folder: its cases
    name_of: Callable  # of a case: what chooses it on the command line
    mistakes_of: Callable  # (case, wfc, update): what is wrong with it, a text for each mistake
    held: str  # "{} programs as expected"
    folder: Path | None = None  # of the cases; None: the first argument
    updates: bool = True  # it has goldens that --update writes
    at_once: int = 4

    def main(self):
        options = argparse.ArgumentParser(description=self.doc, formatter_class=argparse.RawDescriptionHelpFormatter)
        if self.folder is None:
            options.add_argument("folder", type=Path)
        options.add_argument("--wfc", type=Path, required=True)
        if self.updates:
            options.add_argument("--update", action="store_true")
        options.add_argument("--every", type=int, default=1, metavar="N", help="one case of N, where all would take too long")
        options.add_argument("names", nargs="*", help="only these cases")
        given = options.parse_intermixed_args()
        folder = (self.folder or given.folder).resolve()
        cases = [case for case in self.cases(folder) if not given.names or self.name_of(case) in given.names]
        cases = cases[min(given.every, len(cases)) - 1 :: given.every] if cases else []
        if not cases:
            sys.exit(f"no cases in {folder.name}")
        with ThreadPoolExecutor(self.at_once) as pool:
            found = pool.map(lambda case: self.mistakes_of(case, given.wfc.resolve(), self.updates and given.update), cases)
            mistakes = [one for several in found for one in several]
        print("\n".join(mistakes) or self.held.format(len(cases)))
        sys.exit(1 if mistakes else 0)
