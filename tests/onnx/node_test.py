"""Runs ONNX's node cases with `wfc model test`: node_test.py --build=BUILD [--update] [--cases=FOLDER]

Each case has to pass or to stand in expected.txt beside this file with its reason, and docs/operators.md has to be what the table of operators and the run make
of it. --update writes both. --cases runs others, only to count them; with --update=LABEL the page shows the count under that label.
"""
import argparse
import collections
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NEWER = HERE / "newer.txt"
EXPECTED, PAGE, TABLE = HERE / "expected.txt", ROOT / "docs" / "operators.md", ROOT / "runtime" / "onnx" / "operators.def"
DEBIAN = Path("/usr/share/libonnx-testdata/data/node")
DOMAINS = {"": "ai.onnx", "Ml": "ai.onnx.ml", "Ms": "com.microsoft", "Train": "ai.onnx.preview.training"}
LEAST_SHARE = 0.95  # what passes in the end; the page says how far it is
# Why cases that are run give other numbers; one without a line here is a mistake. What is told to be unsupported says why itself.
WHY = {
    "bernoulli": "what is drawn is random: the case has the numbers of numpy's generator",
    "castlike_.*BFLOAT16": "the case gives an input of another shape than its model declares",
    "adam_multiple": "the case is computed with an `epsilon` of 0.01 that its node does not have; the standard's is 1e-6",
    "qlinearmatmul_.*int8": "the case wraps what is beyond i8; it saturates by the standard, and in ONNX Runtime",
    "dft_inverse": "sums that are 0 but for their rounding",
    "averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_True":
        "the case counts what lies beyond the padding where the last window ends there; ONNX Runtime does not, either",
}


def run(build, cases):
    """{case: reason} of all, the reason empty where it passed, and those that failed rather than being told to be unsupported."""
    done = subprocess.run([build / "lib" / "wfc-model", "test", "--verbose", "--", cases], capture_output=True, text=True, timeout=280)
    reasons, failed = {}, set()
    for line in done.stdout.splitlines()[:-1]:
        word, rest = line.split(" ", 1)
        name, _, reason = rest.partition(": ")
        reasons[name] = reason
        if word == "FAIL":
            failed.add(name)
    if done.returncode not in (0, 1) or not reasons:
        sys.exit(f"wfc-model ended with {done.returncode}\n{done.stdout[-2000:]}{done.stderr}")
    return reasons, failed


def fields(data):
    """(number, value) of the fields of a protobuf message; of a nested one its bytes."""
    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
    at = 0
    while at < len(data):
        key = varint()
        if key & 7 == 2:
            size = varint()
            yield key >> 3, data[at:at + size]
            at += size
        else:
            yield key >> 3, varint() if key & 7 == 0 else None
            at += {0: 0, 1: 8, 5: 4}[key & 7]


def operators_of(model):
    """The (domain, name) of each node of a model file."""
    found = []
    for number, graph in fields(model.read_bytes()):
        for kind, node in fields(graph) if number == 7 else ():
            if kind == 1:
                said = dict(fields(node))
                found.append((said.get(7, b"").decode() or "ai.onnx", said[4].decode()))
    return found


def table():
    """{(domain, name): (first opset, types)} of operators.def."""
    rows = re.findall(r"^OPERATOR\((\w*), (\w+), (\d+), \d+, \d+, \d+, (\w+),", TABLE.read_text(encoding="utf-8"), re.M)
    return {(DOMAINS[domain], name): (int(since), types) for domain, name, since, types in rows}


def kind_of(reason):
    """What cases have in common that do not pass: the reason without the node and the place."""
    reason = re.sub(r"^(test_data_set_\d+: )?(node (\d+|`[^`]*`) \([^)]*\): )?", "", reason)
    reason = re.sub(r"`[^`]*\.pb`: ", "", reason)
    return re.sub(r", opset \d+,", ",", reason)


def why(name):
    """The line of WHY for a case, or None."""
    return next((text for pattern, text in WHY.items() if re.search(pattern, name)), None)


def gaps(reasons, failed):
    """The table of the cases that do not pass."""
    unexplained = sorted(name for name in failed if why(name) is None)
    if unexplained:
        sys.exit(f"WHY in {Path(__file__).name} has no line for " + ", ".join(unexplained))
    groups = collections.defaultdict(list)
    for name, reason in sorted(reasons.items()):
        if reason:
            groups[kind_of(reason), why(name) if name in failed else ""].append(name)
    lines = ["| cases | what is told | why | for example |", "| --- | --- | --- | --- |"]
    lines += [f"| {len(names)} | {reason.replace('|', '/')} | {text} | {names[0]} |"
              for (reason, text), names in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))]
    return lines


def page(reasons, failed):
    built, counts = table(), collections.defaultdict(lambda: [0, 0])
    for name, reason in reasons.items():
        operators = set(operators_of(DEBIAN / name / "model.onnx"))
        if len(operators) == 1:  # others are functions of the standard, written out
            passed_of = counts[operators.pop()]
            passed_of[0] += not reason
            passed_of[1] += 1
    passed = sum(not reason for reason in reasons.values())
    lines = [
        "# Operators", "",
        "Which operators of ONNX models may use, and how many of ONNX's own cases pass: made by `tests/onnx/node_test.py --update` from `runtime/onnx/operators.def` and a run of",
        "the cases in Debian's libonnx-testdata (opset 17). A model that needs something else is refused when it is loaded or compiled in, by a message that names the operator, its set with",
        "the version, and the node: ``node `conv1` (Conv, ai.onnx opset 17): 3 groups for 8 filters``. A node without a name is told by its place in the file, from 0. What is read as other operators is told with",
        "the one of them that is refused: ``node 4 (FusedGemm, com.microsoft opset 1, as Gemm): ..``.", "",
        "Floats of 8 bits (E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ), of 4 (E2M1) and integers of 4 are what weights may be stored in: `DequantizeLinear`, `Cast` and what moves elements take",
        "them, `QuantizeLinear` and `Cast` give them. Nothing computes with them, and inputs and outputs of a model that is served may not have these types; `wfc model run` and `test` take them from .pb files. In memory each lies in f16, i8 or u8.", "",
        "Of the types that ONNX gives an operator, some are refused: strings in `CenterCropPad`, `NonZero`, `Pad`, `Trilu`, in reductions of `ScatterElements` and `ScatterND`, and where `Cast` makes them of floats",
        "of 8 or 4 bits or the other way round; strings and bool in `Col2Im`, `GridSample`, `Resize` and `Upsample`. Complex numbers are in no operator.", "",
        "Where ONNX leaves a result open, it is the one that [language.md](language.md#declarations) names: `Div` and `Mod` of integers by 0 give 0, where `/` and `%` of the language fail with",
        "7002.", "",
        "Results of an `If` may have other extents on each way, not another number of axes, which ONNX allows: what is computed behind it would then be known to a run alone. Where the condition is a",
        "constant or follows from shapes, as where exporters write a `Squeeze` that is perhaps none, the way that is taken counts, and the other may be anything.", "",
        f"Of {len(reasons)} cases {passed} pass, {100 * passed / len(reasons):.1f} %; the goal is {LEAST_SHARE:.0%}.", "",
        "## Built", "",
        "Cases: those of a single operator that pass, of how many; the others are functions of the standard, written out as several.", "",
        "| domain | operator | from opset | cases |", "| --- | --- | --- | --- |"]
    for (domain, name), (since, _) in sorted(built.items()):
        good, total = counts[domain, name]
        lines.append(f"| {domain} | {name} | {since} | {f'{good} of {total}' if total else ''} |")
    missing = sorted(operator for operator in counts if operator not in built)
    lines += ["", "## Not built", ""]
    lines += [f"Of {domain}: " + ", ".join(f"{name} ({counts[domain, name][1]})" for of, name in missing if of == domain) + "."
              for domain in sorted({domain for domain, _ in missing})] or ["Nothing that a case has."]
    lines += ["", "## Why cases do not pass", "", "Those without a reason of their own are refused, by what is told.", "", *gaps(reasons, failed)]
    lines += ["", "## Newer cases", "", NEWER.read_text(encoding="utf-8").rstrip()]
    return "\n".join(lines) + "\n"


def newer_text(label, reasons, failed):
    passed = sum(not reason for reason in reasons.values())
    lines = [f"Of the {len(reasons)} cases of {label} {passed} pass, {100 * passed / len(reasons):.1f} %.", "", *gaps(reasons, failed)]
    return "\n".join(lines) + "\n"


def expected_text(reasons, failed):
    lines = [f"{'FAIL' if name in failed else 'unsupported'} {name}: {reason}" for name, reason in sorted(reasons.items()) if reason]
    return "".join(line + "\n" for line in lines)


def differences(wanted, found):
    wanted, found = set(wanted.splitlines()), set(found.splitlines())
    return [f"- {line}" for line in sorted(wanted - found)] + [f"+ {line}" for line in sorted(found - wanted)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--cases", type=Path, default=DEBIAN)
    parser.add_argument("--update", nargs="?", const=True)
    options = parser.parse_args()
    reasons, failed = run(options.build, options.cases)
    for name, reason in sorted(reasons.items()):
        print(f"{'ok' if not reason else 'FAIL' if name in failed else 'unsupported'} {name}{': ' if reason else ''}{reason}")
    passed = sum(not reason for reason in reasons.values())
    print(f"{passed} of {len(reasons)} cases pass, {100 * passed / len(reasons):.1f} %; {len(failed)} fail, the others are told to be unsupported")
    if options.cases != DEBIAN:
        if options.update:
            NEWER.write_text(newer_text(options.update, reasons, failed), encoding="utf-8")
        return 0
    texts = {EXPECTED: expected_text(reasons, failed), PAGE: page(reasons, failed)}
    if options.update:
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
        return 0
    status = 0
    for path, text in texts.items():
        found = differences(path.read_text(encoding="utf-8") if path.exists() else "", text)
        if found:
            status = 1
            print(f"\n{path.relative_to(ROOT)} is not what the run says; `python3 tests/onnx/node_test.py --build={options.build} --update` writes it anew")
            print("\n".join(found[:40]))
    return status


if __name__ == "__main__":
    sys.exit(main())
