#!/usr/bin/env python3
"""Who is let in: clients that show a key, over HTTP and gRPC, keys that change while the server runs, and pages of other origins."""
import json
import signal
import subprocess
import time

import harness

if __name__ == "__main__":
    harness.in_environment()

import grpc  # noqa: E402
import http2_client  # noqa: E402
import httpx  # noqa: E402
import tritonclient.grpc  # noqa: E402
import tritonclient.http  # noqa: E402
from tritonclient.utils import InferenceServerException  # noqa: E402

SOURCE = """
workflow Copy(text: string) -> (text: string) { annotate("seen", "yes"); return (text: text); }
service Texts { workflow Copy; }
"""
COPY = "/Texts/Copy"
KEYS = ["of-the-first-client-0123", "of-the-second-client-456"]
JSON = {"content-type": "application/json"}


def program():
    path = harness.scratch() / "texts.wf"
    path.write_text(SOURCE)
    return path


def bearer(key):
    return {"authorization": f"Bearer {key}"}


class Asks(harness.ServerCase):
    def copy(self, headers, path=COPY, body=b'{"text": "a"}'):
        return self.server.call("POST", path, body, {**JSON, **headers})

    def assert_denied(self, reply, *words):
        self.assert_error(reply, 401, 5000, *words)
        self.assertEqual(reply.headers["www-authenticate"], "Bearer")
        self.assertGreater(reply.error["data_id"], 0)


class Keys(Asks):
    @classmethod
    def setUpClass(cls):
        cls.file = harness.scratch() / "keys"
        cls.file.write_text("# clients\n" + KEYS[0] + "\n\n" + KEYS[1] + "\r\n")
        cls.server = harness.Server.of(program(), "--auth-keys-file", cls.file, "--log-access", env={"WF_AUTH_KEYS": "of-the-environment-7890"})
        cls.address = "%s:%d" % cls.server.addresses["http"]

    def test_a_key_lets_in_by_either_field(self):
        for key in (*KEYS, "of-the-environment-7890"):
            self.assertEqual(self.copy(bearer(key)).json, {"text": "a"})
            self.assertEqual(self.copy({"x-api-key": key}).status, 200)
        self.assertEqual(self.copy({"authorization": "Basic eDp5", "X-API-Key": KEYS[1]}).status, 200)

    def test_who_shows_none_or_a_wrong_one_is_not_let_in(self):
        self.assert_denied(self.copy({}), "a key is asked for", "x-api-key")
        for headers in (bearer("wrong"), bearer(KEYS[0][:-1]), bearer(KEYS[0] + "x"), {"x-api-key": "x"}, {"authorization": "Basic eDp5", "x-api-key": "x"}):
            self.assert_denied(self.copy(headers), "the key is none")
        for headers in ({"x-api-key": ""}, {"authorization": KEYS[0]}, {"authorization": "Basic " + KEYS[0]}, {"authorization": "Bearer\t" + KEYS[0]}):
            self.assert_denied(self.copy(headers), "no key was found in a form that is read")

    def test_what_there_is_is_not_told(self):
        for method, path in (("GET", COPY), ("POST", "/Texts/None"), ("POST", "/none"), ("PUT", "/")):
            self.assert_denied(self.server.call(method, path, b"" if method == "GET" else b"{}"))
        self.assert_denied(self.copy({"content-encoding": "br"}))
        reply = self.server.call("GET", "/v2/models/Copy")
        self.assertEqual((reply.status, reply.json["code"], reply.headers["www-authenticate"]), (401, 5000, "Bearer"))
        self.assertNotIn("accept-encoding", self.copy({"content-encoding": "br"}).headers)

    def test_health_that_is_free_does_not_tell_what_else_there_is(self):
        for path in ("/v2/models/Texts.Kopy/ready", "/v2/models/Copy/versions/9/ready"):
            reply = self.server.call("GET", path)
            self.assertEqual((reply.status, reply.json["error"]), (404, "there is no such model, or no such version of it"), reply)
        self.assertIn("did you mean `Texts.Copy`", self.server.call("GET", "/v2/models/Texts.Kopy/ready", headers=bearer(KEYS[0])).json["error"])
        self.assertIn("it has 1", self.server.call("GET", "/v2/models/Copy/versions/9/ready", headers=bearer(KEYS[0])).json["error"])

    def test_the_body_of_who_is_not_let_in_is_not_read(self):
        with self.server.connect(timeout=5) as connection:
            connection.send(b"POST /Texts/Copy HTTP/1.1\r\nhost: t\r\ncontent-length: 50000000\r\nexpect: 100-continue\r\n\r\n")
            self.assert_denied(connection.receive())
            self.assertTrue(connection.closed_within(5))
        with self.server.connect() as connection:  # a short one is, so that the connection goes on
            self.assert_denied(connection.call("POST", COPY, b'{"text": "a"}', JSON))
            self.assertEqual(connection.call("POST", COPY, b'{"text": "b"}', {**JSON, **bearer(KEYS[0])}).json, {"text": "b"})

    def test_probes_and_health_are_free(self):
        for path in ("/livez", "/readyz", "/v2/health/live", "/v2/health/ready", "/v2/models/Copy/ready"):
            self.assertEqual(self.server.call("GET", path).status, 200, path)
        self.assertEqual(self.server.call("GET", "/metrics", port="admin").status, 200)

    def test_curl_and_httpx_over_http2(self):
        url = f"http://{self.address}{COPY}"
        done = subprocess.run(["curl", "-sS", "--http2-prior-knowledge", "--oauth2-bearer", KEYS[0], "-H", "content-type: application/json", "-d", '{"text": "c"}', url],
                              capture_output=True, text=True, timeout=30)
        self.assertEqual(json.loads(done.stdout), {"text": "c"}, done.stderr)
        with httpx.Client(http1=False, http2=True) as client:
            self.assertEqual([client.post(url, json={"text": "a"}, headers=headers).status_code for headers in ({}, bearer("x"), bearer(KEYS[1]))], [401, 401, 200])

    def test_triton_clients(self):
        with tritonclient.http.InferenceServerClient(self.address) as client:
            self.assertTrue(client.is_server_live() and client.is_model_ready("Copy"))
            with self.assertRaisesRegex(InferenceServerException, "401.*a key is asked for"):
                client.get_model_metadata("Copy")
            self.assertEqual(client.get_model_metadata("Copy", headers=bearer(KEYS[0]))["name"], "Copy")
        client = tritonclient.grpc.InferenceServerClient(self.address)
        self.assertTrue(client.is_server_live() and client.is_server_ready() and client.is_model_ready("Copy"))
        with self.assertRaisesRegex(InferenceServerException, "StatusCode.UNAUTHENTICATED.*a key is asked for"):
            client.get_model_metadata("Copy")
        self.assertEqual(client.get_model_metadata("Copy", headers={"x-api-key": KEYS[0]}).name, "Copy")
        client.close()

    def test_grpc_says_unauthenticated(self):
        with grpc.insecure_channel(self.address) as channel:
            for method, free in (("/inference.GRPCInferenceService/ServerMetadata", False), ("/inference.GRPCInferenceService/None", False), ("/a.B/C", False),
                                 ("/inference.GRPCInferenceService/ServerLive", True), ("/grpc.health.v1.Health/Check", True)):
                call = channel.unary_unary(method)
                if free:
                    call(b"", timeout=30)
                    continue
                with self.assertRaises(grpc.RpcError) as caught:
                    call(b"", timeout=30, metadata=(("authorization", "Bearer nothing"),))
                self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAUTHENTICATED, method)
                self.assertEqual(dict(caught.exception.trailing_metadata())["wf-code"], "5000")
            stream = channel.stream_stream("/inference.GRPCInferenceService/ModelStreamInfer")
            with self.assertRaises(grpc.RpcError) as caught:
                list(stream(iter([b""]), timeout=30))
            self.assertEqual(caught.exception.code(), grpc.StatusCode.UNAUTHENTICATED)
            self.assertTrue(channel.unary_unary("/inference.GRPCInferenceService/ServerMetadata")(b"", timeout=30, metadata=(("authorization", "Bearer " + KEYS[0]),)))

    def test_refusals_are_counted_and_nothing_is_in_flight(self):
        before = self.server.metrics()['wf_refused_total{reason="key"}']
        for _ in range(5):
            self.copy(bearer("none of them"))
        self.assertEqual(self.server.metrics()['wf_refused_total{reason="key"}'], before + 5)
        self.assertEqual(self.server.settled("wf_inflight_requests"), 0)

    def test_no_key_is_shown_anywhere(self):
        self.copy(bearer(KEYS[0]))
        self.assertTrue(self.server.logs('"request"', '"status":200'))
        command = [self.server.binary, "--print-config", "--auth-keys-file", str(self.file)]
        shown = subprocess.run(command, capture_output=True, text=True, timeout=30, env={"WF_AUTH_KEYS": "of-the-environment-7890"})
        self.assertIn('keys: ""  # WF_AUTH_KEYS, not shown', shown.stdout)
        for key in (*KEYS, "of-the-environment-7890"):
            self.assertNotIn(key, shown.stdout + shown.stderr + self.server.output())


class Changes(Asks):
    """Servers with settings of their own."""
    def reload(self, server, *words):
        seen = server.stderr_path.read_text().count("read again")
        server.process.send_signal(signal.SIGHUP)
        self.assertTrue(server.logs("read again"))
        until = time.monotonic() + 20
        while server.stderr_path.read_text().count("read again") == seen and time.monotonic() < until:
            time.sleep(0.02)
        for word in words:
            self.assertTrue(server.logs(word), server.output())

    def test_sighup_reads_the_keys_again(self):
        file = harness.scratch() / "changing"
        file.write_text(KEYS[0])
        self.server = harness.Server.of(program(), "--auth-keys-file", file)
        with self.server.connect() as connection:
            def status(key):
                return connection.call("POST", COPY, b'{"text": "a"}', {**JSON, **bearer(key)}).status
            self.assertEqual([status(key) for key in KEYS], [200, 401])
            file.write_text(KEYS[1])
            self.reload(self.server)
            self.assertEqual([status(key) for key in KEYS], [401, 200])
            for broken in ("short", ""):
                file.write_text(broken)
                self.reload(self.server, "the old one stays")
                self.assertEqual([status(key) for key in KEYS], [401, 200])
            self.assertNotIn(KEYS[1], self.server.output())
        self.assertEqual(self.server.stop(), 0)

    def test_a_server_that_has_no_keys_any_more_says_so(self):
        folder = harness.scratch() / "opened"
        folder.mkdir()
        (folder / "keys").write_text(KEYS[0])
        (folder / "server.yml").write_text(f"auth: {{keys_file: {folder}/keys}}\n")
        self.server = harness.Server.of(program(), "--config", folder / "server.yml")
        self.reload(self.server)
        self.assertFalse(self.server.logs("everybody is let in", seconds=0.1), self.server.output())
        (folder / "server.yml").write_text("auth: {}\n")
        self.reload(self.server, '"level":"warn', "everybody is let in")
        self.assertEqual(self.server.call("POST", COPY, b'{"text": "a"}', JSON).status, 200)
        self.assertEqual(self.server.stop(), 0)

    def test_what_is_free_is_a_setting(self):
        paths = ("/livez", "/readyz", "/v2/health/live", "/v2/models/Copy/ready", "/v2")
        for free, count in (("nothing", 0), ("probes", 2), ("health", 4)):
            self.server = harness.Server.of(program(), "--auth-free", free, env={"WF_AUTH_KEYS": KEYS[0]})
            self.assertEqual([self.server.call("GET", path).status for path in paths], [200] * count + [401] * (5 - count))
            self.assertEqual([self.server.call("GET", path, headers=bearer(KEYS[0])).status for path in paths], [200] * 5)
            self.assertEqual(self.server.stop(), 0)

    def test_a_server_without_good_keys_does_not_start(self):
        binary = harness.compiled(program())
        file = harness.scratch() / "bad-keys"
        file.write_text("# none\n")
        for args, env, status, words in ((["--auth-keys-file", file], {}, 1, "has no key"), (["--auth-keys-file", "/none"], {}, 1, "`auth.keys_file`: /none"),
                                         ([], {"WF_AUTH_KEYS": ""}, 1, "everybody would be let in"),
                                         ([], {"WF_AUTH_KEYS": "short"}, 1, "key 1: a key has 16 bytes"), (["--auth-keys", KEYS[0]], {}, 2, "set `WF_AUTH_KEYS`")):
            for check in ([], ["--check-config"]):
                done = subprocess.run([binary, "--http-port", "0", "--admin-port", "0", *map(str, args), *check], capture_output=True, text=True, timeout=30, env=env)
                self.assertEqual(done.returncode, status, done)
                self.assertIn(words, done.stderr)
                self.assertNotIn(KEYS[0], done.stderr)


class Pages(Asks):
    args = ("--cors-origins", "https://a.example, http://localhost:3000", "--cors-expose", " wf-seen, retry-after ")

    @classmethod
    def setUpClass(cls):
        cls.server = harness.Server.of(program(), *cls.args, env={"WF_AUTH_KEYS": KEYS[0]})

    def preflight(self, origin, path=COPY, **more):
        headers = {"origin": origin, "access-control-request-method": "POST", "access-control-request-headers": "authorization,content-type", **more}
        return self.server.call("OPTIONS", path, headers=headers)

    def test_a_browser_asks_first(self):
        for origin in ("https://a.example", "http://localhost:3000"):
            reply = self.preflight(origin)
            self.assertEqual((reply.status, reply.body), (200, b""))
            self.assertEqual(reply.headers["access-control-allow-origin"], origin)
            self.assertEqual(reply.headers["access-control-allow-methods"], "GET, HEAD, POST")
            self.assertEqual(reply.headers["access-control-allow-headers"], "authorization,content-type")
            self.assertEqual((reply.headers["access-control-max-age"], reply.headers["vary"]), ("600", "origin"))
        self.assertEqual(self.preflight("https://a.example", "/v2/models/Copy/infer").status, 200)

    def test_other_origins_are_told_so(self):
        for origin in ("https://b.example", "http://a.example", "https://a.example.evil", "null", "HTTPS://A.EXAMPLE"):
            reply = self.preflight(origin)
            self.assert_error(reply, 403, 5000, "cors.origins")
            self.assertNotIn("access-control-allow-origin", reply.headers)
            self.assertNotIn("access-control-allow-origin", self.copy({"origin": origin, **bearer(KEYS[0])}).headers)

    def test_answers_and_refusals_may_be_read(self):
        for headers, status in (({**bearer(KEYS[0])}, 200), ({}, 401), ({**bearer(KEYS[0]), "content-encoding": "br"}, 415)):
            reply = self.copy({"origin": "https://a.example", **headers})
            self.assertEqual(reply.status, status)
            self.assertEqual(reply.headers["access-control-allow-origin"], "https://a.example")
            self.assertEqual(reply.headers["access-control-expose-headers"], "wf-seen, retry-after")
            self.assertEqual(reply.headers["vary"], "origin")
        self.assertEqual(self.server.call("GET", "/livez", headers={"origin": "https://a.example"}).headers["access-control-allow-origin"], "https://a.example")
        without = self.copy(bearer(KEYS[0]))
        self.assertEqual((without.headers["vary"], "access-control-allow-origin" in without.headers), ("origin", False))

    def test_over_http2(self):
        with httpx.Client(http1=False, http2=True, base_url="http://%s:%d" % self.server.addresses["http"]) as client:
            asked = client.options(COPY, headers={"origin": "https://a.example", "access-control-request-method": "POST"})
            self.assertEqual((asked.status_code, asked.headers["access-control-allow-origin"], "access-control-allow-headers" in asked.headers), (200, "https://a.example", False))
            answer = client.post(COPY, json={"text": "a" * 2000}, headers={"origin": "https://a.example", "accept-encoding": "gzip", **bearer(KEYS[0])})
            self.assertEqual((answer.json()["text"], answer.headers["content-encoding"]), ("a" * 2000, "gzip"))
            self.assertEqual(sorted(answer.headers.get_list("vary", split_commas=True)), ["accept-encoding", "origin"])
            two = [("origin", "https://a.example"), ("origin", "https://b.example"), *bearer(KEYS[0]).items()]
            self.assertNotIn("access-control-allow-origin", client.post(COPY, json={"text": "a"}, headers=two).headers)
            self.assertEqual(client.options(COPY, headers=[*two, ("access-control-request-method", "POST")]).status_code, 405)

    def test_http2_gets_no_blanks_around_what_may_be_read(self):
        headers = {"content-type": "application/json", "origin": "https://a.example", **bearer(KEYS[0])}
        with http2_client.Client(self.server) as client:
            reply = client.reply(client.begin(COPY, b'{"text": "a"}', headers=list(headers.items())))
        self.assertEqual((reply.status, dict(reply.headers)["access-control-expose-headers"]), (200, "wf-seen, retry-after"))

    def test_options_that_is_no_preflight_is_what_it_was(self):
        for headers in ({}, {"origin": "https://a.example"}, {"access-control-request-method": "POST"}):
            self.assertEqual(self.server.call("OPTIONS", COPY, headers={**headers, **bearer(KEYS[0])}).status, 405)


class AllPages(Asks):
    @classmethod
    def setUpClass(cls):
        cls.server = harness.Server.of(program(), "--cors-origins", "*")

    def test_all_origins(self):
        reply = self.copy({"origin": "https://any.example"})
        self.assertEqual((reply.headers["access-control-allow-origin"], reply.headers["access-control-expose-headers"], "vary" in reply.headers), ("*", "*", False))


class NoPages(Asks):
    @classmethod
    def setUpClass(cls):
        cls.server = harness.Server.of(program())

    def test_it_is_off_unless_it_is_set(self):
        headers = {"origin": "https://a.example", "access-control-request-method": "POST"}
        reply = self.server.call("OPTIONS", COPY, headers=headers)
        self.assert_error(reply, 405, 5000)
        for answer in (reply, self.copy({"origin": "https://a.example"})):
            self.assertEqual([name for name in answer.headers if name.startswith("access-control") or name == "vary"], [])


if __name__ == "__main__":
    harness.main()
