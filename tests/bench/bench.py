#!/usr/bin/env python3
"""bench.py [--list] [--rounds N] [--seconds S] [--json FILE] [NAME...]: prints rows `name ours peer ratio`; exit status 1 when one is below its goal."""
import argparse
import json
import platform
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))


@dataclass
class Row:
    name: str
    ours: float
    peer: float
    unit: str
    peer_name: str
    goal: float          # least ratio
    higher_is_better: bool = True

    @property
    def ratio(self):
        above, below = (self.ours, self.peer) if self.higher_is_better else (self.peer, self.ours)
        if below == 0:  # as the goal of none at all
            return 1.0 if above == 0 else float("inf")
        return above / below

    @property
    def met(self):
        return self.ratio >= self.goal


def number(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def print_row(row):
    print(f"{row.name:<28} {number(row.ours):>10} {number(row.peer):>10} {row.ratio:>7.2f}  {row.unit:<10} {row.peer_name:<28} "
          f"{'goal met' if row.met else 'BELOW GOAL'} ({row.goal:g})", flush=True)


def cpu_name():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def main():
    import rows
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("names", nargs="*", metavar="NAME")
    options.add_argument("--list", action="store_true")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--seconds", type=float, default=3)
    options.add_argument("--json", type=Path)
    args = options.parse_args()
    if args.list:
        for name, run in rows.BENCHMARKS.items():
            print(f"{name:<12} {run.__doc__.splitlines()[0]}")
        return 0
    unknown = [name for name in args.names if name not in rows.BENCHMARKS]
    if unknown:
        options.error(f"unknown benchmark {unknown[0]}; --list names them")
    print(f"{'name':<28} {'ours':>10} {'peer':>10} {'ratio':>7}  {'unit':<10} {'peer is':<28}")
    found = []
    for name in args.names or rows.BENCHMARKS:
        for row in rows.BENCHMARKS[name](args):
            print_row(row)
            found.append(row)
    if args.json:
        machine = {"cpu": cpu_name(), "system": platform.platform(), "rounds": args.rounds, "seconds": args.seconds}
        args.json.write_text(json.dumps({"machine": machine, "rows": [{**asdict(r), "ratio": r.ratio, "met": r.met} for r in found]}, indent=1) + "\n")
    return 0 if all(row.met for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
