#!/usr/bin/env python3
"""bench.py [--list] [--rounds N] [--seconds S] [--minutes N] [--model NAME] [--json FILE] [NAME...]: prints rows `name ours peer ratio`; exit status 1 when one is below its goal,
or its peer cannot be had."""
import argparse
import json
import platform
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))


@dataclass
class Row:
    name: str
    ours: float
    peer: float | None   # None: that peer cannot be had on this machine
    unit: str
    peer_name: str
    goal: float          # least ratio; 0: none is set
    higher_is_better: bool = True

    @property
    def ratio(self):
        if self.peer is None:
            return None
        above, below = (self.ours, self.peer) if self.higher_is_better else (self.peer, self.ours)
        if below == 0:  # as the goal of none at all
            return 1.0 if above == 0 else float("inf")
        return above / below

    @property
    def met(self):
        return self.ratio is not None and self.ratio >= self.goal

    @property
    def verdict(self):
        if self.peer is None:
            return "NO PEER"
        return "no goal" if self.goal == 0 else f"{'goal met' if self.met else 'BELOW GOAL'} ({self.goal:g})"


def number(value):
    return "-" if value is None else f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def print_row(row):
    ratio = "-" if row.ratio is None else f"{row.ratio:.2f}"
    print(f"{row.name:<28} {number(row.ours):>10} {number(row.peer):>10} {ratio:>7}  {row.unit:<10} {row.peer_name:<28} {row.verdict}", flush=True)


def in_turns(rounds, measures):
    """The median of what each of the named functions measures: all take turns, so that a machine that slows down slows all."""
    found = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            found[name].append(measure())
    return {name: median(each) for name, each in found.items()}


def cpu_name():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def chosen(names, rows):
    """The benchmarks of these names, some of which are of groups, each once; all without a name."""
    return dict.fromkeys(member for name in names or rows.BENCHMARKS for member in rows.GROUPS.get(name, (name,)))


def main():
    import rows
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("names", nargs="*", metavar="NAME")
    options.add_argument("--list", action="store_true")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--seconds", type=int, default=3)
    options.add_argument("--minutes", type=int, help="how many of `tail`, on each side; without it, rounds of --seconds")
    options.add_argument("--model", action="append", help="of `engine` and `pipelines` only this one; may stand more than once")
    options.add_argument("--json", type=Path)
    args = options.parse_args()
    unknown = [name for name in args.names if name not in rows.BENCHMARKS and name not in rows.GROUPS]
    if unknown:
        options.error(f"unknown benchmark {unknown[0]}; --list names them")
    if args.list:
        for name, run in rows.BENCHMARKS.items():
            print(f"{name:<12} {run.__doc__.splitlines()[0]}")
        for name, members in rows.GROUPS.items():
            print(f"{name:<12} {' '.join(members)}")
        return 0
    if args.json:
        try:
            args.json.touch()
        except OSError as error:
            options.error(f"--json {args.json}: {error.strerror}")
    print(f"{'name':<28} {'ours':>10} {'peer':>10} {'ratio':>7}  {'unit':<10} {'peer is':<28}")
    found = []
    for name in chosen(args.names, rows):
        for row in rows.BENCHMARKS[name](args):
            print_row(row)
            found.append(row)
    if args.json:
        machine = {"cpu": cpu_name(), "system": platform.platform(), "rounds": args.rounds, "seconds": args.seconds}
        args.json.write_text(json.dumps({"machine": machine, "rows": [{**asdict(r), "ratio": r.ratio, "met": r.met} for r in found]}, indent=1) + "\n")
    return 0 if all(row.met for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
