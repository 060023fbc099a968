#!/usr/bin/env python3
"""What the pages print is true: programs compile as they stand, and each curl line gets the answer that stands behind it.

A session is an indented block with a line `COMMAND  # ANSWER`; what stands above such a line builds and starts the server. The program that it builds
is in the block, in the repository, or the complete one printed above it; a block of C++ with a name is a file beside it. An answer is JSON, a part of it, or `STATUS, code N` and `STATUS: part of the message`; `...` stands for any characters.
"""
import os
import re
import shutil
import signal
import subprocess
import time
import unittest
import wave

import harness

TUTORIAL = "docs/language.md"  # its named programs and its calls belong together: tutorial_test.py
PAGES = ["README.md", TUTORIAL, "docs/server.md", "docs/serving.md", "docs/protocols.md", *(str(path.relative_to(harness.ROOT)) for path in sorted(harness.EXAMPLES.glob("*/README.md")))]
RULES = "docs/semantics.md"  # shows programs and no calls
COOKBOOK = "docs/cookbook.md"  # likewise; its models are stubbed, and what its programs read is printed as ```json NAME
PROGRAM = re.compile(r"^```wf\n(.*?)^```$", re.M | re.S)
BLOCK = re.compile(r"(?<=\n\n)(?: {4}.*\n|\n(?= {4}))+")
CALL = re.compile(r"((?:curl|\S+/classify) .*\S)\s+# (.+)")


def line_of(text, match):
    return text.count("\n", 0, match.start()) + 1


def complete(program):
    """A program that publishes and tests nothing is a part of examples/digits: it takes the place of the workflow there."""
    if re.search(r"^(service|test) ", program, re.M):
        return program
    digits = (harness.EXAMPLES / "digits/digits.wf").read_text()
    return digits[:digits.index("/// The likeliest")] + program + digits[digits.index("service DigitService"):digits.index("test ")]


def folder_for(page, line):
    """A folder in which commands find what they find in the repository's."""
    folder = harness.scratch() / f"{page.replace('/', '-')}-{line}"
    (folder / "build/release").mkdir(parents=True)
    (folder / "build/release/bin").symlink_to(harness.BUILD / "bin")
    for name in ("examples", "README.md"):
        (folder / name).symlink_to(harness.ROOT / name)
    (folder / ".venv").symlink_to(harness.peers_of_examples().parents[1])
    (folder / "models").symlink_to(harness.EXAMPLES / "digits/models")
    shutil.copy(harness.EXAMPLES / "digits/testdata/seven.png", folder)
    (folder / ".curlrc").write_text('silent\nshow-error\nmax-time = 60\nwrite-out = "\\n%{http_code}"\n')
    return folder


def write_sound(path):
    """Half a second of 8,000 samples a second."""
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 8000, 4000, "NONE", ""))
        file.writeframes(bytes(8000))


class Session:
    def __init__(self, page, line, block, program):
        self.page, self.line = page, line
        lines = [text[4:] for text in block.splitlines()]
        self.calls = [CALL.fullmatch(text).groups() for text in lines if CALL.fullmatch(text)]
        # The build that is tested, and an environment with packages, stand for those that a reader makes.
        self.start = [text for text in lines if not CALL.fullmatch(text) and not text.startswith(("cmake ", "python3 -m venv "))]
        self.folder = folder_for(page, line)
        built = re.search(r"wfc build (\S+)", "\n".join(self.start)).group(1)
        if program and not (self.folder / built).exists() and f"> {built}" not in "\n".join(self.start):
            (self.folder / built).write_text(program)
        self.environment = {**os.environ, "PATH": f"{harness.BUILD}/bin:{os.environ['PATH']}", "CURL_HOME": str(self.folder), "WF_ADMIN_PORT": "0"}

    def __enter__(self):
        script = "\n".join(self.start).replace("--http-port 8080", "--http-port 0") + "\nwait\n"
        output = self.folder / "output"
        with output.open("wb") as stream:
            self.process = subprocess.Popen(["bash", "-ec", script], cwd=self.folder, env=self.environment, stdout=stream, stderr=subprocess.STDOUT,
                                            stdin=subprocess.DEVNULL, start_new_session=True)
        until = time.monotonic() + 2 * harness.START_SECONDS
        while time.monotonic() < until and self.process.poll() is None:
            if found := re.search(r"^listening http=\S+:(\d+)", output.read_text(), re.M):
                self.port = found.group(1)
                return self
            time.sleep(0.01)
        self.__exit__()
        raise AssertionError(f"{self.page}:{self.line}: no server\n{output.read_text()}")

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(30)

    def call(self, command):
        """Status and body."""
        done = subprocess.run(["bash", "-ec", command.replace(":8080", f":{self.port}")], cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=90,
                              check=False)
        if done.returncode != 0:
            raise AssertionError(f"{command}\n{done.stderr}")
        body, status = done.stdout.rsplit("\n", 1)
        return int(status), body


def sessions(page):
    text = (harness.ROOT / page).read_text()
    for match in BLOCK.finditer(text):
        if any(CALL.fullmatch(line[4:]) for line in match.group().splitlines()):
            above = [one.group(1) for one in PROGRAM.finditer(text, 0, match.start()) if "\nservice " in one.group(1)]
            yield Session(page, line_of(text, match), match.group(), above[-1] if above else None)


def pattern(answer):
    return re.escape(answer).replace(re.escape("..."), ".*")


class Answers(unittest.TestCase):
    def assert_answer(self, status, body, answer):
        refused = re.fullmatch(r"(\d{3})(?:, code (\d+))?(?:: (.*))?", answer)
        if refused:
            wanted, code, message = refused.groups()
            self.assertEqual(status, int(wanted), body)
            if code:
                self.assertIn(f'"code":{code},', body)
            self.assertIsNotNone(re.search(pattern(message or ""), body), body)
        else:
            self.assertEqual(status, 200, body)
            match = re.fullmatch if answer.startswith("{") else re.search
            self.assertIsNotNone(match(pattern(answer), body), body)


class Docs(Answers):
    @classmethod
    def setUpClass(cls):
        for script in harness.EXAMPLES.glob("*/make.py"):
            harness.made(script.parent.name)

    def assert_clean(self, source):
        done = harness.wfc("check", source, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), source)

    def test_every_printed_program_checks(self):
        found = {}
        for page in [*PAGES, RULES]:
            text = (harness.ROOT / page).read_text()
            for match in PROGRAM.finditer(text):
                with self.subTest(page=page, line=line_of(text, match)):
                    program = folder_for(page, f"program-{line_of(text, match)}") / "program.wf"
                    program.write_text(complete(match.group(1)))
                    self.assert_clean(program)
                    if "\ntest \"" in match.group(1):
                        harness.wfc("test", program)
                    found[page] = found.get(page, 0) + 1
        self.assertGreaterEqual(found.get("README.md", 0), 1)
        self.assertGreaterEqual(found.get(TUTORIAL, 0), 1)

    def test_every_recipe_of_the_cookbook_passes_its_tests(self):
        text = (harness.ROOT / COOKBOOK).read_text()
        recipes = list(PROGRAM.finditer(text))
        self.assertEqual(len(recipes), text.count("\n### "))
        for match in recipes:
            with self.subTest(line=line_of(text, match)):
                program = folder_for(COOKBOOK, line_of(text, match)) / "program.wf"
                program.write_text(match.group(1))
                write_sound(program.with_name("sound.wav"))
                for name, content in re.findall(r"^```json (\S+)\n(.*?)^```$", text, re.M | re.S):
                    program.with_name(name).write_text(content)
                told = re.findall(r"^(?:warning|error)\[(\w+)\]", harness.wfc("check", program).stderr, re.M)
                self.assertLessEqual(set(told), {"WF6002"}, "more than that a model's file is not there")
                self.assertRegex(harness.wfc("test", program).stdout, r"(?m)^[1-9]\d* passed")

    def test_every_printed_call_is_answered_as_printed(self):
        for page in PAGES:
            if page == TUTORIAL:
                continue
            found = list(sessions(page))
            self.assertTrue(found, f"{page} shows no call with its answer")
            for session in found:
                with session:
                    for command, answer in session.calls:
                        with self.subTest(page=page, line=session.line, command=command):
                            self.assert_answer(*session.call(command), answer)

    def test_no_call_stands_without_its_answer(self):
        for page in PAGES:
            for number, line in enumerate((harness.ROOT / page).read_text().splitlines(), 1):
                if re.match(r"    curl ", line):
                    self.assertIsNotNone(CALL.fullmatch(line[4:]), f"{page}:{number}: what does it answer?")

    def test_the_table_of_settings_is_that_of_a_server(self):
        text = subprocess.run([harness.compiled(harness.EXAMPLES / "hello/hello.wf"), "--help"], capture_output=True, text=True, check=True).stdout
        known = {key: default.strip('"') for key, default in re.findall(r"\(WF_\w+, ([a-z._]+): (.*)\)$", text, re.M)}
        page = (harness.ROOT / "docs/serving.md").read_text()
        told = dict(re.findall(r"^\| `([a-z._]+)` \| `?(.*?)`? \| (?:yes|restart) \| ", page, re.M))
        self.assertGreater(len(known), 40)
        self.assertEqual({key: value if value != "none" else "" for key, value in told.items()}, known)

    def test_every_example_checks_without_a_warning(self):
        for source in sorted(harness.EXAMPLES.glob("*/*.wf")):
            with self.subTest(source=source.name):
                self.assert_clean(source)

    def test_pictures_of_examples_are_what_wfc_draws(self):
        for picture in sorted(harness.EXAMPLES.glob("*/graph.svg")):
            source = picture.with_name(f"{picture.parent.name}.wf")
            with self.subTest(source=source.name):
                self.assertEqual(picture.read_text(), harness.wfc("graph", "--format=svg", source).stdout, f"wfc graph --format=svg {source.name} >{picture.name}")

    def test_the_page_of_the_library_is_what_wfc_prints(self):
        self.assertEqual((harness.ROOT / "docs/std.md").read_text(), harness.wfc("doc", "std").stdout, "wfc doc std >docs/std.md")

    def test_every_file_of_the_standard_library_checks(self):
        # Natives and type variables stand only in the library itself, so a program imports it.
        for source in sorted((harness.ROOT / "stdlib").glob("*.wf")):
            with self.subTest(source=source.name):
                program = harness.scratch() / f"uses_{source.stem}.wf"
                program.write_text(f"import std.{source.stem};\n")
                harness.wfc("check", program)


if __name__ == "__main__":
    harness.main()
