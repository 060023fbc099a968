#!/usr/bin/env python3
"""The tutorial of docs/language.md, followed as a newcomer follows it: in one empty folder, from the top, with what the page says and nothing else.

- ```wf NAME is a whole file; where a command of the page made that file, it must be the same. ```wf add NAME goes to the end of a file, ```wf wrong NAME has mistakes.
- ```cpp NAME is a whole file, too.
- ```console holds commands behind `$ ` and all that they print. `...` stands for any characters; alone on a line, for any lines.
- An indented block holds commands; behind `# ` stands what a call is answered with, as in docs_test.py.
"""
import os
import re
import signal
import subprocess
import time
import unittest

import docs_test
import harness

PAGE = (harness.ROOT / "docs/language.md").read_text()
TUTORIAL = PAGE[PAGE.index("\n# Tutorial\n"):PAGE.index("\n# Reference\n")]
STEP = re.compile(r"^```(?P<language>\w+)(?: (?P<how>wrong|add))?(?: (?P<name>\S+))?\n(?P<text>(?:.*\n)*?)^```$|" + docs_test.BLOCK.pattern, re.M)
SECONDS = 150  # a sanitized compiler on a busy machine


class Terminal:
    """A shell in an empty folder; the repository is in ~/wf."""
    def __init__(self):
        home = harness.scratch() / "home"
        self.folder = home / "tour"
        self.folder.mkdir(parents=True)
        (home / "wf/build/release").mkdir(parents=True)
        (home / "wf/build/release/bin").symlink_to(harness.BUILD / "bin")
        (home / "wf/examples").symlink_to(harness.EXAMPLES)
        (home / ".curlrc").write_text('silent\nshow-error\nmax-time = 60\nwrite-out = "\\n%{http_code}"\n')
        environment = {**os.environ, "HOME": str(home), "WF_ADMIN_PORT": "0"}
        environment.pop("WF_BUILD", None)
        self.log, self.printed, self.status = home / "log", home / "printed", home / "status"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(["bash", "--noprofile", "--norc"], cwd=self.folder, env=environment, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT,
                                            start_new_session=True, text=True)
        self.type("set -m")  # as where people type: `kill %%` ends all of a job
        self.port = None

    def type(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def await_(self, what, found):
        until = time.monotonic() + SECONDS
        while time.monotonic() < until and self.process.poll() is None:
            if answer := found():
                return answer
            time.sleep(0.01)
        raise AssertionError(f"{what}: no end\n{self.log.read_text()}")

    def run(self, command):
        """Exit status and what was printed; a server that is started keeps running."""
        if command.endswith("&"):
            before = len(self.log.read_text())
            self.type(command.replace("--http-port 8080", "--http-port 0"))
            self.port = self.await_(command, lambda: re.search(r"^listening http=\S+:(\d+)", self.log.read_text()[before:], re.M)).group(1)
            return 0, ""
        self.status.unlink(missing_ok=True)
        self.type(f"{{ {command.replace(':8080', f':{self.port}')}\n}} </dev/null >{self.printed} 2>&1; echo $? >{self.status}.new; mv {self.status}.new {self.status}")
        self.await_(command, self.status.exists)
        return int(self.status.read_text()), self.printed.read_text()

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def printed_as(text):
    lines = [r"(?:.*\n)*" if line == "..." else re.escape(line).replace(re.escape("..."), ".*") + "\n" for line in text.splitlines()]
    return re.compile("".join(lines))


class Tutorial(docs_test.Answers):
    @classmethod
    def setUpClass(cls):
        cls.terminal = Terminal()

    @classmethod
    def tearDownClass(cls):
        cls.terminal.close()

    def program(self, how, name, text):
        """Writes a file of the page, and checks it unless its mistakes are the point."""
        path = self.terminal.folder / name
        if how == "add":
            text = path.read_text() + "\n" + text
        elif path.exists():
            self.assertEqual(path.read_text(), text, f"{name} as a command of the page made it")
        path.write_text(text)
        if how != "wrong":
            self.assertEqual(self.terminal.run(f"wfc check {name}"), (0, ""), name)

    def console(self, text):
        for command, printed in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.M):
            found = self.terminal.run(command)[1]
            self.assertIsNotNone(printed_as(printed).fullmatch(found), f"$ {command}\n{found}")
            self.counts["consoles"] += 1

    def session(self, block):
        for line in filter(None, (line.strip() for line in block.splitlines())):
            call = docs_test.CALL.fullmatch(line)
            status, printed = self.terminal.run(call.group(1) if call else line)
            self.assertEqual(status, 0, f"{line}\n{printed}")
            if call:
                body, code = printed.rsplit("\n", 1)
                self.assert_answer(int(code), body.strip(), call.group(2))
                self.counts["calls"] += 1

    def follow(self, step):
        if step["language"] == "wf":
            self.assertIsNotNone(step["name"], "a program of the tutorial has a name")
            self.program(step["how"], step["name"], step["text"])
            self.counts["programs"] += 1
        elif step["language"] == "cpp":
            (self.terminal.folder / step["name"]).write_text(step["text"])
        elif step["language"] == "console":
            self.console(step["text"])
        else:
            self.assertIsNone(step["language"])
            self.session(step.group())

    def test_a_newcomer_comes_to_the_end(self):
        self.counts = {"programs": 0, "consoles": 0, "calls": 0}
        for step in STEP.finditer(TUTORIAL):
            try:
                self.follow(step)
            except AssertionError as error:
                line = docs_test.line_of(TUTORIAL, step) + PAGE.count("\n", 0, PAGE.index(TUTORIAL))
                raise AssertionError(f"docs/language.md:{line}: {error}") from None  # what follows builds on it
        print("tutorial: " + ", ".join(f"{count} {what}" for what, count in self.counts.items()))
        for what, least in (("programs", 10), ("consoles", 8), ("calls", 20)):
            self.assertGreaterEqual(self.counts[what], least)
        self.assertNotIn("second signal", self.terminal.log.read_text())  # `kill` reaches wfc and its server together
        for name in ("find.wf", "layout.wf", "pages.wf"):
            self.assertEqual((self.terminal.folder / name).read_text(), (harness.EXAMPLES / "pages" / name).read_text(), f"{name} of the page and of examples/pages")


if __name__ == "__main__":
    harness.main()
