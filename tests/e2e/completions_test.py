#!/usr/bin/env python3
"""`wfc completions` in the shells themselves: bash and zsh on a terminal, with keys pressed; fish by its own command for it."""
import os
import pty
import re
import select
import signal
import subprocess
import time
import unittest

import harness

SECONDS = 30


class Terminal:
    """An interactive shell that shows, instead of running wfc, which arguments it is given."""
    def __init__(self, command, folder, setup):
        self.output = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            environment = dict(os.environ, TERM="xterm", PATH=f"{harness.WFC.parent}:{os.environ['PATH']}", HOME=str(folder), LC_ALL="C.UTF-8")
            os.execvpe(command[0], command, environment)
        for line in [*setup, 'wfc() { printf "<%s>" "$@"; echo " END"; }']:
            self.press(line + "\n")
        self.command('echo IT_IS_"READY"')

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def wait(self, pattern):
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            found = re.search(pattern, self.output)
            if found:
                return found
            if select.select([self.fd], [], [], 0.1)[0]:
                self.output += os.read(self.fd, 65536)
        raise AssertionError(f"no {pattern} in {self.output[-3000:]!r}")

    def command(self, line):
        self.press(line + "\n")
        self.wait(rb"IT_IS_READY")

    def settle(self):
        """Until the shell has nothing more to show."""
        while select.select([self.fd], [], [], 0.4)[0]:
            self.output += os.read(self.fd, 65536)

    def completed(self, *keys):
        """The arguments of `wfc` after these keys; a tab ends each but the last."""
        self.settle()
        self.output = b""
        self.press("wfc ")
        for number, part in enumerate(keys):
            self.press(part + ("\t" if number + 1 < len(keys) else "\n"))
            if number + 1 < len(keys):
                self.settle()
        found = self.wait(rb"[\r\n]((?:<[^<>]*>)*) END\r")
        return re.findall(r"<([^<>]*)>", found.group(1).decode())

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


# Keys, and the arguments that come of them.
TYPED = [
    (("gr", ""), ["graph"]),
    (("graph --fo", "mer", " pip", ""), ["graph", "--format=mermaid", "pipeline.wf"]),
    (("check --fi", "other", ""), ["check", "--fix", "other one.wf"]),
    (("run --target-cpu=nat", ""), ["run", "--target-cpu=native"]),
    (("build pip", "-o no", ""), ["build", "pipeline.wf", "-o", "notes.txt"]),
    (("breaking --against no", "pip", ""), ["breaking", "--against", "notes.txt", "pipeline.wf"]),
    (("completions fi", ""), ["completions", "fish"]),
    (("doctor no", ""), ["doctor", "no"]),
    (("run pip", "-- --ta", ""), ["run", "pipeline.wf", "--", "--ta"]),  # what stands there are flags of the server
    (("run pip", "-- --config no", ""), ["run", "pipeline.wf", "--", "--config", "notes.txt"]),
    (("check -- pip", ""), ["check", "--", "pipeline.wf"]),
    (("mod", "comp", "--tol", ""), ["model", "compare", "--tolerance"]),
    (("model run --tol", ""), ["model", "run", "--tol"]),
    (("model run --precision=bf", "no", ""), ["model", "run", "--precision=bf16", "notes.txt"]),
    (("model run --output=ca", "x"), ["model", "run", "--output=cases/x"]),
    (("model run ins", ""), ["model", "run", "ins"]),
    (("model test ca", "x"), ["model", "test", "cases/x"]),
    (("doc std.tens", ""), ["doc", "std.tensor"]),
    (("doc pip", ""), ["doc", "pipeline.wf"]),
    (("--vers", ""), ["--version"]),
]


class Completions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = harness.scratch() / "completions"
        cls.folder.mkdir()
        for name in ("pipeline.wf", "other one.wf", "notes.txt", "cases.txt"):
            (cls.folder / name).write_text("")
        (cls.folder / "cases").mkdir()
        for shell, name in (("bash", "wfc.bash"), ("zsh", "_wfc"), ("fish", "wfc.fish")):
            (cls.folder / name).write_text(harness.wfc("completions", shell).stdout)

    def types(self, terminal, typed):
        self.addCleanup(terminal.close)
        for keys, wanted in typed:
            with self.subTest(keys=keys):
                self.assertEqual(terminal.completed(*keys), wanted)

    def test_bash(self):
        # A flag and its value are two words here: after the flag stands a space.
        typed = [(keys, [part for argument in wanted for part in (argument.split("=") if argument.startswith("--") else [argument])])
                 for keys, wanted in TYPED if "=" not in keys[0]]
        typed.append((("run --target-cpu nat", ""), ["run", "--target-cpu", "native"]))
        typed.append((("check no", ""), ["check", "no"]))  # no program; zsh offers other files where there is none
        self.types(Terminal(["bash", "--norc", "--noprofile", "-i"], self.folder, ["source wfc.bash"]), typed)

    def test_bash_with_an_equals_sign(self):
        self.types(Terminal(["bash", "--norc", "--noprofile", "-i"], self.folder, ["source wfc.bash"]),
                   [(keys, wanted) for keys, wanted in TYPED if "=" in keys[0]] + [(("graph --format=mer", ""), ["graph", "--format=mermaid"])])

    def test_zsh(self):
        # `_arguments` puts the equals sign itself, and takes a written one.
        self.types(Terminal(["zsh", "-f", "-i"], self.folder, ["fpath=($PWD $fpath)", "autoload -U compinit; compinit -u -D"]), TYPED)

    def test_zsh_from_a_line_of_its_start_file(self):
        self.types(Terminal(["zsh", "-f", "-i"], self.folder, ["autoload -U compinit; compinit -u -D", "source =(cat _wfc)"]), TYPED[:2])

    def fish(self, typed):
        command = f"source wfc.fish; complete -C {json_quoted(typed)}"
        done = subprocess.run(["fish", "-N", "-c", command], cwd=self.folder, capture_output=True, text=True, timeout=60,
                              env=dict(os.environ, HOME=str(self.folder)))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [line.split("\t")[0] for line in done.stdout.splitlines()]

    def test_fish(self):
        self.assertEqual(self.fish("wfc gr"), ["graph"])
        self.assertEqual(set(self.fish("wfc graph --format=")), {f"--format={word}" for word in ("text", "dot", "mermaid", "svg", "json")})
        self.assertEqual(set(self.fish("wfc export --format ")), {"openapi", "proto"})
        self.assertEqual(self.fish("wfc build -o no"), ["notes.txt"])
        self.assertIn("native", self.fish("wfc run --target-cpu nat"))
        self.assertEqual(self.fish("wfc graph pip"), ["pipeline.wf"])
        self.assertEqual(self.fish("wfc completions z"), ["zsh"])
        self.assertEqual(self.fish("wfc doctor no"), [])
        self.assertEqual(set(self.fish("wfc -")), {"--help", "--version"})
        self.assertEqual(self.fish("wfc model serve x.onnx -- --"), [])
        self.assertEqual(self.fish("wfc run x.wf -- --config no"), ["notes.txt"])
        self.assertEqual(self.fish("wfc check -- pip"), ["pipeline.wf"])
        self.assertEqual(set(self.fish("wfc model ")), {"inspect", "run", "bench", "test", "compare", "serve"})
        self.assertEqual(self.fish("wfc model run ins"), [])
        self.assertEqual(self.fish("wfc model run --tol"), [])
        self.assertEqual(self.fish("wfc model compare --tol"), ["--tolerance"])
        self.assertEqual(set(self.fish("wfc model bench --precision ")), {"f32", "bf16", "auto"})
        self.assertEqual(set(self.fish("wfc model compare --precision ")), {"f32", "bf16"})
        self.assertEqual(self.fish("wfc model run --output ca"), ["cases/"])
        self.assertEqual(self.fish("wfc model test ca"), ["cases/"])
        self.assertEqual(self.fish("wfc doc std.tens"), ["std.tensor"])
        self.assertEqual(self.fish("wfc doc pip"), ["pipeline.wf"])
        self.assertEqual(self.fish("wfc help run --tar"), [])  # no command itself


def json_quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


if __name__ == "__main__":
    harness.main()
