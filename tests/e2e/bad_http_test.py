#!/usr/bin/env python3
"""Whatever a client sends, the server answers with the reason or closes, and serves the next one."""
import random

import harness

GREET, SPREAD = "/Hello/Greet", "/Hello/Spread"


class BadHttp(harness.ServerCase):
    source = harness.EXAMPLES / "hello/hello.wf"

    def tearDown(self):
        self.assertEqual(self.server.post(GREET, {"name": "Ada"}).json, {"text": "hello, Ada"}, "the server serves no more")

    def bad(self, path, body, *words):
        self.assert_error(self.server.call("POST", path, body), 400, 5000, *words)

    def test_bad_json_is_answered_with_its_position(self):
        self.bad(GREET, b'{"name": "Ada"', "byte 14")
        self.bad(GREET, b'{"name" "Ada"}', "byte 8")
        self.bad(GREET, b'{"name": Ada}', "byte 9")
        self.bad(GREET, b'{"name": "Ada"} x', "byte 16")
        for body in (b"", b"{", b"[]", b"null", b"1", b'"x"', b"{name: 1}", b"{'name': 1}", b'{"name": "A\nB"}', b'{"name": "\\x"}', b'{"name": "\\u12"}', b'{"name": "Ada",}'):
            self.bad(GREET, body)

    def test_text_that_is_not_utf8(self):
        for text in (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xc0\x80"):
            self.bad(GREET, b'{"name": "' + text + b'"}')
        self.bad(GREET, b'{"name": "\\ud800"}')

    def test_missing_extra_and_repeated_members(self):
        self.bad(SPREAD, b"{}", "xs")
        self.bad(GREET, b'{"name": "Ada", "nmae": 1}', "nmae", "name")
        self.bad(GREET, b'{"name": "Ada", "name": "Bob"}', "name")

    def test_wrong_types_and_shapes(self):
        for body in (b'{"name": 1}', b'{"name": ["Ada"]}', b'{"name": {}}', b'{"name": true}'):
            self.bad(GREET, body, "name")
        for body in (b'{"xs": 1}', b'{"xs": "1"}', b'{"xs": [[1]]}', b'{"xs": [1, [2]]}', b'{"xs": [1, "2"]}', b'{"xs": [true]}', b'{"xs": [null]}', b'{"xs": {"b64": ""}}'):
            self.bad(SPREAD, body, "xs")

    def test_numbers(self):
        for number in (b"1e999", b"-1e39", b"NaN", b"Infinity", b"-Infinity", b"01", b"1.", b".5", b"+1", b"0x10", b"1e", b"--1", b"1_000"):
            self.bad(SPREAD, b'{"xs": [' + number + b"]}")
        for number, word in ((b"01", "`0`"), (b"1.", "`.`"), (b"1e+", "`e`"), (b"-", "`-`")):
            self.bad(SPREAD, b'{"xs": [' + number + b"]}", "`xs[0]`: ", word)
        reply = self.server.call("POST", SPREAD, b'{"xs": [1e-999, ' + b"9" * 30 + b"]}")
        self.assertEqual(reply.status, 200, reply)

    def test_results_that_json_cannot_say(self):
        reply = self.server.call("POST", SPREAD, b'{"xs": [3e38, 3e38, 3e38]}')  # the sum overflows
        self.assertEqual(reply.status, 500, reply)
        self.assertEqual(reply.error["code"], 9000, reply)

    def test_depth(self):
        for opening in (b"[", b'{"xs":', b'{"a":['):
            self.bad(SPREAD, opening * 100_000)
            self.bad(SPREAD, b'{"xs": ' + opening * 100_000)
            self.bad(SPREAD, b'{"other": ' + opening * 100_000)

    def test_a_body_over_the_limit(self):
        with self.server.connect() as connection:
            connection.send(b"POST /Hello/Greet HTTP/1.1\r\nhost: t\r\ncontent-length: 100000000000\r\n\r\n")
            reply = connection.receive()
            self.assertEqual(reply.status, 413, reply)
        with self.server.connect() as connection:
            connection.send(b"POST /Hello/Greet HTTP/1.1\r\nhost: t\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffff0\r\n")
            self.assertIn(connection.receive().status, (400, 413))

    def test_a_form_of_several_parts(self):
        form = b'--b\r\ncontent-disposition: form-data; name="data"\r\n\r\n{}\r\n--b--\r\n'
        reply = self.server.call("POST", GREET, form, {"content-type": "Multipart/form-data; boundary=b"})
        self.assert_error(reply, 415, 5000, "curl --data-binary @FILE")

    def test_methods_and_paths(self):
        for method in ("GET", "PUT", "DELETE", "PATCH"):
            self.assertEqual(self.server.call(method, GREET).status, 405, method)
        self.assertEqual(self.server.call("POST", "/livez").status, 405)
        for path in ("/", "/Hello", "/Hello/Greeet", "/hello/Greet", "/Hello/Greet/x", "//Hello/Greet", "/Hello/../Hello/Greet", "/" + "a" * 4000):
            self.assertEqual(self.server.call("POST", path, b"{}").status, 404, path)
        for path, word in (("/Hello/%47reet%00", "`%`"), ("/%", "`%`"), ("/../Hello/Greet", "root"), ("/Hello/Greet#x", "fragment"), ("/n\xe4ive", "percent-encode")):
            self.assert_error(self.server.call("POST", path, b"{}"), 400, 5000, word)
        self.assertIn("Greet", self.server.call("POST", "/Hello/Greeet", b"{}").error["message"])

    def test_requests_that_are_no_http(self):
        post = b"POST /Hello/Greet HTTP/1.1\r\nhost: t\r\n"
        heads = [(400, b"\0" * 100 + b"\r\n\r\n"), (400, b"GET\r\n\r\n"), (400, b"GARBAGE\r\n\r\n"), (505, b"GET / HTTP/9.9\r\n\r\n"),
                 (400, b"POST /Hello/Greet HTTP/1.1\r\nhost t\r\n\r\n"), (400, b"POST /Hello/Greet HTTP/1.1\r\n\r\n"),
                 (400, post + b"content-length: -1\r\n\r\n"), (400, post + b"content-length: 1x\r\n\r\n"),
                 (400, post + b"content-length: 2\r\ncontent-length: 3\r\n\r\n{}"),
                 (400, post + b"content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"),
                 (400, post + b"transfer-encoding: chunked\r\n\r\nzz\r\n"),
                 (501, post + b"transfer-encoding: gzip\r\n\r\n"),
                 (400, post + b"x:\r\rcontent-length: 2\r\n\r\n{}"),
                 (400, post + b"x: a\r\n folded: b\r\n\r\n"),
                 (400, post + b"content-length : 2\r\n\r\n{}"),
                 (431, b"GET / HTTP/1.1\r\nx: " + b"a" * 100_000 + b"\r\n\r\n"), (414, b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n"),
                 (431, b"GET / HTTP/1.1\r\n" + b"x: y\r\n" * 10_000 + b"\r\n")]
        ended = self.broken_connections()
        for status, head in heads:
            with self.subTest(head=head[:80]), self.server.connect() as connection:
                connection.send(head)
                reply = connection.receive()
                self.assert_error(reply, status, 3000 if status > 500 else 5000)
                self.assertEqual(reply.headers.get("connection"), "close", reply)
                self.assertTrue(connection.closed_within(5), head[:80])
        limit = sum(status in (414, 431) for status, _ in heads)
        self.assertEqual(self.broken_connections(), {"protocol": ended["protocol"] + len(heads) - limit, "limit": ended["limit"] + limit, "slow": ended["slow"]})
        self.assertTrue(self.server.logs('"connections were ended for what came on them"', '"last_reason":"'))

    def broken_connections(self):
        metrics = self.server.metrics()
        return {reason: metrics[f'wf_broken_connections_total{{reason="{reason}"}}'] for reason in ("protocol", "limit", "slow")}

    def test_bytes_that_begin_no_request_are_refused_at_once(self):
        for data, word in ((b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", "TLS"), (b"\x80\x2e\x01", "no request")):
            with self.server.connect(timeout=3) as connection:  # far below the time for a head
                connection.send(data)
                self.assert_error(connection.receive(), 400, 5000, word)
                self.assertTrue(connection.closed_within(3), data)

    def test_a_client_that_leaves_at_every_byte(self):
        data = harness.request("POST", SPREAD, b'{"xs": [1, 2, 3]}', {"content-type": "application/json"})
        for at in range(len(data) + 1):
            for leave in ("close", "reset"):
                connection = self.server.connect()
                connection.send(data[:at])
                getattr(connection, leave)()
        self.assertEqual(self.server.post(GREET, {"name": "Ada"}).status, 200)  # all who came before have been accepted
        self.assertEqual(self.server.settled("wf_connections"), 0)  # and read
        self.assertEqual(self.server.settled("wf_inflight_requests"), 0)

    def answer_to(self, data):
        """What comes of bytes that may end in the middle of a request: with more of them every one is answered."""
        with self.server.connect(timeout=0.1) as connection:
            connection.send(data)
            try:
                return connection.receive()
            except TimeoutError:
                connection.socket.settimeout(20)
            try:
                connection.send(b"x" * 100 + b"\r\n\r\n" + b"x" * 100_000)
            except (BrokenPipeError, ConnectionResetError):
                pass  # it was just slow, and has closed behind its answer
            return connection.receive()

    def test_noise(self):
        noise = random.Random(1)
        valid = harness.request("POST", SPREAD, b'{"xs": [1, 2, 3]}')
        statuses = set()
        for _ in range(300):
            data = bytearray(valid)
            for _ in range(noise.randrange(1, 5)):
                data[noise.randrange(len(data))] = noise.randrange(256)
            reply = self.answer_to(bytes(data))
            self.assertTrue(reply.status == 200 or 400 <= reply.status < 600, (data, reply))
            if reply.status != 200:
                self.assertGreaterEqual(reply.error["code"], 3000, (data, reply))
            statuses.add(reply.status)
        self.assertLessEqual({200, 400, 404}, statuses, "noise of one kind alone")


if __name__ == "__main__":
    harness.main()
