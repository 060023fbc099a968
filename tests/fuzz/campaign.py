"""Runs a libFuzzer target, and adds what it found to its corpus and what it did to the tally."""
import argparse
import datetime
import json
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TALLY = HERE / "tally.json"
PROGRAMS = ("examples", "stdlib", "tests/lang", "tests/diff/kept")
TARGETS_OF_PROGRAMS = {"parse", "sema", "format", "program"}
LONGEST = 8192  # bytes of an input
HANGS_SECONDS = 600  # by the clock: what waits for ever; one_input.cc stops what is slow
MOST_MEMORY_MB = 2048  # a sanitized build is larger than what users run
TOO_SLOW = "an input took more than"
ADDED_PER_RUN = 40
KINDS = ("crash", "timeout", "oom")


def seeds(target, folder):
    """what the run begins with: the committed corpus, and every program of the project where the target takes programs"""
    folders = [HERE / target / "corpus"]
    if target in TARGETS_OF_PROGRAMS:
        programs = folder / "programs"
        programs.mkdir()
        for number, path in enumerate(sorted(path for name in PROGRAMS for path in (ROOT / name).rglob("*.wf"))):
            if path.stat().st_size <= LONGEST:
                shutil.copyfile(path, programs / f"{number}.wf")
        folders.append(programs)
    return folders


def fuzz(program, target, minutes, work, begun_with):
    """libFuzzer's closing figures; crashes, slow inputs among them, lie in work"""
    fresh = work / "new"
    fresh.mkdir()
    # One worker that is begun again after a crash: a mistake found does not end the run.
    command = [program, fresh, *begun_with, f"-max_total_time={int(minutes * 60)}", f"-max_len={LONGEST}", f"-timeout={HANGS_SECONDS}",
               f"-report_slow_units={HANGS_SECONDS}", f"-rss_limit_mb={MOST_MEMORY_MB}", f"-artifact_prefix={work}/", "-fork=1", "-ignore_crashes=1",
               "-ignore_timeouts=1", "-ignore_ooms=1", "-print_final_stats=1"]
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", cwd=work)
    (work / "log").write_text(done.stdout)
    runs = [int(number) for number in re.findall(r"^#(\d+): cov:", done.stdout, re.M)]
    covered = [int(number) for number in re.findall(r"cov: (\d+)", done.stdout)]
    if not runs:
        sys.exit(f"{done.stdout[-3000:]}\nthe target did not run")
    return {"executions": runs[-1], "covered": covered[-1], "slow": done.stdout.count(TOO_SLOW)}


def keep(program, target, work):
    """adds the shortest inputs that reach what the corpus did not"""
    corpus, merged = HERE / target / "corpus", work / "merged"
    shutil.copytree(corpus, merged)
    subprocess.run([str(program), "-merge=1", f"-max_len={LONGEST}", str(merged), str(work / "new")], check=True, capture_output=True, cwd=work)
    found = sorted((path for path in merged.iterdir() if not (corpus / path.name).exists()), key=lambda path: (path.stat().st_size, path.name))
    for path in found[:ADDED_PER_RUN]:
        shutil.copyfile(path, corpus / path.name)
    return min(len(found), ADDED_PER_RUN)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=Path)
    parser.add_argument("target")
    parser.add_argument("--minutes", type=float, required=True)
    given = parser.parse_args()
    program = (given.build / "bin" / f"wf_fuzz_{given.target}").resolve()
    kept = given.build.resolve() / "found" / given.target
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        figures = fuzz(program, given.target, given.minutes, work, seeds(given.target, work))
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = {kind: sorted(work.glob(f"{kind}-*")) for kind in KINDS}
        kept.mkdir(parents=True, exist_ok=True)
        for path in [work / "log", *(path for paths in found.values() for path in paths)]:
            shutil.copyfile(path, kept / path.name)
        added = keep(program, given.target, work)
    row = {"date": datetime.date.today().isoformat(), "target": given.target, "cpu_seconds": round(used.ru_utime + used.ru_stime), **figures,
           "added": added, **{kind: len(paths) for kind, paths in found.items()}}
    rows = json.loads(TALLY.read_text()) if TALLY.exists() else []
    rows.append(row)
    TALLY.write_text("[\n" + ",\n".join("  " + json.dumps(each) for each in rows) + "\n]\n")
    spent = sum(each["cpu_seconds"] for each in rows if each["target"] == given.target)
    print(f"{json.dumps(row)}\n{spent / 60:.0f} minutes of CPU on {given.target} in all")
    broken = [path.name for paths in found.values() for path in paths]
    if broken:
        sys.exit(f"{len(broken)} inputs broke it; they are in {kept.relative_to(given.build.resolve().parent)}: {' '.join(broken[:5])}")


main()
