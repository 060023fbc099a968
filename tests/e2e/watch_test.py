"""`wfc run --watch`: edits are served without a refused connection; mistakes leave the old server in place."""
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
import unittest
from pathlib import Path

import harness
import onnx_file

PROGRAM = '''import words;

const GREETING: string = lines("greeting.txt")[0];

workflow Greet() -> (text: string) {{
  return (text: "{version} {{GREETING}} {{words.NAME}}");
}}

service Hello {{
  workflow Greet;
}}
'''

FILES = {"greeting.txt": "hello\n", "words.wf": 'const NAME: string = "Ada";\n', "main.wf": PROGRAM.format(version=1)}


class Watched:
    def __init__(self, folder, *args, env=None, files=None):
        self.folder = folder
        for name, text in (files or FILES).items():
            self.write(name, text)
        self.log = open(folder / "log", "w+b")
        command = [harness.WFC, "run", "--watch", "main.wf", "--", *(args or ("--host", "127.0.0.1", "--http-port", "0")), "--admin-port", "0"]
        self.process = subprocess.Popen(command, cwd=folder, stdout=self.log, stderr=self.log, env={**os.environ, **(env or {})})

    def wait_served(self):
        self.served = self.wait(r"listening http=(\S+)").group(1)
        return self

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def output(self):
        return (self.folder / "log").read_text()

    def wait(self, pattern, count=1, seconds=120):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            found = list(re.finditer(pattern, self.output()))
            if len(found) >= count:
                return found[-1]
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        raise AssertionError(f"no `{pattern}` {count} times\n{self.output()}")

    def address(self):
        """Of a port, or the name of a file."""
        if self.served.startswith("unix:"):
            return str(self.folder / self.served.removeprefix("unix:"))
        host, port = self.served.rsplit(":", 1)
        return host.strip("[]"), int(port)

    def ask(self):
        with harness.Connection(self.address()) as connection:
            return connection.call("POST", "/Hello/Greet", b"{}", {"connection": "close"})

    def wait_text(self, text, seconds=60):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.ask().json["text"] == text:
                return
            time.sleep(0.05)
        raise AssertionError(f"it never said `{text}`\n{self.output()}")

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(30)
        finally:
            self.process.kill()
            self.log.close()


class Client(threading.Thread):
    """Asks all the time; what is not an answer is a mistake."""
    def __init__(self, watched):
        super().__init__()
        self.watched, self.going, self.count, self.mistakes = watched, True, 0, []

    def run(self):
        while self.going:
            try:
                reply = self.watched.ask()
                if reply.status != 200:
                    self.mistakes.append(reply)
            except OSError as error:
                self.mistakes.append(error)
            except EOFError as error:
                self.mistakes.append(error)
            self.count += 1
            time.sleep(0.002)


class Watch(unittest.TestCase):
    def setUp(self):
        folder = harness.scratch() / f"watch-{os.urandom(4).hex()}"
        folder.mkdir()
        self.watched = Watched(folder).wait_served()

    def tearDown(self):
        self.watched.stop()

    def test_edits_are_served_and_no_connection_is_refused(self):
        watched = self.watched
        watched.wait_text("1 hello Ada")
        client = Client(watched)
        client.start()
        try:
            watched.write("main.wf", PROGRAM.format(version=2))
            watched.wait_text("2 hello Ada")
            watched.write("greeting.txt", "good day\n")  # embedded
            watched.wait_text("2 good day Ada")
            watched.write("words.wf", 'const NAME: string = "Grace";\n')  # imported
            watched.wait_text("2 good day Grace")
            edited = watched.folder / "edited"  # as editors do: a new file in the place of the old
            edited.write_text(PROGRAM.format(version=3))
            os.replace(edited, watched.folder / "main.wf")
            watched.wait_text("3 good day Grace")
        finally:
            client.going = False
            client.join()
        self.assertEqual(client.mistakes, [])
        self.assertGreater(client.count, 20)
        self.assertEqual(watched.output().count("listening http="), 5)
        self.assertEqual(len(set(re.findall(r"listening http=(\S+)", watched.output()))), 1)
        self.assertEqual(watched.stop(), 0, watched.output())

    def test_a_mistake_is_told_and_the_old_server_stays(self):
        watched = self.watched
        watched.write("main.wf", "workflow Greet( {\n")
        watched.wait(r"the server goes on as it was")
        self.assertIn("error[WF", watched.output())
        watched.wait_text("1 hello Ada")
        os.remove(watched.folder / "words.wf")
        watched.write("main.wf", PROGRAM.format(version=2))
        watched.wait(r"the server goes on as it was", count=2)
        watched.wait_text("1 hello Ada")
        watched.write("words.wf", 'const NAME: string = "Grace";\n')  # a file that was missing
        watched.wait_text("2 hello Grace")

    def test_a_file_written_in_pieces_is_read_once_it_is_whole(self):
        watched = self.watched
        text = PROGRAM.format(version=2)
        with open(watched.folder / "main.wf", "w") as file:
            for at in range(0, len(text), 20):
                file.write(text[at:at + 20])
                file.flush()
                time.sleep(0.02)
        watched.wait_text("2 hello Ada")
        self.assertNotIn("error[", watched.output())

    def test_a_file_in_whose_place_a_folder_stands(self):
        watched = self.watched
        os.remove(watched.folder / "words.wf")
        (watched.folder / "words.wf").mkdir()
        watched.wait(r"`words.wf`: it is a folder[^\0]*the server goes on as it was")
        (watched.folder / "words.wf/inside").write_text("x")
        watched.wait(r"the server goes on as it was", count=2)
        watched.wait_text("1 hello Ada")
        os.remove(watched.folder / "words.wf/inside")
        os.rmdir(watched.folder / "words.wf")
        watched.write("words.wf", 'const NAME: string = "Grace";\n')
        watched.wait_text("1 hello Grace")

    def test_a_file_that_may_not_be_read_for_a_while(self):
        watched = self.watched
        os.chmod(watched.folder / "main.wf", 0)
        served = 1
        if os.access(watched.folder / "main.wf", os.R_OK):  # root may
            served += 1
            watched.wait(r"listening http=", count=served)
        else:
            watched.wait(r"the server goes on as it was")
        watched.wait_text("1 hello Ada")
        os.chmod(watched.folder / "main.wf", 0o644)  # which leaves its time as it was
        watched.wait(r"listening http=", count=served + 1)

    def test_a_file_that_is_empty_for_a_while(self):
        watched = self.watched
        watched.write("main.wf", "")
        watched.wait(r"error\[WF1011\][^\0]*the server goes on as it was")
        watched.write("main.wf", PROGRAM.format(version=2))
        watched.wait_text("2 hello Ada")

    def test_a_file_that_leads_out_of_the_folder_for_a_while(self):
        watched = self.watched
        outside = harness.scratch() / f"outside-{os.urandom(4).hex()}"
        outside.write_text("from outside\n")
        link = watched.folder / "link"
        link.symlink_to(outside)
        os.replace(link, watched.folder / "greeting.txt")
        watched.wait(r"error\[WF3046\][^\0]*waiting for a change")
        watched.write("inside.txt", "good day\n")
        os.replace(watched.folder / "inside.txt", watched.folder / "greeting.txt")
        watched.wait_text("1 good day Ada")

    def test_what_a_program_with_mistakes_does_not_come_to_stays_watched(self):
        watched = self.watched
        watched.write("main.wf", PROGRAM.format(version=2).replace("import words;", "import words"))
        watched.wait(r"error\[WF[^\0]*waiting for a change")
        watched.write("greeting.txt", "good day\n")
        watched.wait("waiting for a change", count=2)
        watched.write("main.wf", PROGRAM.format(version=2))
        watched.wait_text("2 good day Ada")

    def test_what_it_says_is_lines_of_json_where_diagnostics_are(self):
        done = subprocess.Popen([harness.WFC, "run", "--watch", "--format=json", self.watched.folder / "none.wf"], stderr=subprocess.PIPE, text=True)
        try:
            lines = [json.loads(done.stderr.readline()) for _ in range(2)]
        finally:
            done.terminate()
            done.communicate()
        self.assertEqual((lines[1]["severity"], lines[1]["message"]), ("note", "waiting for a change"))

    def test_of_many_quick_changes_the_last_is_served(self):
        watched = self.watched
        for version in range(2, 200):
            if version % 3 == 0:
                os.remove(watched.folder / "main.wf")
            watched.write("main.wf", PROGRAM.format(version=version) if version % 5 else "nonsense")
            time.sleep(0.005)
        watched.wait_text("199 hello Ada")
        self.assertLess(watched.output().count("listening http="), 10)
        self.assertEqual(watched.stop(), 0, watched.output())

    def test_flags_that_the_server_does_not_know_end_it(self):
        folder = harness.scratch() / f"watch-{os.urandom(4).hex()}"
        folder.mkdir()
        (folder / "main.wf").write_text('workflow W() -> (x: i64) {\n  return (x: 1);\n}\n\nservice S {\n  workflow W;\n}\n')
        command = [harness.WFC, "run", "--watch", "main.wf", "--", "--http-prot", "0"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("`--http-prot`", done.stderr)
        self.assertNotIn("waiting", done.stderr)

    def test_a_program_that_is_wrong_from_the_start_is_waited_for(self):
        folder = harness.scratch() / f"watch-{os.urandom(4).hex()}"
        folder.mkdir()
        (folder / "main.wf").write_text("workflow Greet( {\n")
        with open(folder / "log", "w+b") as log:
            command = [harness.WFC, "run", "--watch", "main.wf", "--", "--http-port", "0", "--admin-port", "0", "--host", "127.0.0.1"]
            process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
            try:
                until = time.monotonic() + 30
                while "waiting for a change" not in (folder / "log").read_text() and time.monotonic() < until:
                    time.sleep(0.05)
                (folder / "main.wf").write_text('workflow W() -> (x: i64) {\n  return (x: 1);\n}\n\nservice S {\n  workflow W;\n}\n')
                while "listening http=" not in (folder / "log").read_text() and time.monotonic() < until + 30:
                    time.sleep(0.05)
                self.assertIn("listening http=", (folder / "log").read_text())
                process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(30), 0)
            finally:
                process.kill()
                process.wait()


EXTERN = '''extern fn answer(x: i64) -> i64 = cpp("answer.cc");

workflow Greet() -> (text: string) {
  node x = answer(2);
  return (text: "{x}");
}

service Hello {
  workflow Greet;
}
'''
SOURCE = '''#include "main.wf.h"
#include "more/factor.h"

int64_t externs::answer(wf::Context&, int64_t x) { return x * kFactor; }
'''


class WatchHeaders(unittest.TestCase):
    """Of a source that does not compile all headers are watched: those that were read, and those that were looked for."""

    def test_a_header_that_is_missing_wrong_or_gone(self):
        folder = harness.scratch() / f"watch-{os.urandom(4).hex()}"
        (folder / "more").mkdir(parents=True)
        watched = Watched(folder, files={"main.wf": EXTERN, "answer.cc": SOURCE})
        try:
            waiting = 0
            for name, text in (("more/factor.h", '#include "factors.h"\n'),  # includes what is missing
                               ("more/factors.h", "#error none\n")):         # is there, and does not compile
                waiting += 1
                watched.wait("waiting for a change", count=waiting)
                watched.write(name, text)
            watched.wait("waiting for a change", count=waiting + 1)
            watched.write("more/factors.h", "constexpr int64_t kFactor = 21;\n")
            watched.wait_served().wait_text("42")
            os.rename(folder / "more/factors.h", folder / "factors")
            watched.wait("waiting for a change", count=waiting + 2)
            os.rename(folder / "factors", folder / "more/factors.h")
            watched.wait("listening http=", count=2)
            self.assertEqual(watched.stop(), 0, watched.output())
        finally:
            watched.stop()


HANGS = SOURCE + '''
#include <csignal>
#include <unistd.h>

static const int hangs = [] {
  signal(SIGTERM, SIG_IGN);
  for (;;) pause();
  return 0;
}();
'''
MODEL = '''model Scale = onnx("scale.onnx");

workflow Greet(x: f32[3] = [1.0, 1.0, 1.0]) -> (text: string) {
  node y = Scale(x);
  return (text: "{y[0]}");
}

service Hello {
  workflow Greet;
}
'''


class WatchCase(unittest.TestCase):
    def watch(self, *args, files, env=None):
        folder = harness.scratch() / f"watch-{os.urandom(4).hex()}"
        (folder / "more").mkdir(parents=True)
        (folder / "more/factor.h").write_text("constexpr int64_t kFactor = 21;\n")
        (folder / "scale.onnx").write_bytes(onnx_file.scaled(3, 2))
        watched = Watched(folder, *args, files=files, env=env)
        self.addCleanup(watched.stop)
        return watched


class WatchStarts(WatchCase):
    """Servers that never listen."""

    def test_one_that_hangs_is_told_and_the_next_edit_takes_its_place(self):
        watched = self.watch(files={"main.wf": EXTERN, "answer.cc": SOURCE}).wait_served()
        watched.wait_text("42")
        watched.write("answer.cc", HANGS)
        watched.wait("it does not listen yet, 10 s after its start; the server goes on as it was; waiting for it, or for a change")
        watched.wait_text("42")
        watched.write("answer.cc", SOURCE.replace("x * kFactor", "x * kFactor + 1"))
        watched.wait_text("43")
        watched.write("answer.cc", HANGS + "// again\n")
        time.sleep(2)
        self.assertEqual(watched.stop(), 0, watched.output())

    def test_a_first_one_that_hangs_is_told_and_ends_with_wfc(self):
        watched = self.watch(files={"main.wf": EXTERN, "answer.cc": HANGS})
        watched.wait("it does not listen yet, 10 s after its start; waiting for it, or for a change")
        watched.write("answer.cc", SOURCE)
        watched.wait_served().wait_text("42")
        self.assertEqual(watched.stop(), 0, watched.output())

    def test_one_that_crashes_says_by_which_signal(self):
        watched = self.watch(files={"main.wf": EXTERN, "answer.cc": SOURCE}).wait_served()
        watched.write("answer.cc", SOURCE + "#include <cstdlib>\nstatic const int ends = (abort(), 0);\n")
        watched.wait(r"it does not start \(signal 6, Aborted\); the server goes on as it was; waiting for a change")
        watched.write("answer.cc", SOURCE + "// fine\n")
        watched.wait("listening http=", count=2)
        watched.wait_text("42")

    def test_a_model_that_cannot_be_served(self):
        watched = self.watch(files={"main.wf": MODEL}).wait_served()
        watched.wait_text("2")
        (watched.folder / "scale.onnx").write_bytes(onnx_file.scaled(3, float("nan")))
        watched.wait("it does not start; the server goes on as it was; waiting for a change")
        watched.wait_text("2")
        (watched.folder / "scale.onnx").write_bytes(onnx_file.scaled(3, 5))
        watched.wait_text("5")

    def test_a_port_that_another_has(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            watched = self.watch("--host", "127.0.0.1", "--http-port", str(other.getsockname()[1]), files={"main.wf": EXTERN, "answer.cc": SOURCE})
            watched.wait(f"cannot listen on 127.0.0.1:{other.getsockname()[1]}: the port is in use by another process")
            watched.wait("it does not start; waiting for a change")
        watched.write("answer.cc", SOURCE + "// now\n")
        watched.wait_served().wait_text("42")


class WatchLoses(unittest.TestCase):
    """A server that ends by itself."""
    def lose(self, *args):
        folder = harness.scratch() / f"watch-{os.urandom(4).hex()}"
        folder.mkdir()
        watched = Watched(folder, *args).wait_served()
        self.addCleanup(watched.stop)
        watched.wait_text("1 hello Ada")
        children = [pid for task in Path(f"/proc/{watched.process.pid}/task").iterdir() for pid in (task / "children").read_text().split()]
        self.assertEqual(len(children), 1)
        os.kill(int(children[0]), signal.SIGKILL)
        watched.wait(r"the server has ended \(signal 9, Killed\); waiting for a change")
        self.assertRaises(OSError, watched.ask)
        watched.write("main.wf", PROGRAM.format(version=2))
        watched.wait("listening http=", count=2)
        watched.wait_served().wait_text("2 hello Ada")
        self.assertEqual(watched.stop(), 0, watched.output())

    def test_nothing_listens_until_the_next_edit(self):
        self.lose()

    def test_nor_at_the_file_of_a_socket(self):
        self.lose("--listen", "unix:lost.sock")


# Templates, tables of exceptions and destructors at the end: all that a linker may keep of C++.
STANDARD = '''#include <map>
#include <regex>
#include <string>
#include <vector>

static std::map<std::string, std::vector<int64_t>> seen;

int64_t externs::answer(wf::Context&, int64_t x) {
  const std::regex number("[0-9]+");
  if (!std::regex_match(std::to_string(x), number)) throw wf::Failure(5000, "no number");
  return seen["x"].emplace_back(x) * 21;
}
'''


class WatchExterns(WatchCase):
    """The process of `wfc run --watch` links C++ again and again."""
    def test_edits_of_the_source_and_of_the_program(self):
        watched = self.watch(files={"main.wf": EXTERN, "answer.cc": STANDARD}, env={"MALLOC_PERTURB_": "85"}).wait_served()
        watched.wait_text("42")
        watched.write("answer.cc", STANDARD.replace("* 21", "* 22"))
        watched.wait_text("44")
        watched.write("main.wf", EXTERN.replace('"{x}"', '"now {x}"'))
        watched.wait_text("now 44")
        watched.write("answer.cc", STANDARD.replace("std::regex_match", "!std::regex_match"))
        watched.wait("listening http=", count=4)
        self.assertEqual(watched.ask().json["error"]["message"], "no number")
        self.assertEqual(watched.stop(), 0, watched.output())


class WatchElsewhere(unittest.TestCase):
    """Where the settings say, wherever they stand."""
    def served_anew(self, *args, env=None):
        folder = harness.scratch() / f"watch-{os.urandom(4).hex()}"
        folder.mkdir()
        (folder / "server.yml").write_text("listen: unix:of-file.sock\n")
        watched = Watched(folder, *args, env=env).wait_served()
        client = Client(watched)
        try:
            watched.wait_text("1 hello Ada")
            client.start()
            for version in (2, 3):
                watched.write("main.wf", PROGRAM.format(version=version))
                watched.wait_text(f"{version} hello Ada")
        finally:
            client.going = False
            if client.ident is not None:
                client.join()
            status = watched.stop()
        self.assertEqual((status, client.mistakes), (0, []), watched.output())
        self.assertEqual(set(re.findall(r"listening http=(\S+)", watched.output())), {watched.served})
        self.assertEqual(list(folder.glob("*.sock")), [])
        return watched.served

    def test_on_a_unix_socket(self):
        self.assertEqual(self.served_anew("--listen", "unix:of-flag.sock"), "unix:of-flag.sock")
        self.assertEqual(self.served_anew("--http-port=0", env={"WF_LISTEN": "unix:of-variable.sock"}), "unix:of-variable.sock")
        self.assertEqual(self.served_anew("--config", "server.yml"), "unix:of-file.sock")

    def test_on_a_port_of_its_own_for_grpc(self):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = str(free.getsockname()[1])
        self.served_anew("--host", "127.0.0.1", "--http-port", "0", "--grpc-port", port)

    def test_on_an_address_of_six(self):
        self.assertRegex(self.served_anew("--http-port", "0", env={"WF_HOST": "::1"}), r"^\[::1\]:\d+$")


if __name__ == "__main__":
    harness.main()
