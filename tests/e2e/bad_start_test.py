#!/usr/bin/env python3
"""A server that cannot start says why and exits; a compiler that cannot write leaves nothing behind."""
import os
import re
import resource
import shutil
import signal
import socket
import struct
import subprocess
import time
import unittest

import harness
import onnx_file

HELLO = harness.EXAMPLES / "hello/hello.wf"
DIGITS = harness.EXAMPLES / "digits"
FIRST_WEIGHTS = b"conv1.wJ\xa0\x02"  # in its model: a name, and the length of what follows


class BadStart(unittest.TestCase):
    def run_server(self, source, *args, env=None):
        return subprocess.run([harness.compiled(source), *harness.flags_besides(args, http_port=0, admin_port=0), *map(str, args)], capture_output=True, text=True,
                              timeout=30, env={**os.environ, **(env or {})})

    def test_a_port_that_is_taken(self):
        first = harness.Server.of(HELLO)
        self.addCleanup(first.kill)
        port = str(first.addresses["http"][1])
        second = subprocess.run([harness.compiled(HELLO), "--http-port", port, "--grpc-port", port, "--admin-port", "0", "--host", "127.0.0.1"],
                                capture_output=True, text=True, timeout=30)
        self.assertEqual(second.returncode, 1, second)
        self.assertIn(port, second.stderr)
        self.assertIn("in use", second.stderr)
        self.assertNotIn("listening", second.stdout)
        self.assertEqual(first.post("/Hello/Greet", {}).status, 200)

    def test_streams_that_are_closed_are_not_taken_by_sockets(self):
        for closed in ((0,), (1,), (2,), (0, 1, 2)):
            with socket.create_server(("127.0.0.1", 0)) as taken:
                port = taken.getsockname()[1]
            server = subprocess.Popen([harness.compiled(HELLO), "--host", "127.0.0.1", "--http-port", str(port), "--admin-port", "0"], stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=lambda fds=closed: [os.close(fd) for fd in fds])
            self.addCleanup(server.kill)
            until = time.monotonic() + harness.START_SECONDS
            while True:
                try:
                    with harness.Connection(("127.0.0.1", port)) as connection:
                        self.assertEqual(connection.call("POST", "/Hello/Greet", b"{}").status, 200)
                    break
                except ConnectionRefusedError:
                    self.assertIsNone(server.poll(), closed)
                    self.assertLess(time.monotonic(), until)
                    time.sleep(0.02)
            for fd in range(3):
                self.assertEqual(os.readlink(f"/proc/{server.pid}/fd/{fd}"), "/dev/null", closed)
            server.send_signal(signal.SIGTERM)
            self.assertEqual(server.wait(30), 0, closed)

    @unittest.skipUnless(harness.BUILD.name == "release", "a sanitizer needs descriptors of its own")
    def test_too_few_descriptors_are_told(self):
        binary = harness.compiled(HELLO)
        for most in range(4, 13):
            def allow_few(most=most):
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

            done = subprocess.run([binary, "--http-port", "0", "--admin-port", "0"], capture_output=True, text=True, preexec_fn=allow_few, timeout=30, check=False)
            self.assertEqual((done.returncode, "too many open files" in done.stderr), (1, True), (most, done))

    @unittest.skipUnless(harness.BUILD.name == "release", "a sanitizer needs descriptors of its own")
    def test_a_check_finds_too_few_descriptors_where_a_start_does(self):
        def limited(program, most, *args):
            command = [harness.compiled(program), "--http-port", "0", "--admin-port", "0", "--io-threads", "1", "--model-root", program.parent, *args]
            return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))

        outcomes = set()
        for most in range(4, 32):
            with limited(HELLO, most, "--check-config") as check, limited(HELLO, most) as server:
                found = check.communicate(timeout=60)[1]
                line = server.stdout.readline()
                listens = line.startswith("listening")
                if listens:  # and serves whoever connects
                    with harness.Connection(("127.0.0.1", int(re.search(r"http=[^ ]*:(\d+)", line)[1]))) as connection:
                        self.assertEqual(connection.call("GET", "/livez").status, 200, most)
                server.terminate()
                told = server.communicate(timeout=60)[1]
            self.assertEqual((check.returncode, "too many open files" in found), (0, False) if listens else (1, True), (most, found, told))
            if not listens:
                self.assertEqual(found, told, most)
            outcomes.add(listens)
        self.assertEqual(outcomes, {True, False})
        for most in (5, 8, 12, 16, 18):  # libraries are loaded beside it: what finds none is not always the same
            with limited(DIGITS / "digits.wf", most, "--check-config") as check:
                self.assertIn("too many open files", check.communicate(timeout=60)[1], most)
            self.assertEqual(check.returncode, 1, most)

    def test_a_line_that_cannot_be_written_is_told(self):
        env = {name: value for name, value in os.environ.items() if not name.startswith("WF_")}
        command = [harness.compiled(HELLO), "--http-port", "0", "--admin-port", "0"]
        with open("/dev/full", "w") as full, subprocess.Popen(command, stdout=full, stderr=subprocess.PIPE, text=True, env=env) as server:
            told = server.stderr.readline()
            server.terminate()
            server.communicate(timeout=60)
        self.assertIn("the output could not be written whole", told)
        self.assertEqual(server.returncode, 0)

    @unittest.skipUnless(harness.BUILD.name == "release", "a sanitizer needs descriptors of its own")
    def test_print_config_needs_one_descriptor(self):
        file = harness.scratch() / "few.yml"
        file.write_text("log: {level: debug}\n")
        for most in range(4, 8):
            def allow_few(most=most):
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

            done = subprocess.run([harness.compiled(HELLO), "--print-config", "--config", file], capture_output=True, text=True, preexec_fn=allow_few, timeout=30, check=False)
            self.assertEqual((done.returncode, "level: debug" in done.stdout), (0, True), (most, done))

    def test_unknown_flags_and_values(self):
        for args, word in ((("--htp-port", "1"), "--http-port"), (("--http-port", "70000"), "70000"), (("--http-port", "x"), "x"), (("--schedule=always",), "always")):
            done = self.run_server(HELLO, *args)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(word, done.stderr)

    def test_a_configuration_with_an_unknown_key_names_its_line_and_the_key_meant(self):
        file = harness.scratch() / "server.yml"
        file.write_text("# a comment\nhtp_port: 0\n")
        done = self.run_server(HELLO, "--config", file)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("server.yml:2", done.stderr)
        self.assertIn("http_port", done.stderr)
        self.assertEqual(self.run_server(HELLO, "--config", file, "--check-config").returncode, 1)

    def test_a_configuration_with_an_unknown_section_names_it_once(self):
        file = harness.scratch() / "sections.yml"
        file.write_text("limitz:\n  connections: 10\n  body_bytes: 1MiB\nloging: {level: debug}\nnodes:\n  nope:\n    batch: 2\n    timeout: 1s\ntls: {certt: a}\n")
        done = self.run_server(HELLO, "--config", file, "--check-config")
        self.assertEqual(done.returncode, 1, done)
        told = [line.rpartition("sections.yml:")[2] for line in done.stderr.splitlines() if "sections.yml:" in line]
        self.assertEqual(told, ["1: unknown section `limitz`; did you mean `limits`", "4: unknown section `loging`; did you mean `log.level`",
                                "6: unknown node `nope`", "9: unknown key `tls.certt`; did you mean `tls.cert`"])

    def test_print_config_says_where_each_value_is_from(self):
        done = self.run_server(HELLO, "--print-config", env={"WF_DRAIN_SECONDS": "7"})
        self.assertEqual(done.returncode, 0, done)
        lines = [line for line in done.stdout.splitlines() if "drain" in line]
        self.assertTrue(any("7" in line and "WF_DRAIN_SECONDS" in line for line in lines), done.stdout)

    def test_what_is_asked_for_and_cannot_be_written_is_a_failure(self):
        def no_room():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

        for wish in ("--help", "--version", "--print-config"):
            with open(harness.scratch() / "output", "wb") as output:
                done = subprocess.run([harness.compiled(HELLO), wish], stdout=output, stderr=subprocess.PIPE, preexec_fn=no_room, timeout=30)
            self.assertEqual(done.returncode, 1, wish)
            self.assertIn(b"could not be written", done.stderr)

    def test_a_model_whose_weights_are_no_numbers_is_not_served(self):
        root = harness.scratch() / "nan-root"
        (root / "models/digits/1").mkdir(parents=True)
        good = (DIGITS / "models/digits/1/model.onnx").read_bytes()
        at = good.index(FIRST_WEIGHTS) + len(FIRST_WEIGHTS)
        (root / "models/digits/1/model.onnx").write_bytes(good[:at] + struct.pack("<f", float("nan")) + good[at + 4:])
        done = self.run_server(DIGITS / "digits.wf", "--model-root", root)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("not finite", done.stderr)

    def wide(self, name, program, reduced, limit="--limits-memory-bytes"):
        """Of an extent that calls decide: elements are put behind it, a mean of all is the result if reduced."""
        folder = harness.scratch() / name
        folder.mkdir(exist_ok=True)
        (folder / "run.wf").write_text(program)
        for_pad = [onnx_file.integers("far", [0, 0, 0, 10 << 18])]  # 10 MiB
        mean = [onnx_file.node("ReduceMean", ["wide"], ["y"], "mean", axes=[1])] if reduced else []
        (folder / "wide.onnx").write_bytes(onnx_file.model(
            [onnx_file.node("Pad", ["x", "far"], ["wide" if reduced else "y"], "far"), *mean], for_pad,
            [onnx_file.value_info("x", ("n", "w"))], [onnx_file.value_info("y", ("n", 1 if reduced else "v"))]))
        done = self.run_server(folder / "run.wf", "--model-root", folder, limit, "16MiB")
        self.assertEqual(done.returncode, 1, done)
        return done.stderr

    def test_a_model_that_finds_no_memory_is_named_once(self):
        told = self.wide("two", 'model One = onnx("wide.onnx");\nmodel Two = onnx("wide.onnx");\nservice S { model One; model Two; }\n', True)
        self.assertRegex(told, r"there is too little memory to load the model `Two`: `[^`]*wide\.onnx`: no memory for \d+ bytes of activations")

    def test_a_model_whose_every_run_is_above_the_memory_of_a_request(self):
        for limit in "--limits-memory-bytes", "--limits-request-bytes":
            told = self.wide("one", 'model Wide = onnx("wide.onnx");\nservice S { model Wide; }\n', False, limit)
            self.assertRegex(told, r"model `Wide`: `[^`]*wide\.onnx`: a run of one row takes 2\d{7} bytes, and a request may have 16777216; "
                                   r"the largest of its results is that of node `far` \(Pad\), 104857\d\d bytes")

    def test_a_model_that_is_missing_or_damaged_at_load(self):
        folder = harness.scratch() / "models-root"
        done = self.run_server(DIGITS / "digits.wf", "--model-root", folder)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("models/digits", done.stderr)
        good = (DIGITS / "models/digits/1/model.onnx").read_bytes()
        for content in (b"", b"not a model", good[:1000], good[:len(good) // 2]):
            shutil.rmtree(folder, ignore_errors=True)
            (folder / "models/digits/1").mkdir(parents=True)
            (folder / "models/digits/1/model.onnx").write_bytes(content)
            done = self.run_server(DIGITS / "digits.wf", "--model-root", folder)
            self.assertEqual(done.returncode, 1, (len(content), done))
            self.assertIn("model.onnx", done.stderr)


class BadBuild(unittest.TestCase):
    def test_what_runs_before_main_stands_where_the_c_library_looks(self):
        # The check of the CPU, among them; tests/unit/compiler/lower/cpu_test.cc runs it on emulated ones.
        names = harness.compiled(HELLO).read_bytes()
        self.assertIn(b"\0.init_array\0", names)
        self.assertNotIn(b"\0.ctors", names)

    def test_an_output_that_cannot_be_written(self):
        for target in (harness.scratch() / "no/such/folder/server", harness.scratch()):
            done = harness.wfc("build", HELLO, "-o", target, check=False)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn(str(target), done.stderr)

    def test_a_build_that_is_ended_leaves_no_partial_file(self):
        folder = harness.scratch() / "ended"
        folder.mkdir()
        for turn in range(12):
            build = subprocess.Popen([harness.WFC, "build", HELLO, "-o", folder / "server"], stderr=subprocess.PIPE)
            while build.poll() is None and not any(folder.iterdir()):
                pass
            time.sleep(turn * 0.01)
            for ending in (signal.SIGTERM, signal.SIGTERM, signal.SIGINT):  # `timeout` sends twice
                build.send_signal(ending)
            build.communicate(timeout=60)
            self.assertLessEqual({path.name for path in folder.iterdir()}, {"server"})
            for path in folder.iterdir():  # it was quicker
                path.unlink()

    def test_a_full_disk_leaves_no_partial_file(self):
        folder = harness.scratch() / "full"
        folder.mkdir()

        def allow_little():  # as a full disk does, from the 64th KiB on
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))

        command = [harness.WFC, "build", HELLO, "-o", folder / "server"]
        done = subprocess.run(command, capture_output=True, text=True, preexec_fn=allow_little, timeout=60, check=False)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("WF8002", done.stderr)
        self.assertEqual(list(folder.iterdir()), [])

    def test_a_file_system_without_room_is_told_and_left_as_it_was(self):
        folder = harness.scratch() / "small"
        folder.mkdir()
        enter = ["unshare", "--user", "--map-root-user", "--mount"]
        if subprocess.run([*enter, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no file system may be mounted here; the test above has a limit of size instead")
        for size in ("1m", "64k"):
            script = f'mount -t tmpfs -o size={size} none "$1" && cd "$1" && "$2" build "$3" -o server; echo "status $?"; ls -A'
            done = subprocess.run([*enter, "sh", "-c", script, "sh", folder, harness.WFC, HELLO], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.stdout, "status 1\n", done)
            self.assertIn("error[WF8002]: cannot write `server`: no space left on device", done.stderr)

    @unittest.skipUnless(harness.BUILD.name == "release", "a sanitizer needs descriptors of its own")
    def test_too_few_descriptors_are_told(self):
        server = ["--", "--host", "127.0.0.1", "--http-port", "0", "--admin-port", "0"]
        built = set()
        for most in range(5, 12):  # with 4 the libraries of wfc find none
            def allow_few(most=most):
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

            done = subprocess.run([harness.WFC, "build", HELLO, "-o", harness.scratch() / "few"], capture_output=True, text=True, preexec_fn=allow_few, timeout=60, check=False)
            self.assertEqual((done.returncode, "too many open files" in done.stderr.lower()), (0, False) if done.returncode == 0 else (1, True), (most, done))
            built.add(done.returncode)
            with subprocess.Popen([harness.WFC, "run", "--watch", HELLO, *server], stderr=subprocess.PIPE, text=True, preexec_fn=allow_few) as watch:
                told = ""
                while "waiting for a change" not in told:
                    line = watch.stderr.readline()
                    self.assertTrue(line, (most, told))
                    told += line
                watch.terminate()
                watch.communicate(timeout=30)
            self.assertIn("too many open files", told.lower(), most)
        self.assertEqual(built, {0, 1})

    def test_a_crash_of_wfc_says_that_it_is_one(self):
        signals = [signal.SIGABRT]
        if harness.BUILD.name == "release":  # a sanitizer tells of the others itself
            signals += [signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE]
        for number in signals:
            with self.subTest(signal=number), subprocess.Popen([harness.WFC, "lsp"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
                process.stdin.write("Content-Length: 2\r\n\r\n{")  # until it waits for the rest, it may not have set up anything
                process.stdin.flush()
                time.sleep(0.5)
                process.send_signal(number)
                self.assertIn("this is a bug in wfc, not in your program", process.stderr.read())
                self.assertEqual(process.wait(30), 101)

    @unittest.skipUnless(harness.BUILD.name == "release", "a sanitizer needs more addresses than may be had here")
    def test_memory_that_is_spent_is_no_bug(self):
        most, enough = None, None
        for mib in range(100, 1000, 50):
            def allow(mib=mib):
                resource.setrlimit(resource.RLIMIT_AS, (mib << 20, mib << 20))

            command = [harness.WFC, "build", DIGITS / "digits.wf", "-o", harness.scratch() / "narrow"]
            done = subprocess.run(command, capture_output=True, text=True, preexec_fn=allow, timeout=60, check=False)
            if done.returncode == 0:
                enough = enough or mib
                continue
            self.assertIsNone(enough, f"{mib} MiB are more: {done.stderr}")
            if "cannot open shared object" in done.stderr or "failed to map" in done.stderr:
                continue  # it did not begin
            most = mib
            self.assertEqual((done.returncode, "bug" in done.stderr), (1, False), (mib, done.stderr))
        self.assertIsNotNone(most, "no limit was between too little to begin and enough")
        self.assertIsNotNone(enough)

    def test_a_signal_ends_the_server_and_leaves_no_folder(self):
        temporary = harness.scratch() / "temporary"
        temporary.mkdir()
        server = ["--", "--host", "127.0.0.1", "--http-port", "0", "--admin-port", "0"]
        for command in (["run", HELLO], ["run", "--watch", HELLO]):
            for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM):  # SIGHUP: a terminal that hangs up
                with self.subTest(command=command[1], signal=number), \
                        subprocess.Popen([harness.WFC, *command, *server], stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(temporary)}) as process:
                    self.assertIn("listening", process.stdout.readline())
                    self.assertNotEqual(list(temporary.iterdir()), [])
                    process.send_signal(number)
                    self.assertEqual(process.wait(30), 0)
                    self.assertEqual(list(temporary.iterdir()), [])

    def test_the_folder_of_a_wfc_that_was_killed_goes_with_the_next(self):
        temporary = harness.scratch() / "deserted"
        (temporary / "wfc-backup").mkdir(mode=0o700, parents=True)  # of somebody else, who calls it so
        os.utime(temporary / "wfc-backup", (0, 0))
        environment = {**os.environ, "TMPDIR": str(temporary)}
        command = [harness.WFC, "run", HELLO, "--", "--host", "127.0.0.1", "--http-port", "0", "--admin-port", "0"]

        def folders():
            return {path.name for path in temporary.iterdir()} - {"wfc-backup"}

        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as killed:
            self.assertIn("listening", killed.stdout.readline())
            killed.kill()
        [left] = folders()
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as first:
            self.assertIn("listening", first.stdout.readline())
            [own] = folders()
            self.assertNotEqual(own, left)
            subprocess.run([harness.WFC, "test", DIGITS / "digits.wf"], stdout=subprocess.DEVNULL, env=environment, timeout=60, check=True)
            self.assertEqual(folders(), {own})
            first.send_signal(signal.SIGTERM)
            self.assertEqual(first.wait(30), 0)
        self.assertEqual([path.name for path in temporary.iterdir()], ["wfc-backup"])

    def test_a_signal_that_ends_the_measuring_of_a_server_leaves_no_folder(self):
        temporary = harness.scratch() / "measured"
        temporary.mkdir()
        for number in (signal.SIGTERM, signal.SIGQUIT, signal.SIGUSR1, signal.SIGALRM):
            def take(number=number):  # a shell may have begun this with SIGQUIT ignored
                signal.signal(number, signal.SIG_DFL)

            command = [harness.WFC, "bench", "--workflow=Greet", HELLO]
            with self.subTest(signal=number), \
                    subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": str(temporary)}, preexec_fn=take) as process:
                until = time.monotonic() + 30
                while not list(temporary.glob("*/server")) and time.monotonic() < until:
                    time.sleep(0.02)
                time.sleep(0.5)
                process.send_signal(number)
                self.assertEqual(process.wait(30), -number)
                self.assertEqual(list(temporary.iterdir()), [])

    def test_a_pipe_is_written_and_never_replaced(self):
        fifo, read = harness.scratch() / "fifo", harness.scratch() / "read"
        os.mkfifo(fifo)
        with open(read, "wb") as into, subprocess.Popen(["cat", fifo], stdout=into) as reader:
            done = harness.wfc("build", HELLO, "-o", fifo, check=False)
            self.assertEqual(reader.wait(30), 0)
        self.assertEqual(done.returncode, 0, done)
        self.assertTrue(fifo.is_fifo())
        self.assertEqual(read.read_bytes()[:4], b"\x7fELF")

    def test_a_failed_build_keeps_the_program_that_was_there(self):
        target = harness.scratch() / "kept"
        target.write_text("before")
        broken = harness.scratch() / "broken.wf"
        broken.write_text("workflow W() -> (x: i32) { return (x: unknown); }\nservice S { workflow W; }\n")
        done = harness.wfc("build", broken, "-o", target, check=False)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("unknown", done.stderr)
        self.assertEqual(target.read_text(), "before")


if __name__ == "__main__":
    harness.main()
