#!/usr/bin/env python3
"""gRPC's interoperability cases against the runtime's own layer, asked by Google's client for C++ (interop/client.cc)."""
import re
import subprocess

import harness

CASES = re.findall(r'{"(\w+)", \w+}', (harness.ROOT / "tests/e2e/interop/client.cc").read_text()) + ["large_unary_1000_at_once"]


class Interop(harness.ServerCase):
    @classmethod
    def setUpClass(cls):
        cls.server = harness.Server(harness.BUILD / "bin/wf_interop_server")
        cls.server.wait_ready()

    def test_every_case(self):
        done = subprocess.run([harness.BUILD / "bin/wf_interop_client", "%s:%d" % self.server.addresses["http"]], capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout.split()), (0, CASES), done.stderr)
        self.assertEqual(len(CASES), 19)


if __name__ == "__main__":
    harness.main()
