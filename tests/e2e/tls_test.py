#!/usr/bin/env python3
"""TLS on the port of HTTP: real clients, client certificates, keys that change while it serves, and peers that do not keep to it."""
import asyncio
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import harness
from tls_cases import Authority

import httpx
import tritonclient.grpc
import tritonclient.http
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa

SOURCE = """
workflow Count(text: string) -> (n: i64) { return (n: len(text)); }
workflow Copy(text: string) -> (text: string) { return (text: text); }
service Texts { workflow Count; workflow Copy; }
"""
COPY = "/Texts/Copy"


def source():
    path = harness.scratch() / "texts.wf"
    path.write_text(SOURCE)
    return path


def wrap(connection, context):
    connection.socket = context.wrap_socket(connection.socket, server_hostname="localhost", suppress_ragged_eofs=False)
    return connection


def secure(server, context, timeout=30):
    """A connection as the harness has them, through TLS. An end without close_notify is an SSLEOFError."""
    return wrap(server.connect(timeout), context)


def copy(connection, text):
    reply = connection.call("POST", COPY, json.dumps({"text": text}).encode(), {"content-type": "application/json"})
    return reply.status == 200 and reply.json["text"] == text


def serial_of(connection):
    return x509.load_der_x509_certificate(connection.socket.getpeercert(binary_form=True)).serial_number


def descriptors(server):
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


class Tls(harness.ServerCase):
    """One server whose clients need no certificate."""
    @classmethod
    def setUpClass(cls):
        cls.authority = Authority("of-server")
        cls.authority.sign("server")
        cls.context = cls.authority.client()
        cls.server = harness.Server.of(source(), *cls.authority.flags())

    def assert_serves(self):
        with secure(self.server, self.context) as connection:
            self.assertTrue(copy(connection, "still"))

    def assert_nothing_left(self):
        self.assertEqual(self.server.settled("wf_connections"), 0)
        self.assert_serves()

    def test_curl_speaks_both_versions_of_http_over_both_of_tls(self):
        port = self.server.addresses["http"][1]
        for version, flag in (("1.1", "--http1.1"), ("2", "--http2"), ("1.1", "--no-alpn")):
            for newest in ("1.2", "1.3"):
                done = subprocess.run(["curl", "-sS", flag, "--tls-max", newest, "--cacert", self.authority.path, "-d", '{"text": "é"}', "-H",
                                       "content-type: application/json", "-w", " %{http_version}", f"https://localhost:{port}{COPY}"],
                                      capture_output=True, text=True, timeout=60)
                self.assertEqual(done.stdout, '{"text":"é"} ' + version, (flag, newest, done.stderr))

    def test_wfc_run_shows_calls_that_work(self):
        command = [harness.WFC, "run", source(), "--", "--host", "127.0.0.1", "--http-port", "0", "--grpc-port", "0", "--admin-port", "0", *self.authority.flags()]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            self.assertRegex(process.stdout.readline(), r"^listening http=(\S+) grpc=\1 admin=\S+ tls=on\n$")
            for answer in ('{"n":4}', '{"text":"text"}'):
                shown = process.stdout.readline()
                done = subprocess.run(shown.rstrip() + " -sS", shell=True, capture_output=True, text=True, timeout=60)
                self.assertEqual(done.stdout, answer, (shown, done.stderr))
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(60), 0)

    def test_python_keeps_a_connection(self):
        for newest in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            port = self.server.addresses["http"][1]
            client = http.client.HTTPSConnection("localhost", port, timeout=30, context=self.authority.client(newest=newest))
            for i in range(20):
                client.request("POST", COPY, json.dumps({"text": str(i)}), {"content-type": "application/json"})
                self.assertEqual(json.load(client.getresponse()), {"text": str(i)})
            client.close()

    def test_many_requests_on_one_http2_connection(self):
        async def run():
            async with httpx.AsyncClient(http2=True, http1=False, verify=self.context, timeout=60) as client:
                url = f"https://localhost:{self.server.addresses['http'][1]}{COPY}"
                texts = [str(i) * (1 + i * 100) for i in range(90)]
                replies = await asyncio.gather(*(client.post(url, json={"text": text}) for text in texts))
                self.assertEqual([reply.json()["text"] for reply in replies], texts)
                self.assertEqual({reply.http_version for reply in replies}, {"HTTP/2"})
        asyncio.run(run())

    def test_tritons_clients(self):
        url = f"localhost:{self.server.addresses['http'][1]}"
        grpc = tritonclient.grpc.InferenceServerClient(url, ssl=True, root_certificates=str(self.authority.path))
        self.assertEqual(grpc.get_model_metadata("Texts.Copy").name, "Texts.Copy")
        grpc.close()
        rest = tritonclient.http.InferenceServerClient(url, ssl=True, ssl_options={"ca_certs": str(self.authority.path)})
        self.assertEqual(rest.get_model_metadata("Texts.Copy")["name"], "Texts.Copy")
        rest.close()

    def test_alpn_and_the_preface_choose(self):
        for offered, chosen in ((["h2", "http/1.1"], "h2"), (["http/1.1"], "http/1.1"), (None, None)):
            with secure(self.server, self.authority.client(alpn=offered)) as connection:
                self.assertEqual(connection.socket.selected_alpn_protocol(), chosen)
        with self.assertRaisesRegex(ssl.SSLError, "(?i)no.application.protocol"):
            secure(self.server, self.authority.client(alpn=["smtp"]))
        with secure(self.server, self.context) as connection:
            connection.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0]))
            self.assertEqual(connection._take(9)[3], 4, "no SETTINGS")

    def test_old_versions_are_refused(self):
        with self.assertRaisesRegex(ssl.SSLError, "(?i)protocol.version"):
            secure(self.server, self.authority.client(oldest=ssl.TLSVersion.TLSv1, newest=ssl.TLSVersion.TLSv1_1))
        strict = harness.Server.of(source(), *self.authority.flags(), "--tls-min-version", "1.3")
        with self.assertRaisesRegex(ssl.SSLError, "(?i)protocol.version"):
            secure(strict, self.authority.client(newest=ssl.TLSVersion.TLSv1_2))
        with secure(strict, self.context) as connection:
            self.assertTrue(copy(connection, "x"))
        self.assertEqual(strict.stop(), 0)

    def test_a_session_is_taken_up_again(self):
        with secure(self.server, self.context) as first:
            self.assertTrue(copy(first, "x"))
            session = first.socket.session
        raw = self.server.connect()
        raw.socket = self.context.wrap_socket(raw.socket, server_hostname="localhost", session=session)
        with raw:
            self.assertTrue(raw.socket.session_reused)
            self.assertTrue(copy(raw, "y"))

    def test_large_bodies_both_ways(self):
        text = "".join(chr(97 + i % 26) * 1000 for i in range(20_000))
        with secure(self.server, self.context, timeout=120) as connection:
            self.assertTrue(copy(connection, text))
            self.assertTrue(copy(connection, text[:100_001]))
        with httpx.Client(http2=True, http1=False, verify=self.context, timeout=120) as client:
            reply = client.post(f"https://localhost:{self.server.addresses['http'][1]}{COPY}", json={"text": text})
            self.assertEqual((reply.http_version, reply.json()["text"] == text), ("HTTP/2", True))

    def test_a_slow_reader_gets_all_of_it(self):
        text = "x" * 3_000_000
        with secure(self.server, self.context, timeout=60) as connection:
            connection.send(harness.request("POST", COPY, json.dumps({"text": text}).encode(), {"content-type": "application/json"}))
            for _ in range(20):
                time.sleep(0.05)
                connection.buffer += connection.socket.recv(10_000)
            self.assertEqual(connection.receive().json["text"], text)

    def handshake(self):
        """A client's side in memory: what comes for it, what goes from it, its session."""
        come, gone = ssl.MemoryBIO(), ssl.MemoryBIO()
        session = self.context.wrap_bio(come, gone, server_hostname="localhost")
        return come, gone, session

    def hello(self):
        _, gone, session = self.handshake()
        try:
            session.do_handshake()
        except ssl.SSLWantReadError:
            pass
        return gone.read()

    def test_a_handshake_that_comes_byte_by_byte(self):
        come, gone, session = self.handshake()
        with self.server.connect() as connection:
            opened = asked = False
            answer = b""
            while b"drip" not in answer:
                try:
                    if not opened:
                        session.do_handshake()
                        opened = True
                    if not asked:
                        session.write(harness.request("POST", COPY, b'{"text": "drip"}', {"content-type": "application/json"}))
                        asked = True
                    answer += session.read(1000)
                except ssl.SSLWantReadError:
                    pass
                sent = gone.read()
                for at in range(len(sent)):
                    connection.send(sent[at:at + 1])
                if not sent and b"drip" not in answer:
                    come.write(connection.socket.recv(100))
        self.assert_nothing_left()

    def test_clients_that_leave_at_every_byte_of_the_handshake(self):
        before = descriptors(self.server)
        hello = self.hello()
        for size in range(len(hello) + 1):
            connection = self.server.connect()
            connection.send(hello[:size])
            connection.close() if size % 2 else connection.reset()
        for size in range(80):  # of the second flight, behind the server's
            come, gone, session = self.handshake()
            connection = self.server.connect()
            try:
                session.do_handshake()
            except ssl.SSLWantReadError:
                connection.send(gone.read())
            while True:
                come.write(connection.socket.recv(65536))
                try:
                    session.do_handshake()
                    break
                except ssl.SSLWantReadError:
                    pass
            rest = gone.read()
            self.assertGreater(len(rest), 30)
            connection.send(rest[:size])
            connection.close() if size % 2 else connection.reset()
        self.assert_nothing_left()
        self.assertLessEqual(descriptors(self.server), before + 2)

    def test_200_connections_at_once(self):
        raw = [self.server.connect(60) for _ in range(200)]
        start = threading.Barrier(20)

        def talk(part):
            start.wait()
            for connection in part:
                wrap(connection, self.context)
            return all(copy(connection, "x" * 1000) for connection in part)

        with ThreadPoolExecutor(20) as pool:
            self.assertTrue(all(pool.map(talk, [raw[i::20] for i in range(20)])))
        self.assertEqual(self.server.settled("wf_connections", 200), 200)
        for connection in raw:
            connection.close()
        self.assert_nothing_left()

    def test_plain_bytes_get_a_clear_end(self):
        before = self.server.metrics()['wf_refused_total{reason="handshake"}']
        port = self.server.addresses["http"][1]
        done = subprocess.run(["curl", "-sS", "-i", f"http://localhost:{port}/v2"], capture_output=True, text=True, timeout=60)
        self.assertRegex(done.stdout, r"(?s)^HTTP/1.1 400 .*this port speaks TLS; ask it with https://$")
        with self.server.connect() as connection:  # a body that the server does not read is no reset
            connection.send(harness.request("POST", COPY, b"x" * 5_000_000))
            self.assertEqual(connection.receive().status, 400)
        for data in (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"DELETE / HTTP/1.1\r\n\r\n", b"\0" * 100, b"SSH-2.0-x\r\n"):
            with self.server.connect() as connection:
                connection.send(data)
                self.assertTrue(connection.closed_within(10), data)
        self.assertEqual(self.server.settled('wf_refused_total{reason="handshake"}', before + 6), before + 6)
        self.assertTrue(self.server.logs("TLS handshakes failed", "http request") or self.server.logs("TLS handshakes failed", "wrong version number"))
        self.assert_nothing_left()

    def test_a_client_that_does_not_trust_the_server(self):
        other = Authority("of-nobody")
        with self.assertRaisesRegex(ssl.SSLError, "CERTIFICATE_VERIFY_FAILED"):
            secure(self.server, other.client())
        self.assertTrue(self.server.logs("TLS handshakes failed", "unknown ca"))
        self.assert_nothing_left()

    def test_an_end_is_told(self):
        with secure(self.server, self.context) as connection:
            self.assertEqual(connection.call("GET", "/livez", headers={"connection": "close"}).status, 200)
            self.assertEqual(connection.socket.recv(100), b"")
        with secure(self.server, self.context) as connection:  # a refused body: the answer, then the end, while it is still being written
            connection.send(b"POST /Texts/Copy HTTP/1.1\r\nhost: t\r\ncontent-length: 999999999\r\n\r\n" + b"x" * 2_000_000)
            self.assertEqual(connection.receive().status, 413)
            self.assertEqual(connection.socket.recv(100), b"")

    def test_the_admin_port_stays_plain(self):
        self.assertEqual(self.server.call("GET", "/livez", port="admin").status, 200)


class Times(harness.unittest.TestCase):
    def test_the_handshake_has_the_time_of_a_head(self):
        authority = Authority("of-times")
        authority.sign("server")
        server = harness.Server.of(source(), *authority.flags(), "--limits-header-timeout", "1s")
        gone = ssl.MemoryBIO()
        session = authority.client().wrap_bio(ssl.MemoryBIO(), gone, server_hostname="localhost")
        try:
            session.do_handshake()
        except ssl.SSLWantReadError:
            pass
        hello = gone.read()
        begin = time.monotonic()
        connections = [server.connect() for _ in range(3)]
        connections[1].send(hello[:20])
        connections[2].send(hello)
        for connection in connections:
            self.assertTrue(connection.closed_within(20))
            connection.close()
        self.assertGreater(time.monotonic() - begin, 0.9)
        self.assertEqual(server.settled("wf_connections"), 0)
        self.assertEqual(server.stop(), 0)


class ClientCertificates(harness.unittest.TestCase):
    def test_only_clients_of_the_authority_are_let_in(self):
        authority, other = Authority("of-clients"), Authority("of-others")
        authority.sign("server")
        authority.sign("client")
        authority.sign("expired", days=(-10, -1))
        other.sign("client")
        server = harness.Server.of(source(), *authority.flags(), "--tls-client-ca", authority.path)
        cases = [(None, "(?i)certificate.required|handshake.failure"), (authority.files("expired"), "(?i)certificate.expired"),
                 (other.files("client"), "(?i)unknown.ca")]
        for newest in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            for show, alert in cases:
                with self.assertRaisesRegex(ssl.SSLError, alert):  # also when the client has much to say before it listens
                    with secure(server, authority.client(show=show, newest=newest)) as connection:
                        connection.send(harness.request("POST", COPY, b"x" * 3_000_000))
                        connection.receive()
            with secure(server, authority.client(show=authority.files("client"), newest=newest)) as connection:
                self.assertTrue(copy(connection, "x"))
        self.assertTrue(server.logs("TLS handshakes failed"))
        self.assertEqual(server.metrics()['wf_refused_total{reason="handshake"}'], 6)
        self.assertEqual(server.settled("wf_connections"), 0)
        self.assertEqual(server.stop(), 0)


class Reload(harness.unittest.TestCase):
    def hang_up(self, server, result):
        name = f'wf_config_reloads_total{{result="{result}"}}'
        before = server.metrics()[name]
        server.process.send_signal(signal.SIGHUP)
        self.assertEqual(server.settled(name, before + 1), before + 1)

    def serial(self, server, context):
        with secure(server, context) as connection:
            self.assertTrue(copy(connection, "x"))
            return serial_of(connection)

    def until(self, server, context, serial):
        """Loops change to the new one at their own time."""
        for _ in range(100):
            if (now := self.serial(server, context)) == serial:
                break
            time.sleep(0.05)
        self.assertEqual(now, serial)

    def test_new_files_are_seen_by_new_connections_and_bad_ones_change_nothing(self):
        authority = Authority("of-reload")
        first = authority.sign("server")
        context = authority.client()
        config = authority.folder / "server.yml"
        cert, key = authority.files("server")
        config.write_text(f"tls: {{cert: {cert}, key: {key}}}\n")
        server = harness.Server.of(source(), "--config", config)
        old = secure(server, context)
        self.assertTrue(copy(old, "before"))
        self.assertEqual(serial_of(old), first)
        second = authority.sign("server")
        self.assertEqual(self.serial(server, context), first, "nobody has asked yet")
        self.hang_up(server, "ok")
        self.until(server, context, second)
        self.assertTrue(server.logs("was read again", '"changed":0', '"certificates":"new"', '"keys":"none"'), server.output())
        self.assertNotIn('"certificates":"same"', server.output())
        self.hang_up(server, "ok")
        self.assertTrue(server.logs("was read again", '"certificates":"same"'), server.output())
        self.assertTrue(copy(old, "the old one goes on"))

        good = key.read_bytes()
        for bad, words in ((b"no key", ["`tls.key`: ", "holds no private key"]), (None, ["`tls.key`: ", "no such file"])):
            key.write_bytes(bad) if bad else key.unlink()
            self.hang_up(server, "error")
            self.assertTrue(server.logs('"level":"error"', *words), server.output())
            self.assertTrue(server.logs("the old one stays"))
            self.assertEqual(self.serial(server, context), second)
        key.write_bytes(good)
        third = authority.sign("server", days=(-10, -1))
        self.hang_up(server, "ok")
        self.assertTrue(server.logs('"level":"warning"', "certificate 1 expired on 20"), server.output())
        lenient = authority.client()
        lenient.check_hostname, lenient.verify_mode = False, ssl.CERT_NONE
        self.until(server, lenient, third)
        fourth = authority.sign("fourth")
        cert, key = authority.files("fourth")
        config.write_text(f"tls: {{cert: {cert}, key: {key}, client_ca: {authority.path}}}\n")
        self.hang_up(server, "ok")
        authority.sign("client")
        self.until(server, authority.client(show=authority.files("client")), fourth)
        with self.assertRaises(ssl.SSLError):
            self.serial(server, authority.client())
        config.write_text("\n")
        self.hang_up(server, "ok")
        self.assertTrue(server.logs("`tls.cert` is ``, but changes only with a restart"), server.output())
        self.assertNotIn("everybody is let in", server.output())
        config.write_text(f"tls: {{cert: {cert}, key: {key}}}\n")
        self.hang_up(server, "ok")
        self.assertTrue(server.logs('"level":"warning"', "clients need no certificates any more", "`tls.client_ca`"), server.output())
        self.until(server, authority.client(), fourth)
        self.assertTrue(copy(old, "and on"))
        old.close()
        self.assertEqual(server.stop(), 0)

    def test_certificates_change_under_load(self):
        authority = Authority("of-load")
        authority.sign("server")
        server = harness.Server.of(source(), *authority.flags())
        context, over, failed, done = authority.client(), threading.Event(), [], []

        def talk():
            while not over.is_set():
                try:
                    with secure(server, context) as connection:
                        if not all(copy(connection, "x" * 10_000) for _ in range(3)):
                            failed.append("a wrong answer")
                    done.append(1)
                except (OSError, EOFError) as error:
                    failed.append(error)

        threads = [threading.Thread(target=talk) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(20):
            authority.sign("server")
            self.hang_up(server, "ok")
        over.set()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])
        self.assertGreater(len(done), 20)
        self.assertEqual(server.stop(), 0)


class Drain(harness.unittest.TestCase):
    def test_what_was_let_in_is_answered_and_told_the_end(self):
        authority = Authority("of-drain")
        authority.sign("server")
        context = authority.client()
        for _ in range(5):
            server = harness.Server.of(source(), *authority.flags())
            begun, lost, done = threading.Event(), [], []

            def talk(server=server, begun=begun, lost=lost, done=done):
                while True:
                    try:
                        raw = server.connect()
                    except OSError:
                        return  # the port is closed
                    try:
                        connection = wrap(raw, context)
                    except ConnectionResetError:
                        return  # the system took it after the last that the server was given, and reset it with the port
                    except (OSError, EOFError) as error:
                        lost.append(error)
                        return
                    try:
                        with connection:
                            if copy(connection, "x" * 1000):
                                done.append(1)
                    except (OSError, EOFError) as error:
                        lost.append(error)
                    if len(done) > 20:
                        begun.set()

            threads = [threading.Thread(target=talk) for _ in range(4)]
            idle = secure(server, context)
            for thread in threads:
                thread.start()
            self.assertTrue(begun.wait(60))
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(idle.socket.recv(100), b"", "an end without close_notify is an error")
            idle.close()
            for thread in threads:
                thread.join()
            self.assertEqual(lost, [])
            self.assertEqual(server.stop(), 0)


class CheckConfig(harness.unittest.TestCase):
    def check(self, *flags):
        ports = ["--http-port", "0", "--admin-port", "0"]
        return subprocess.run([harness.compiled(source()), "--check-config", *ports, *map(str, flags)], capture_output=True, text=True, timeout=60)

    def test_the_files_are_read_and_what_is_wrong_is_said(self):
        authority = Authority("of-check")
        authority.sign("server")
        authority.sign("other")
        authority.sign("rsa", key=rsa.generate_private_key(65537, 2048))
        authority.sign("expired", days=(-10, -1))
        authority.sign("locked", password=b"secret")
        text = authority.write("text", b"what is this")
        folder = authority.folder
        cert, key = authority.files("server")
        fine = self.check(*authority.flags(), "--tls-client-ca", authority.path)
        self.assertEqual((fine.returncode, fine.stdout), (0, "the configuration is fine\n"), fine.stderr)
        expired = self.check(*authority.flags("expired"))
        self.assertEqual(expired.returncode, 0)
        self.assertRegex(expired.stderr, r'"level":"warning","message":"`tls.cert`: .*/expired.pem: certificate 1 expired on 20')
        fit = "the key is not that of the first certificate of `tls.cert`"
        cases = [
            (folder / "none", key, None, f"`tls.cert`: {folder}/none: no such file"),
            (text, key, None, f"`tls.cert`: {text}: holds no certificate in PEM"),
            (folder, key, None, f"`tls.cert`: {folder}: it is a folder"),
            (cert, text, None, f"`tls.key`: {text}: holds no private key in PEM"),
            (cert, folder / "other.key", None, f"`tls.key`: {folder}/other.key: {fit}"),
            (cert, folder / "rsa.key", None, f"`tls.key`: {folder}/rsa.key: {fit}"),
            (folder / "locked.pem", folder / "locked.key", None, f"`tls.key`: {folder}/locked.key: the key is behind a password"),
            (cert, key, text, f"`tls.client_ca`: {text}: holds no certificate in PEM"),
        ]
        for cert_path, key_path, ca_path, words in cases:
            done = self.check("--tls-cert", cert_path, "--tls-key", key_path, *(["--tls-client-ca", ca_path] if ca_path else []))
            self.assertEqual(done.returncode, 1, words)
            self.assertIn(words, done.stderr)
            started = subprocess.run([harness.compiled(source()), "--http-port", "0", "--admin-port", "0", "--tls-cert", cert_path, "--tls-key", key_path,
                                      *(["--tls-client-ca", ca_path] if ca_path else [])], capture_output=True, text=True, timeout=60)
            self.assertEqual((started.returncode, started.stdout), (1, ""), words)
            self.assertIn(words, started.stderr)
        only = self.check("--tls-cert", cert)
        self.assertEqual(only.returncode, 2)
        self.assertIn("--tls-cert: `tls.cert` is `", only.stderr)
        self.assertIn("` and `tls.key` is not set: TLS takes both", only.stderr)


if __name__ == "__main__":
    harness.main()
