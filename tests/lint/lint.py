#!/usr/bin/env python3
"""Checks of the source tree: lint.py [--root DIR] CHECK... | all | --list. Prints `path:line: what is wrong`; exit 1 when anything was found."""
import argparse
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

MAX_FILE_LINES, MAX_HEADER_LINES, MAX_FUNCTION_LINES, MAX_ROOT_CMAKE_LINES = 600, 200, 70, 100
MAX_PARAMETERS = 5
SOURCE = {".h", ".cc"}
# (folder, function): signatures that others decide: callbacks of libraries, natives and externs, whose parameters are those of their declarations in .wf.
MANY_PARAMETERS = {
    ("compiler/parse", "syntaxError"), ("tests/e2e", "widen"), ("runtime/protocol", "ChooseProtocol"),
    ("runtime/nodes", "wf_n_wordpiece"), ("runtime/nodes", "wf_n_bpe"), ("runtime/nodes", "wf_n_unigram"), ("runtime/nodes", "wf_n_draw_boxes"),
    ("runtime/nodes", "wf_n_remap"), ("runtime/nodes", "wf_n_resample"),
    ("tests/unit", "OnHeader"), ("tests/unit", "OnData"), ("tests/unit", "ReadBody"),
    ("runtime/protocol", "OnHeader"), ("runtime/protocol", "OnBadHeader"), ("runtime/protocol", "OnData"), ("runtime/protocol", "ReadBody"), ("runtime/protocol", "SendData"),
}
# Written as tables whose columns are the point; sizes and layout are theirs.
HAND_LAID_OUT = {"runtime/abi/plan.h", "runtime/abi/values.h"}
# Where exceptions of others are caught and turned into our own errors (docs/style.md).
EXCEPTION_WALLS = ("compiler/parse/", "runtime/kernels/onednn/", "runtime/abi/extern.h", "runtime/abi/extern_shim.h", "runtime/server/new.cc")
BAD_MESSAGE_WORDS = re.compile(r"\b(invalid|illegal|not allowed|error:|please|sorry)\b", re.I)


class Tree:
    """The tracked and the new files below a root, or all of them where there is no git."""
    def __init__(self, root):
        self.root = Path(root).resolve()
        listed = subprocess.run(["git", "-C", str(self.root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True)
        names = listed.stdout.decode().split("\0") if listed.returncode == 0 and listed.stdout else \
            [str(p.relative_to(self.root)) for p in self.root.rglob("*") if p.is_file() and ".git" not in p.parts]
        self.files = sorted(name for name in names if name and (self.root / name).is_file())

    def text(self, name):
        return (self.root / name).read_text(encoding="utf-8", errors="replace")

    def lines(self, name):
        return self.text(name).splitlines()

    def under(self, *prefixes, suffix=None):
        return [f for f in self.files if f.startswith(prefixes) and (suffix is None or Path(f).suffix in suffix)]


def folder_of(path):
    """runtime/kernels/onednn/conv.cc -> runtime/kernels"""
    parts = path.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else None


def read_layers(tree):
    allowed, headers = {}, []
    for line in tree.lines("tests/lint/layers.txt"):
        line = line.split("#")[0].strip()
        if "->" in line:
            prefix, folders = line.split("->")
            headers.append((prefix.strip(), folders.split()))
        elif line:
            folder, others = line.split(":")
            allowed[folder.strip()] = others.split()
    return allowed, headers


def may_use(allowed, folder, other):
    return other == folder or any(other == entry or (entry.endswith("/*") and other.startswith(entry[:-1])) for entry in allowed[folder])


def strip_code(text):
    """C++ without comments and the contents of literals; lines stay where they are."""
    def blank(match):
        return '""' if match.group(0)[0] in "\"'" else re.sub(r"[^\n]", " ", match.group(0))
    return re.sub(r'R"\(.*?\)"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', blank, text, flags=re.S)


def check_layers(tree):
    allowed, headers = read_layers(tree)
    for name in tree.under("compiler/", "runtime/", suffix=SOURCE | {".c", ".def", ".inc"}):
        folder = folder_of(name)
        if folder not in allowed:
            yield name, 1, f"folder `{folder}` has no row in tests/lint/layers.txt"
            continue
        for number, line in enumerate(tree.lines(name), 1):
            match = re.match(r'\s*#\s*include\s+(?:"([^"]+)"|(<[^>]+>))', line)
            if not match:
                continue
            quoted, angled = match.groups()
            other = folder_of(quoted) if quoted else None
            if other in allowed and quoted not in allowed[folder] and not may_use(allowed, folder, other):
                yield name, number, f"`{folder}` may not include `{other}`"
            if quoted and "/" not in quoted:
                yield name, number, f'include "{quoted}" is not relative to the root'
            for prefix, folders in headers:
                seen = angled or f"<{quoted}"
                if seen.startswith(prefix.rstrip(">")) and not any(name.startswith(f + "/") for f in folders):
                    yield name, number, f"{prefix} belongs to {', '.join(folders)} alone"


def check_includes(tree):
    """Headers stand at the head of a file; tables (.def, .inc) stand where they are made into something."""
    for name in tree.under("compiler/", "runtime/", "tests/", suffix=SOURCE | {".c"}):
        declared = continued = False
        for number, line in enumerate(strip_code(tree.text(name)).splitlines(), 1):
            was_continued, continued = continued, line.endswith("\\")
            if re.match(r"\s*#", line):
                included = re.match(r'\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', tree.lines(name)[number - 1])
                path = included and (included.group(1) or included.group(2))
                if declared and path and not path.endswith((".def", ".inc")):
                    yield name, number, f"{path} is included below the first declaration; move it to the head"
            elif line.strip() and not was_continued and line.strip() != 'extern "" {':
                declared = True


def kind_of_include(line):
    """"ours", "C++" or "C"; "explained" when a comment says why it stands there; nothing of what a table is made into and of what is no include."""
    included = re.match(r'#include (?:"([^"]+)"|<([^>]+)>)(.*)', line)
    if not included or (included.group(1) or "").endswith((".def", ".inc")):
        return None
    return "explained" if included.group(3) else "ours" if included.group(1) else "C" if re.search(r"[./]", included.group(2)) else "C++"


def check_include_groups(tree):
    """A group of each kind: other libraries, C++'s and ours, which come last; before them stands the header that a source implements."""
    for name in tree.under("compiler/", "runtime/", "tests/", suffix=SOURCE):
        groups, last = [], None  # (line, its kinds), and the last line that is in one
        for number, kind in enumerate(map(kind_of_include, tree.lines(name)), 1):
            if kind and last == number - 1:
                groups[-1][1].add(kind)
            elif kind:
                groups.append((number, {kind}))
            last = number if kind else last
        if groups and groups[0][1] == {"ours"}:
            del groups[0]  # its own header, or all there are
        for (_, before), (number, kinds) in zip(groups, groups[1:]):
            if "explained" in before | kinds:
                continue
            if before & kinds:
                yield name, number, "two groups of includes of one kind; one group each: other libraries, C++'s, ours"
            elif "ours" in before:
                yield name, number, "includes of ours stand behind all others; a comment behind the include says why it cannot"


def check_neighbours(tree):
    """A source includes, by whatever way, the header beside it whose functions and constants it uses: where sources are compiled by the dozen, one that does not would go unseen."""
    code = {name: strip_code(tree.text(name)) for name in tree.under("compiler/", "runtime/", suffix=SOURCE)}
    included = {name: [other for other in re.findall(r'^#include "([^"]+)"', tree.text(name), re.M) if other in code] for name in code}
    beside = {}  # folder: {name with what follows it: headers that declare it}
    for header in (name for name in code if name.endswith(".h")):
        names = beside.setdefault(str(Path(header).parent), {})
        for declared in re.findall(r"^(?![#\s])[^\n(]*?(?<=[\s&*>])([A-Z]\w+\(|k[A-Z]\w+(?= =))", code[header], re.M):
            names.setdefault(declared, set()).add(header)
    for name in (name for name in code if name.endswith(".cc")):
        reached, rest = set(), [name]
        while rest:
            if (other := rest.pop()) not in reached:
                reached.add(other)
                rest += included[other]
        names = beside.get(str(Path(name).parent), {})
        for use in re.finditer(r"(?<![\w.>:~])(?:[A-Z]\w+\(|k[A-Z]\w+)", code[name]):
            declared, headers = use.group(), names.get(use.group(), set())
            own = rf"(?<!return)(?<=[\w&*>]) ?{re.escape(declared)}" + ("" if declared.endswith("(") else r"\b")  # declared in what is included, too
            if headers and not headers & reached and not any(re.search(own, code[other]) for other in reached):
                yield name, code[name].count("\n", 0, use.start()) + 1, f"uses `{declared.rstrip('(')}` and does not include {min(headers)}"


def cmake_libraries(tree):
    """{folder: (file, {folders named by DEPS or PRIVATE_DEPS})} of every wf_library and wf_* target of the folder."""
    found, owners = {}, {}
    for name in tree.under("compiler/", "runtime/"):
        if not name.endswith("CMakeLists.txt") or not folder_of(name):
            continue
        text = re.sub(r"#[^\n]*", "", tree.text(name))
        owners.update((library, folder_of(name)) for library in re.findall(r"\b(?:wf_library|add_library)\s*\(\s*(\w+)", text))
        file, deps = found.setdefault(folder_of(name), (name, set()))
        for call in re.findall(r"\b(?:wf_library|target_link_libraries)\s*\(([^)]*)\)", text):
            deps.update(call.split()[1:])
    return {folder: (file, {owners[d] for d in deps if owners.get(d, folder) != folder}) for folder, (file, deps) in found.items()}


def check_cmake_deps(tree):
    allowed, _ = read_layers(tree)
    libraries = cmake_libraries(tree)
    for folder, (file, deps) in libraries.items():
        for other in sorted(deps):
            if folder in allowed and not may_use(allowed, folder, other):
                yield file, 1, f"`{folder}` may not depend on `{other}`"
        reached, queue = set(), [folder]
        while queue:
            current = queue.pop()
            if current not in reached:
                reached.add(current)
                queue.extend(libraries.get(current, (None, ()))[1])
        if folder not in allowed:
            continue  # reported by `layers`
        included = {folder_of(m) for name in tree.under(folder + "/", suffix=SOURCE)
                    for m in re.findall(r'^\s*#\s*include\s+"([^"]+)"', tree.text(name), re.M)}
        for other in sorted(o for o in included if o in libraries and o not in reached and may_use(allowed, folder, o)):
            yield file, 1, f"`{folder}` includes `{other}` without depending on it"


def check_sizes(tree):
    for name in tree.under("compiler/", "runtime/", "tests/", "scripts/", "examples/", "stdlib/", "grammar/"):
        if Path(name).suffix not in SOURCE | {".c", ".py", ".wf", ".g4"} or name in HAND_LAID_OUT:
            continue
        count = len(tree.lines(name))
        limit = MAX_HEADER_LINES if name.endswith(".h") else MAX_FILE_LINES
        if count > limit:
            yield name, limit, f"{count} lines; at most {limit}"
    if "CMakeLists.txt" in tree.files and len(tree.lines("CMakeLists.txt")) > MAX_ROOT_CMAKE_LINES:
        yield "CMakeLists.txt", MAX_ROOT_CMAKE_LINES, f"more than {MAX_ROOT_CMAKE_LINES} lines"


NOT_A_FUNCTION = re.compile(r"(?:if|for|while|switch|do|else|return|case|namespace|class|struct|enum|union|extern|template|public|private|protected|using|typedef)\b|#|//|\}|\)")


def bodies_at(lines, indent):
    """(first, last) line numbers of what opens with a brace at this margin and closes there: functions, for the formatter puts nothing else so."""
    head = start = None
    for number, line in enumerate(lines, 1):
        at_margin = line.startswith(indent) and line[len(indent):len(indent) + 1] not in ("", " ")
        if start is not None:
            if at_margin and line[len(indent)] == "}":
                yield start, number
                head = start = None
            continue
        if at_margin:
            head = None if NOT_A_FUNCTION.match(line[len(indent):]) else number
        if head is not None and re.search(r"\{\s*(//.*)?$", line):
            start = head
        elif head is not None and re.search(r"[;}]\s*(//.*)?$", line):
            head = None


def check_functions(tree):
    for name in tree.under("compiler/", "runtime/", "tests/", suffix=SOURCE):
        lines = strip_code(tree.text(name)).splitlines()  # a raw string may hold braces at any margin
        for indent in ("", "  "):  # functions, and members defined in their class
            for first, last in bodies_at(lines, indent):
                head = lines[first - 1]
                if last - first + 1 > MAX_FUNCTION_LINES and "(" in head:
                    yield name, first, f"a function of {last - first + 1} lines; at most {MAX_FUNCTION_LINES}"


def parameters_of(text):
    """How many parameters stand before the parenthesis that closes the list; None: it is not closed."""
    depth = angles = 0
    parts = [""]
    for c in text:
        if c == ")" and depth == 0:
            return sum(part.strip() not in ("", "void") for part in parts)
        depth += (c in "([{") - (c in ")]}")
        angles += (c == "<") - (c == ">")
        if c == "," and depth == 0 and angles <= 0:
            parts.append("")
        else:
            parts[-1] += c
    return None


FUNCTION_HEAD = re.compile(r"(?:[\w:<>,*&~\[\] ]+[ *&])?~?[\w:]+\(")
FUNCTION_NAME = re.compile(r"(\w+)\($")


def functions_in(lines):
    """(line, name, parameters) of what is declared at the margin, and of members of classes that begin there."""
    in_class = False
    for number, line in enumerate(lines, 1):
        if re.match(r"(template .*)?(class|struct|union) .*\{$", line):
            in_class = True
        if line.startswith("};"):
            in_class = False
        indent = len(line) - len(line.lstrip(" "))
        match = FUNCTION_HEAD.match(line[indent:])
        if indent not in ((0, 2) if in_class else (0,)) or not match or NOT_A_FUNCTION.match(line[indent:]):
            continue
        if " " not in match.group(0) and not in_class:
            continue  # a macro
        rest = "\n".join([line[indent + match.end():], *lines[number:number + 30]])
        count = parameters_of(rest)
        if count is not None:
            yield number, FUNCTION_NAME.search(match.group(0)).group(1), count


def check_parameters(tree):
    exempt = set(MANY_PARAMETERS)
    for name in tree.under("compiler/", "runtime/", "tests/", suffix=SOURCE):
        for number, function, count in functions_in(strip_code(tree.text(name)).splitlines()):
            known = (folder_of(name), function)
            if known in MANY_PARAMETERS and count > MAX_PARAMETERS:
                exempt.discard(known)
            elif count > MAX_PARAMETERS:
                yield name, number, f"`{function}` has {count} parameters; at most {MAX_PARAMETERS}, else a struct of options"
    for folder, function in sorted(exempt):
        if any(name.startswith(folder + "/") for name in tree.files):
            yield "tests/lint/lint.py", 1, f"`{function}` of {folder} has no longer too many parameters: take it out of MANY_PARAMETERS"


def check_format(tree):
    tool = shutil.which("clang-format-19")
    if tool is None:
        yield "scripts/setup", 1, "clang-format-19 is missing; run scripts/setup"
        return
    names = [n for n in tree.under("compiler/", "runtime/", "tests/", suffix=SOURCE | {".c"}) if n not in HAND_LAID_OUT]

    def run(chunk):
        done = subprocess.run([tool, "--dry-run", "--Werror", *chunk], cwd=tree.root, capture_output=True, text=True)
        return re.findall(r"^(\S+?):(\d+):\d+: error: (.*?)(?: \[|$)", done.stderr, re.M)
    chunks = [names[i:i + 16] for i in range(0, len(names), 16)]
    with ThreadPoolExecutor(4) as pool:
        seen = set()
        for findings in pool.map(run, chunks):
            for name, line, _ in findings:
                if name not in seen:
                    seen.add(name)
                    yield name, int(line), "not as clang-format-19 lays it out"


def check_thread_safety(tree):
    """Clang's analysis of what runtime/base/mutex.h annotates: of every file that includes it, or a header that does."""
    clang = shutil.which("clang++-19")
    if clang is None:
        yield "scripts/setup", 1, "clang++-19 is not installed"
        return
    def includes(name, headers):
        return any(f'#include "{header}"' in tree.text(name) for header in headers)
    mutex = ["runtime/base/mutex.h"]
    annotated = mutex + [name for name in tree.under("runtime/", suffix={".h"}) if includes(name, mutex)]
    files = [name for name in tree.under("runtime/", suffix={".cc"}) if includes(name, annotated)]
    def analyse(name):
        command = [clang, "-std=c++20", "-fsyntax-only", "-Wthread-safety", "-Werror=thread-safety", "-I", ".", name]
        return subprocess.run(command, cwd=tree.root, capture_output=True, text=True).stderr
    with ThreadPoolExecutor() as pool:
        for name, errors in zip(files, pool.map(analyse, files)):
            for line in errors.splitlines():
                if match := re.match(r"(\S+?):(\d+):\d+: (?:fatal )?error: (.*)", line):
                    yield match[1], int(match[2]), match[3]


def check_exceptions(tree):
    for name in tree.under("compiler/", "runtime/", suffix=SOURCE):
        if name.startswith(EXCEPTION_WALLS):
            continue
        for number, line in enumerate(strip_code(tree.text(name)).splitlines(), 1):
            if re.search(r"\bthrow\b|\bcatch\s*\(|\btry\s*\{", line):
                yield name, number, "exceptions stay behind the walls named in docs/style.md"


OPERATOR = re.compile(r"runtime/kernels/(?!onednn/)\w+/")


def check_readmes(tree):
    folders = {"/".join(f.split("/")[:2]) for f in tree.under("compiler/", "runtime/", "examples/", "tests/") if f.count("/") > 1}
    # One header with the contract of an operator explains its folder.
    folders |= {f.rsplit("/", 1)[0] for f in tree.under("compiler/", "runtime/", suffix=SOURCE) if not OPERATOR.match(f)}
    folders |= {f.split("/")[0] for f in tree.under("grammar/", "stdlib/", "examples/")}
    for folder in sorted(folders):
        readme = folder + "/README.md"
        if readme not in tree.files:
            yield readme, 1, "the folder has no README"
        elif len(tree.lines(readme)) < 3:
            yield readme, 1, "says too little: what goes in, what comes out"


def read_diagnostics(tree):
    pattern = re.compile(r'^\s*DIAG\(\s*(k\w+)\s*,\s*(\d+)\s*,\s*(\w+)\s*,\s*((?:"(?:\\.|[^"\\])*"\s*)+)\)', re.M)
    for name in tree.under("compiler/diag/", suffix={".def"}):
        text = tree.text(name)
        for match in pattern.finditer(text):
            message = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', match.group(4)))
            yield name, text.count("\n", 0, match.start()) + 1, match.group(1), int(match.group(2)), message


def check_diagnostics(tree):
    tested = "\n".join(tree.text(f) for f in tree.under("tests/lang/", "tests/cli/", "tests/unit/compiler/") if Path(f).suffix != ".onnx")
    numbers, pages = {}, set()
    for name, line, symbol, number, message in read_diagnostics(tree):
        code = f"WF{number:04d}"
        pages.add(f"docs/errors/{code}.md")
        if number in numbers:
            yield name, line, f"{code} is also {numbers[number]}"
        numbers[number] = symbol
        if f"docs/errors/{code}.md" not in tree.files:
            yield name, line, f"{symbol} has no page docs/errors/{code}.md"
        if code not in tested and not re.search(rf"\b{symbol}\b", tested):
            yield name, line, f"{symbol} ({code}) is not exercised by tests/lang, tests/cli or tests/unit/compiler"
        if message[:1].isupper() or message.endswith(".") or BAD_MESSAGE_WORDS.search(message):
            yield name, line, f"message of {symbol}: lower case, no full stop, the situation rather than a verdict"
    for page in tree.under("docs/errors/WF"):
        if page not in pages:
            yield page, 1, "no diagnostic has this code"


def check_codes(tree):
    """Error codes stand in their table alone; elsewhere they are named."""
    table = "runtime/base/error_codes.def"
    codes = set(re.findall(r"^(?:CODE|PART)\((\d{4}),", tree.text(table), re.M)) if table in tree.files else set()
    for name in tree.under("compiler/", "runtime/", suffix=SOURCE):
        for number, line in enumerate(strip_code(tree.text(name)).splitlines(), 1):
            for code in codes.intersection(re.findall(r"(?<![\w'.])\d{4}(?![\w'.])", line)):
                yield name, number, f"a bare {code}: an error code is named (wf::code), a quantity written {code[0]}'{code[1:]}"


def check_statuses(tree):
    """The table of docs/protocols.md has a row for each class of error codes, with the statuses that it is answered with."""
    page, codes, statuses = "docs/protocols.md", "runtime/base/error_codes.def", "runtime/base/status_codes.def"
    if codes not in tree.files:
        return
    status = {name: (http, grpc) for name, grpc, http in re.findall(r'^STATUS\((\w+), "\w+", (\d+), (\d+)\)', tree.text(statuses), re.M)}
    rows = {name: (plain, grpc) for name, plain, grpc in re.findall(r"^\| [^|]* \| (\w+) \| (\d+) \| \d+ \| \w+ (\d+) \|", tree.text(page), re.M)}
    for name, canonical in re.findall(r'^CODE\(\d+, \d+, \w+, "(\w+)", (\w+), ', tree.text(codes), re.M):
        if name not in ("Product", "Declared") and rows.get(name) != status[canonical]:  # of those a program says which it is
            yield page, 1, f"`{name}` is answered with {' and '.join(status[canonical])} (plain, gRPC); the table says {rows.get(name, 'nothing')}"


def check_words(tree):
    # Spelt in pieces so that this file does not find itself.
    words = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")
    paths = re.compile(r"(^|[^A-Za-z0-9_.])/(wor" r"k|far" r"m|hom" r"e|roo" r"t)/[A-Za-z]|/tmp/bas" r"h_jobs|https?://[^ \"]*(regis" r"try|mirr" r"or|/simp" r"le/)")
    # What a CPU lacks no test can run; the line says what it is.
    skips = re.compile(r"GTEST_SK" r"IP(?!\(\) << \"this CPU has no )|DISAB" r"LED_|gtest_filter=" r"-")
    for name in tree.files:
        if Path(name).suffix in {".png", ".onnx", ".jpg", ".flac", ".wav", ".bin"} or name.startswith("tests/fuzz/corpus/"):
            continue
        for number, line in enumerate(tree.lines(name), 1):
            if words.search(line):
                yield name, number, "a word that marks unfinished work"
            if paths.search(line):
                yield name, number, "a path or address of one machine"
            if name.startswith("tests/") and skips.search(line):
                yield name, number, "a test that does not run"


def check_links(tree):
    """Pages that texts and comments name exist, by their path from the root; so do the targets of links between pages."""
    known = set(tree.files)
    for name in tree.files:
        if Path(name).suffix not in SOURCE | {".md", ".def", ".py", ".txt", ".g4", ".wf", ""} or name.startswith("tests/lint/lint"):
            continue
        fenced = False
        for number, line in enumerate(tree.lines(name), 1):
            fenced ^= name.endswith(".md") and line.startswith("```")
            if fenced and line.startswith("```"):
                continue  # names a file that a walkthrough adds
            comment = line.partition("//")[2] if Path(name).suffix in SOURCE | {".def"} else ""
            for page in {*re.findall(r"(?<![\w/.-])docs/[\w/-]+\.md", line), *re.findall(r"(?<![\w/.-])[\w/-]+\.md\b", comment)}:
                if page not in known and "nnnn" not in page:
                    yield name, number, f"{page} does not exist"
            if name.endswith(".md") and not fenced:
                for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", re.sub(r"`[^`]*`", "", line)):
                    path = Path(name).parent / target
                    if not (tree.root / path).exists():
                        yield name, number, f"{target} does not exist"


RULES = [*(f"{number:02d}" for number in range(1, 45)), "18a"]  # of docs/semantics.md


def check_rules(tree):
    """Each rule stands in docs/semantics.md, and is shown by a program and broken by one, or by a test that tests/lang/rules/elsewhere.txt names."""
    page, table, home = "docs/semantics.md", "tests/lang/rules/elsewhere.txt", "tests/lang/rules/"
    found = set()
    written = [rule.zfill(2) for rule in re.findall(r"^### (\d+)(?= )", tree.text(page), re.M)] + re.findall(r"^### (\d+[a-z]) ", tree.text(page), re.M)
    for rule in sorted(set(RULES) - set(written)):
        yield page, 1, f"rule {rule} is missing"
    for name in tree.under(home, suffix={".wf"}):
        match = re.match(r"(fail_)?r(\d\d[a-z]?)_", name[len(home):])
        if match and match.group(2) in RULES:
            found.add(("broken" if match.group(1) else "shown", match.group(2)))
        else:
            yield name, 1, "the name says no rule: `r05_..` shows rule 5, `fail_r05_..` breaks it"
    for number, line in enumerate(tree.lines(table) if table in tree.files else [], 1):
        row = line.split("#")[0].split()
        if not row:
            continue
        if len(row) != 3 or row[0] not in ("shown", "broken") or row[1] not in RULES:
            yield table, number, "wanted: `shown` or `broken`, the rule, the test"
        elif row[2] not in tree.files:
            yield table, number, f"no such test: {row[2]}"
        else:
            found.add((row[0], row[1]))
    for rule in RULES:
        for how in ("shown", "broken"):
            if (how, rule) not in found:
                yield home.rstrip("/"), 1, f"rule {rule} is {how} by nothing"


TOP_LEVEL = {".ci", ".clang-format", ".clang-tidy", ".gitattributes", ".gitignore", "CHANGELOG.md", "CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md",
             "compiler", "docs", "examples", "grammar", "runtime", "scripts", "stdlib", "tests"}


def check_grammar(tree):
    """The README of the grammar says what becomes of each rule."""
    grammar, page = "grammar/WfParser.g4", "grammar/README.md"
    if grammar not in tree.files:
        return
    told = {rule for line in tree.lines(page) if line.startswith("|") for rule in re.findall(r"\w+", line.split("|")[1])}
    for match in re.finditer(r"^([a-z]\w*)\s*:", tree.text(grammar), re.M):
        if match.group(1) not in told:
            yield page, 1, f"the rule `{match.group(1)}` has no row"


def check_top_level(tree):
    for name in tree.files:
        if name.split("/")[0] not in TOP_LEVEL:
            yield name, 1, "has no place at the top of the tree; TOP_LEVEL of tests/lint/lint.py lists what has"


CHECKS = {"layers": check_layers, "includes": check_includes, "include-groups": check_include_groups, "neighbours": check_neighbours, "cmake-deps": check_cmake_deps, "sizes": check_sizes, "functions": check_functions, "parameters": check_parameters, "format": check_format,
          "thread-safety": check_thread_safety, "exceptions": check_exceptions, "readmes": check_readmes, "diagnostics": check_diagnostics, "codes": check_codes, "statuses": check_statuses, "words": check_words,
          "links": check_links, "rules": check_rules, "grammar": check_grammar, "top-level": check_top_level}


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--root", default=Path(__file__).resolve().parents[2])
    options.add_argument("--list", action="store_true")
    options.add_argument("checks", nargs="*")
    args = options.parse_args()
    if args.list:
        print("\n".join(CHECKS))
        return 0
    tree = Tree(args.root)
    found = 0
    for check in CHECKS if args.checks in ([], ["all"]) else args.checks:
        for name, line, message in CHECKS[check](tree):
            print(f"{name}:{line}: {message} [{check}]")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
