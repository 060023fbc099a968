#!/usr/bin/env python3
"""The cases of tests/protocol, sent to our server and to others: it takes nothing that they refuse, unless the case cites why. Prints where they differ."""
from collections import Counter

import harness

if __name__ == "__main__":
    harness.in_environment()

import http1_cases  # noqa: E402
import http2_cases  # noqa: E402
import wire_peers  # noqa: E402


def table(title, peers, rows):
    """rows: [(case, ours, [theirs], what to say of it)]; those in which somebody differs from us."""
    print(f"\n{title}: ours beside {', '.join(peer.version for peer in peers)}")
    for name, ours, theirs, verdict in rows:
        if verdict:
            print(f"  {name:38} {ours:32} | {' | '.join(f'{it:32}' for it in theirs)} {verdict}")
    counts = Counter(verdict.partition(":")[0] for *_, verdict in rows)
    print(f"  {len(rows)} cases: " + ", ".join(f"{count} {verdict or 'alike'}" for verdict, count in counts.most_common()), flush=True)


class Peers(harness.ServerCase):
    source = harness.EXAMPLES / "hello/hello.wf"

    def ask(self, cases, served, observed, commands):
        """[(case, ours, theirs by name)], and the peers."""
        ours = http1_cases.ask_all(served, self.server.addresses["http"], cases)
        peers, theirs = [], [{} for _ in cases]
        for name, command_of in commands.items():
            with wire_peers.Peer(name, command_of) as peer:
                peers.append(peer)
                for into, (_, answers) in zip(theirs, http1_cases.ask_all(observed, peer.address, cases)):
                    into[name] = answers
        return peers, [(case, answers, them) for (case, answers), them in zip(ours, theirs)]

    def test_http1_is_taken_by_us_where_each_of_them_takes_it(self):
        peers, asked = self.ask(http1_cases.cases(), http1_cases.served, http1_cases.observed, wire_peers.HTTP1)
        rows, wrong = [], []
        for case, ours, theirs in asked:
            stricter = {name for name, answers in theirs.items() if answers.taken() < ours.taken()}
            verdict = "stricter" if any(answers.taken() > ours.taken() for answers in theirs.values()) else ""
            if stricter:
                verdict = "cited: " + "; ".join(case.excused.get(name, "NOT") for name in sorted(stricter))
                wrong += [case.name] if stricter != set(case.excused) else []
            elif case.excused:
                wrong.append(case.name + ": what it cites is not needed")
            rows.append((case.name, str(ours), [str(answers) for answers in theirs.values()], verdict))
        table("HTTP/1.1", peers, rows)
        self.assertEqual(wrong, [])

    def test_http2_is_taken_by_us_where_one_of_them_takes_it(self):
        peers, asked = self.ask(http2_cases.cases(), http2_cases.served, http2_cases.observed, wire_peers.HTTP2)
        rows, wrong = [], []
        for case, ours, theirs in asked:
            severities = [answers.severity() for answers in theirs.values()]
            verdict = "stricter" if ours.severity() > max(severities) else "between" if ours.severity() != max(severities) or ours.severity() != min(severities) else ""
            if ours.severity() < min(severities):
                verdict = "cited: " + (case.excused or "NOT")
            if (ours.severity() < min(severities)) != bool(case.excused):
                wrong.append(case.name)
            rows.append((case.name, str(ours), [str(answers) for answers in theirs.values()], verdict))
        table("HTTP/2", peers, rows)
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    harness.main()
