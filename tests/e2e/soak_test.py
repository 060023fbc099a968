#!/usr/bin/env python3
"""A short run of scripts/soak: clients of every kind, with TLS and without. Too short for its slope to say much: what would grow to gigabytes in a day is found."""
import unittest

import harness
import soak

MINUTES = 1 / 6
MOST_SLOPE = 20_000  # MiB an hour: 5 MiB a second


class Soak(unittest.TestCase):
    def test_nothing_is_wrong_and_nothing_stays(self):
        self.assertEqual(soak.soak(MINUTES, MOST_SLOPE), [])


if __name__ == "__main__":
    harness.main()
