#!/usr/bin/env python3
"""The router example as its users see it: whose model is which, how often each is right, and bad metadata."""
import base64
import csv
import subprocess

import harness

harness.in_environment()
import xxhash  # noqa: E402

ROUTER = harness.EXAMPLES / "router"
SEVEN = (ROUTER / "testdata/seven.png").read_bytes()
HELD_OUT = harness.EXAMPLES / "digits/testdata/held_out"
USERS = [*(f"user{i}" for i in range(400)), "ada", "Zoë", "x" * 2000, "a b", "0"]
SHARE, EXPERIMENT = 20, 1
LEAST_RIGHT = {"a": 0.97, "b": 0.95}


def arm_of(user):
    return "b" if xxhash.xxh64_intdigest(user.encode(), EXPERIMENT) % 100 < SHARE else "a"


class Router(harness.ServerCase):
    source = ROUTER / "router.wf"

    def read(self, picture=SEVEN, **metadata):
        return self.server.call("POST", "/Router/Read", picture, {"content-type": "image/png", **metadata})

    def test_a_user_has_the_model_that_the_hash_says(self):
        for user in USERS:
            reply = self.read(user=user.encode().decode("latin-1"))
            self.assertEqual((reply.status, reply.headers["wf-arm"]), (200, arm_of(user)), user)
            self.assertEqual(reply.json["digit"], 7)
        arms = self.server.post("/Router/Arms", {"users": USERS}).json["arms"]
        self.assertEqual(arms, [arm_of(user) for user in USERS])

    def test_a_fifth_of_the_users_try_the_candidate(self):
        users = [f"{name}{i}" for name in ("user", "https://example.org/people/", "") for i in range(5000)]
        arms = self.server.post("/Router/Arms", {"users": users}).json["arms"]
        self.assertAlmostEqual(arms.count("b") / len(arms), SHARE / 100, delta=0.015)

    def test_who_does_not_say_who_they_are_gets_the_current_model(self):
        for metadata in ({}, {"user": ""}, {"arm": ""}, {"arm": "c"}):
            self.assertEqual(self.read(**metadata).headers["wf-arm"], "a")

    def test_who_asks_for_a_model_gets_it(self):
        for user in USERS[:20]:
            for arm in "ab":
                self.assertEqual(self.read(user=user, arm=arm).headers["wf-arm"], arm)

    def test_accuracy_of_each_over_the_whole_held_out_split(self):
        with open(HELD_OUT / "labels.csv", newline="") as file:
            scans = [((HELD_OUT / row["file"]).read_bytes(), int(row["label"])) for row in csv.DictReader(file)]
        self.assertEqual(len(scans), 360)
        for arm, least in LEAST_RIGHT.items():
            right = sum(self.read(picture, arm=arm).json["digit"] == digit for picture, digit in scans)
            print(f"router: {arm} is right on {right} of {len(scans)}, {100 * right / len(scans):.2f} %")
            self.assertGreaterEqual(right / len(scans), least)

    def test_the_same_by_parameters_of_the_open_inference_protocol(self):
        picture = {"name": "picture", "datatype": "BYTES", "shape": [1], "parameters": {"content_type": "base64"}, "data": [base64.b64encode(SEVEN).decode()]}
        for user in USERS[:20]:
            reply = self.server.post("/v2/models/Router/infer", {"parameters": {"user": user}, "inputs": [picture]})
            self.assertEqual((reply.status, reply.json["parameters"]["arm"]), (200, arm_of(user)), reply)

    def test_what_is_no_picture_and_metadata_that_is_no_text(self):
        for arm in "ab":
            for body in (b"GIF89a", SEVEN[:60], b"\0" * 1000):
                self.assert_error(self.read(body, arm=arm), 400, 100001, "PNG")
        self.assert_error(self.read(user="\xff"), 400, 5000, "UTF-8")
        self.assert_error(self.server.post("/Router/Arms", {"users": [1]}), 400, 5000, "users")

    def test_the_client(self):
        done = subprocess.run([ROUTER / "client.py", "http://%s:%d" % self.server.addresses["http"]], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^a: \d+ answers.*\nb: \d+ answers")


if __name__ == "__main__":
    harness.main()
