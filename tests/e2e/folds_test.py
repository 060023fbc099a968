#!/usr/bin/env python3
"""Folds of every kind of accumulator, so long that what their turns allocate is more than a request may have: a fold keeps what its next turn reads."""
import harness

SOURCE = """package folds;
import std.tensor;
import std.text;

type Grid { at: f32[_]; name: string; }
type Point { x: i64; tags: list<string>; }

fn count(n: i64) -> list<i64> = list([k < n] => k);
fn moved(x: f32[n], by: f32) -> f32[n] = [k] => x[k] * 0.5 + by;
fn odd(word: string, i: i64) -> string? = if i % 2 == 1 { word } else { none };

workflow Record(n: i64, start: f32[m]) -> (sum: f32, same: f32, turns: i64) {
  node r = fold a = (x: start, same: start, turns: 0) for i in count(n) {
    let next: f32[m] = [k] => a.x[k] * 0.5 + f32(i % 10);
    (x: next, same: a.same, turns: a.turns + 1)
  };
  return (sum: sum[k](r.x[k]), same: sum[k](r.same[k]), turns: r.turns);
}
workflow Choice(n: i64, start: f32[m]) -> (sum: f32) {
  node r = fold a = start for i in count(n) { if i % 3 == 0 { a } else { [k] => a[k] * 0.5 + f32(i % 10) } };
  return (sum: sum[k](r[k]));
}
workflow Called(n: i64, start: f32[m]) -> (sum: f32) {
  node r = fold a = start for i in count(n) { let once = moved(a, f32(i % 10)); if i % 2 == 0 { moved(once, 1.0) } else { once } };
  return (sum: sum[k](r[k]));
}
workflow Front(n: i64) -> (length: i64, first: string) {
  node r = fold s = "" for i in count(n) { "{i}:0123456789 {s}" };
  return (length: len(r), first: text.split(r, " ")[0]);
}
workflow Back(n: i64) -> (length: i64, last: string) {
  node r = fold s = "" for i in count(n) { "{s} 0123456789:{i}" };
  return (length: len(r), last: text.split(r, " ")[n]);
}
workflow Numbers(n: i64, size: i64) -> (first: i64, last: i64) {
  node r = fold l = count(size) for i in count(n) { [v + i for v in l] };
  return (first: r[0], last: r[size - 1]);
}
workflow Texts(n: i64, size: i64) -> (first: string, last: string) {
  node r = fold l = ["{k}" for k in count(size)] for i in count(n) { [if k == 0 { "turn {i}" } else { l[k - 1] } for k in count(size)] };
  return (first: r[0], last: r[size - 1]);
}
workflow Points(n: i64, size: i64) -> (x: i64, tags: list<string>) {
  node r = fold l = [Point(x: k, tags: ["one"]) for k in count(size)] for i in count(n) {
    [Point(x: p.x + i, tags: ["{p.x}", p.tags[0], p.tags[0]]) for p in l]
  };
  return (x: r[size - 1].x, tags: r[size - 1].tags);
}
workflow Stacks(n: i64) -> (sums: list<f32>) {
  node r = fold l = [([k < 2000] => f32(k)), ([k < 2000] => 1.0)] for i in count(n) { let second = l[1]; [second, ([k < len(second)] => second[k] + f32(i % 3))] };
  return (sums: [sum[k](x[k]) for x in r]);
}
workflow Maybe(n: i64) -> (text: string, turns: i64) {
  node r = fold a = (text: odd("start", 1), turns: 0) for i in count(n) { (text: odd("{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}{i}", i), turns: a.turns + 1) };
  return (text: r.text ?? "none", turns: r.turns);
}
workflow Number(n: i64) -> (total: i64) {
  node r = fold t = 0 for i in count(n) { let words = text.split("{i} of some words that are {t} apart, one by one, until there are {n}", " "); t + len(words[0]) + len(words) };
  return (total: r);
}
workflow Inner(n: i64, size: i64) -> (length: i64, sum: f32) {
  let start: f32[3] = [k] => f32(k);
  node r = fold a = (s: "", x: start) for i in count(n) {
    let row = fold s = "" for k in count(size) { "{s}{k}" };
    let x = fold x = a.x for k in count(size) { if k % 2 == 0 { [j < 3] => x[j] * 0.5 + f32(i % 10) } else { x } };
    (s: if i % 1000 == 0 { "{a.s}{row}" } else { a.s }, x: x)
  };
  return (length: len(r.s), sum: sum[k](r.x[k]));
}
workflow Within(n: i64, size: i64) -> (lengths: i64, sum: i64) {
  node texts = [fold s = "{k}" for i in count(size) { "{i}{s}" } for k in count(n)];
  node x = [k < n] => len(fold s = "" for i in count(size) { "{i}{k}{s}" });
  return (lengths: fold t = 0 for s in texts { t + len(s) }, sum: sum[k](x[k]));
}
workflow Growing(n: i64) -> (size: i64, last: f32, name: string) {
  node r = fold a = Grid(at: [0.0], name: "x") for i in count(n) {
    let old = a.at;
    let more = if i < 2000 { 1 } else { 0 };
    Grid(at: [k < len(old) + more] => if k < len(old) { old[min(k, len(old) - 1)] } else { f32(i) }, name: "{i}")
  };
  return (size: len(r.at), last: r.at[len(r.at) - 1], name: r.name);
}
workflow Large(n: i64, size: i64) -> (sum: f32, best: f32) {
  let start: f32[size] = [k] => f32(k % 10);
  node r = fold a = (x: start, best: start, seen: 0) for i in count(n) {
    let next: f32[size] = [k] => f32(i64(a.x[k]) * 7 % 13);
    if i % 3 == 0 { (x: next, best: next, seen: i) } else { (x: next, best: a.best, seen: a.seen) }
  };
  return (sum: sum[k](r.x[k]), best: sum[k](r.best[k]));
}
workflow Ranked(n: i64, start: f32[m]) -> (sum: f32) {
  node r = fold a = start for i in count(n) { let best = tensor.top_k(a, 100); [k] => if k < 100 { best.values[min(k, 99)] * 0.5 } else { f32((k + i) % 10) } };
  return (sum: sum[k](r[k]));
}
service S {
  workflow Record; workflow Choice; workflow Called; workflow Front; workflow Back; workflow Numbers; workflow Texts; workflow Points; workflow Stacks;
  workflow Maybe; workflow Number; workflow Inner; workflow Within; workflow Growing; workflow Large; workflow Ranked;
}
"""
MIB = 1 << 20
START = [float(k % 7) for k in range(1000)]


def halved(start, steps):
    x = list(start[:7])  # the elements repeat
    for by in steps:
        x = [value * 0.5 + by for value in x]
    return x


class Folds(harness.ServerCase):
    @classmethod
    def setUpClass(cls):
        cls.source = harness.scratch() / "folds.wf"
        cls.source.write_text(SOURCE)
        super().setUpClass()

    def resident(self):
        with open(f"/proc/{self.server.process.pid}/status", encoding="utf-8") as status:
            return int(next(line for line in status if line.startswith("VmHWM:")).split()[1]) * 1024

    def ask(self, workflow, **inputs):
        reply = self.server.post(f"/S/{workflow}", inputs)
        self.assertEqual(reply.status, 200, reply)
        if harness.BUILD.name == "release":  # sanitizers keep what is freed
            self.assertLess(self.resident(), 128 * MIB, workflow)
        return reply.json

    def test_tensors_in_records_choices_and_calls(self):
        n = 100_000  # of 4 KB
        record = self.ask("Record", n=n, start=START)
        self.assertEqual((record["same"], record["turns"]), (sum(START), n))
        wanted = halved(START, [i % 10 for i in range(n - 100, n)])
        self.assertAlmostEqual(record["sum"], sum(wanted[k % 7] for k in range(1000)), delta=1)
        wanted = halved(START, [i % 10 for i in range(n - 100, n) if i % 3])
        self.assertAlmostEqual(self.ask("Choice", n=n, start=START)["sum"], sum(wanted[k % 7] for k in range(1000)), delta=1)
        wanted = halved(START, [by for i in range(n - 100, n) for by in ((i % 10, 1) if i % 2 == 0 else (i % 10,))])
        self.assertAlmostEqual(self.ask("Called", n=n, start=START)["sum"], sum(wanted[k % 7] for k in range(1000)), delta=1)
        self.assertGreater(self.ask("Ranked", n=20_000, start=START)["sum"], 0)

    def test_texts_that_grow_at_either_end(self):
        n = 10_000
        length = sum(len(f" 0123456789:{i}") for i in range(n))
        self.assertEqual(self.ask("Front", n=n), {"length": length, "first": f"{n - 1}:0123456789"})
        self.assertEqual(self.ask("Back", n=n), {"length": length, "last": f"0123456789:{n - 1}"})
        n = 100_000
        self.assertEqual(self.ask("Back", n=n)["length"], sum(len(f" 0123456789:{i}") for i in range(n)))

    def test_lists(self):
        n, size = 50_000, 1000  # of 8 KB
        grown = n * (n - 1) // 2
        self.assertEqual(self.ask("Numbers", n=n, size=size), {"first": grown, "last": grown + size - 1})
        n, size = 20_000, 1000  # of 16 KB
        self.assertEqual(self.ask("Texts", n=n, size=size), {"first": f"turn {n - 1}", "last": f"turn {n - size}"})
        n, size = 10_000, 100  # of 20 KB
        x = [size - 1 + i * (i - 1) // 2 for i in range(n + 1)]
        self.assertEqual(self.ask("Points", n=n, size=size), {"x": x[n], "tags": [str(x[n - 1]), str(x[n - 2]), str(x[n - 2])]})
        n = 40_000  # of 8 KB
        rises = [i % 3 for i in range(n)]
        self.assertEqual(self.ask("Stacks", n=n), {"sums": [2000.0 * (1 + sum(rises[:-1])), 2000.0 * (1 + sum(rises))]})

    def test_what_lies_beside_the_accumulator(self):
        n = 100_000
        self.assertEqual(self.ask("Maybe", n=n), {"text": str(n - 1) * 12, "turns": n})
        total = 0
        n = 400_000
        for i in range(n):
            total += len(str(i)) + 15
        self.assertEqual(self.ask("Number", n=n)["total"], total)

    def test_folds_within(self):
        n, size = 20_000, 100
        row = len("".join(map(str, range(size))))
        inner = self.ask("Inner", n=n, size=size)
        self.assertEqual(inner["length"], n // 1000 * row)
        self.assertAlmostEqual(inner["sum"], 3 * 2 * ((n - 1) % 10), delta=1e-3)
        n, size = 3000, 300  # of 100 KB
        row = len("".join(map(str, range(size))))
        within = self.ask("Within", n=n, size=size)
        digits = sum(len(str(k)) for k in range(n))
        self.assertEqual(within, {"lengths": n * row + digits, "sum": n * row + size * digits})

    def test_what_grows_and_what_is_large(self):
        n = 50_000  # of 8 KB
        self.assertEqual(self.ask("Growing", n=n), {"size": 2001, "last": 1999.0, "name": str(n - 1)})
        n, size = 100, 1_500_000  # of 6 MB
        x = list(range(10))
        for i in range(n):
            x = [value * 7 % 13 for value in x]
        large = self.ask("Large", n=n, size=size)
        self.assertEqual(large, {"sum": float(sum(x) * size // 10), "best": float(sum(x) * size // 10)})


if __name__ == "__main__":
    harness.main()
