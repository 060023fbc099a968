#!/usr/bin/env python3
"""What HTTP says that a server must do, where clients differ: targets, versions, codings, chunks, content types, queries."""
import base64
import json

import harness

GREET = "/Hello/Greet"


class HttpRules(harness.ServerCase):
    source = harness.EXAMPLES / "hello/hello.wf"

    def test_an_absolute_target_is_routed_by_its_path(self):
        host, port = self.server.addresses["http"]
        self.assertEqual(self.server.call("POST", f"http://{host}:{port}{GREET}", b"{}").json, {"text": "hello, world"})
        self.assertEqual(self.server.call("GET", "http://other/livez").status, 200)
        self.assertEqual(self.server.call("GET", "http://other").status, 404)
        self.assert_error(self.server.call("GET", "ftp://other/livez"), 400, 5000, "http")

    def test_what_is_asked_of_the_server_as_a_whole(self):
        for port in ("http", "admin"):
            reply = self.server.call("OPTIONS", "*", port=port)
            self.assertEqual((reply.status, reply.headers["allow"], reply.body), (200, "GET, HEAD, POST, OPTIONS", b""), port)
            self.assert_error(self.server.call("GET", "*", port=port), 400, 5000, "OPTIONS")
            self.assert_error(self.server.call("CONNECT", "other:80", port=port), 501, 3000, "CONNECT")
        reply = self.server.call("OPTIONS", GREET)
        self.assertEqual((reply.status, reply.headers["allow"]), (405, "POST"))

    def test_the_parts_of_the_request_line_are_one_space_apart(self):
        for line in (b"GET  /livez HTTP/1.1", b"GET /livez  HTTP/1.1", b"GET /livez HTTP/1.1 "):
            with self.server.connect() as connection:
                connection.send(line + b"\r\nhost: t\r\n\r\n")
                self.assert_error(connection.receive(), 400, 5000, "one space")
                self.assertTrue(connection.closed_within(5))

    def test_a_request_id_is_a_short_word_or_as_if_it_were_not_there(self):
        for sent, told in (("r-1", "r-1"), ("~" * 128, "~" * 128), ("a" * 129, ""), ("a b", ""), ("a\tb", ""), ("n\xe4ive", ""), ("", "")):
            self.assertEqual(self.server.call("POST", "/none", b"", {"x-request-id": sent}).error["log_id"], told, sent)
        body = json.dumps({"id": "of OIP", "inputs": [{"name": "xs", "datatype": "FP32", "shape": [1, 1], "data": ["x"]}]}).encode()
        reply = self.server.call("POST", "/v2/models/Hello.Spread/infer", body, {"x-request-id": "a b"})
        self.assertEqual((reply.status, reply.json["log_id"]), (400, "of OIP"))

    def test_a_path_in_other_case_is_not_served_but_known(self):
        self.assert_error(self.server.call("POST", "/HELLO/GREET", b"{}"), 404, 3002, "did you mean `/Hello/Greet`")
        self.assertEqual(self.server.call("GET", "/LIVEZ").status, 404)

    def test_a_later_minor_version_is_read_as_1_1(self):
        with self.server.connect() as connection:
            connection.send(harness.request("POST", GREET, b"{}").replace(b"HTTP/1.1", b"HTTP/1.3"))
            reply = connection.receive()
            self.assertEqual((reply.status, reply.headers.get("connection")), (200, None), reply)
            connection.send(b"GET / HTTP/2.0\r\nhost: t\r\n\r\n")
            self.assert_error(connection.receive(), 505, 3000)

    def test_an_http_1_0_client_may_keep_its_connection(self):
        with self.server.connect() as connection:
            for keep, connection_header in ((True, "keep-alive"), (False, "close")):
                connection.send(b"POST /Hello/Greet HTTP/1.0\r\ncontent-length: 2\r\n" + (b"connection: keep-alive\r\n" if keep else b"") + b"\r\n{}")
                self.assertEqual(connection.receive().headers["connection"], connection_header)
            self.assertTrue(connection.closed_within(5))

    def test_an_escaped_slash_is_no_slash(self):
        self.assertEqual(self.server.call("POST", "/Hello/%47reet", b"{}").status, 200)
        for path in ("/Hello%2FGreet", "/Hello%2fGreet", "/v2/models/Hello%2fGreet"):
            method = "GET" if path.startswith("/v2") else "POST"
            self.assertEqual(self.server.call(method, path).status, 404, path)

    def test_a_slash_at_the_end_is_as_none_and_only_one(self):
        for path, port in (("/v2", "http"), ("/v2/health/live", "http"), ("/v2/models/Hello", "http"), ("/v2/models/Hello/versions/1/ready", "http"), ("/livez", "http"),
                           ("/livez", "admin"), ("/metrics", "admin"), ("/debug/schedule", "admin")):
            for end, status in (("", 200), ("/", 200), ("//", 404)):
                self.assertEqual(self.server.call("GET", path + end, port=port).status, status, path + end)
        self.assertEqual(self.server.call("GET", "/debug/schedule/?format=json", port="admin").status, 200)
        self.assertEqual(self.server.call("GET", "/debug/schedule?format=json/", port="admin").status, 400, "of a query it is a letter")
        for end, status in (("", 200), ("/", 200), ("//", 404), ("%2F", 404)):
            self.assertEqual(self.server.call("POST", "/Hello/Greet" + end, b"{}").status, status, end)
            self.assertEqual(self.server.call("POST", "/v2/models/Hello/infer" + end, b'{"inputs": []}').status, status, end)
        self.assertEqual(self.server.call("POST", "/Hello/Greet//", b"{}").json["error"]["message"], "nothing is served at `/Hello/Greet//`; did you mean `/Hello/Greet`")

    def test_escapes_are_the_same_on_every_path(self):
        for path in ("/live%7a", "/%72eadyz", "/v%32/health/live", "/v2/mod%65ls/Hell%6f/ready"):
            self.assertEqual(self.server.call("GET", path).status, 200, path)
        for path in ("/live%7A", "/metri%63s"):
            self.assertEqual(self.server.call("GET", path, port="admin").status, 200, path)

    def test_a_query_beside_json_is_named(self):
        self.assert_error(self.server.call("POST", GREET + "?name=Bob", b"{}"), 400, 5000, "`name`", "members")
        self.assert_error(self.server.call("POST", GREET + "?&x", b"{}"), 400, 5000, "`x`")
        self.assertEqual(self.server.call("POST", GREET + "?", b"{}").status, 200)

    def test_a_chunk_over_the_limit_is_refused_before_it_comes(self):
        with self.server.connect(timeout=3) as connection:
            connection.send(b"POST /Hello/Greet HTTP/1.1\r\nhost: t\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n7fffffff\r\n")
            reply = connection.receive()
            self.assert_error(reply, 413, 5000, "67108864")
            self.assertEqual(reply.headers["connection"], "close")

    def test_an_error_before_the_work_has_a_data_id_too(self):
        ids = [self.server.call(method, path, body).error["data_id"] for method, path, body in
               (("POST", "/none", b""), ("GET", GREET, b""), ("POST", GREET, b"{"), ("POST", GREET, b"["))]
        self.assertGreater(min(ids), 0)
        self.assertEqual(ids, sorted(set(ids)))


class RawBodies(harness.ServerCase):
    source = harness.EXAMPLES / "digits/digits.wf"
    args = harness.patient()

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.picture = (harness.EXAMPLES / "digits/testdata/seven.png").read_bytes()
        cls.json = json.dumps({"picture": {"b64": base64.b64encode(cls.picture).decode()}, "top": 1}).encode()

    def post(self, body, content_type, query=""):
        return self.server.call("POST", "/DigitService/Classify" + query, body, {"content-type": content_type} if content_type else None)

    def test_types_that_clients_put_in_unasked_say_nothing_and_the_body_does(self):
        for content_type in (None, "application/x-www-form-urlencoded", "Application/X-WWW-Form-URLEncoded; charset=utf-8"):
            self.assertEqual(self.post(self.picture, content_type, "?top=1").json["labels"], ["7"], content_type)
            self.assertEqual(self.post(self.json, content_type).json["labels"], ["7"], content_type)
            self.assertEqual(self.post(b" \n{ " + self.json[1:], content_type).json["labels"], ["7"], content_type)

    def test_other_json_under_such_a_type_is_bytes(self):
        for body in (b'{"image": {"b64": ""}}', b"{}", b"[1]", b'{"pict', b'{"picture\\u0020": 1}', b""):
            self.assert_error(self.post(body, "application/x-www-form-urlencoded"), 400, 100001)

    def test_a_mistake_in_it_is_told_as_json(self):
        self.assert_error(self.post(b'{"picture": 1}', "application/x-www-form-urlencoded"), 400, 5000, "`picture`")
        self.assert_error(self.post(b'{"top": 1}', None), 400, 5000, "picture")

    def test_types_that_say_what_it_is_hold(self):
        self.assertEqual(self.post(self.json, "application/json").json["labels"], ["7"])
        self.assertEqual(self.post(self.json, "application/problem+json").json["labels"], ["7"])
        self.assertEqual(self.post(self.picture, "image/png", "?top=1").json["labels"], ["7"])
        self.assert_error(self.post(self.json, "application/octet-stream"), 400, 100001)
        self.assert_error(self.post(self.picture, "application/json"), 400, 5000)
        self.assert_error(self.post(self.json, "application/json", "?top=1"), 400, 5000, "`top`")


if __name__ == "__main__":
    harness.main()
