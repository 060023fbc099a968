#!/usr/bin/env python3
"""std.time held to Python's datetime over thousands of times, of all years that there are; and std.json to Python's json over random values of every type."""
import base64
import json
import math
import random
import struct
from datetime import datetime, timedelta, timezone

import harness

SOURCE = """import std.json;
import std.time;

type Leaf {
  flag: bool;
  name: string;
  note: string?;
  raw: bytes;
}

type Tree {
  leaves: list<Leaf>;
  by_name: map<list<i64>>;
  best: Leaf?;
  small: i8;
  large: u64;
  half: f16;
  single: f32;
  double: f64;
  row: f64[_];
  grid: f32[_, 2];
  bits: bool[_];
}

fn tree_of(text: string) -> Tree = json.parse(text);

workflow Parts(at: list<i64>) -> (each: list<time.Parts>, back: list<i64>, seconds: list<f64>) {
  node each = [time.parts(one) for one in at];
  node back = [time.from_parts(p.year, p.month, p.day, p.hour, p.minute, p.second, p.nanosecond) for p in each];
  return (each: each, back: back, seconds: [time.in_seconds(one) for one in at]);
}

workflow Texts(at: list<i64>, digits: i64) -> (texts: list<string>, back: list<i64>) {
  node texts = [time.format(one, digits) for one in at];
  node back = [time.parse(text) for text in texts];
  return (texts: texts, back: back);
}

workflow Parse(texts: list<string>) -> (at: list<i64>) {
  return (at: [time.parse(text) for text in texts]);
}

workflow FromParts(year: i64, month: i64, day: i64, hour: i64 = 0, minute: i64 = 0, second: i64 = 0, nanosecond: i64 = 0) -> (at: i64) {
  return (at: time.from_parts(year, month, day, hour, minute, second, nanosecond));
}

workflow Truncate(at: list<i64>, of: i64) -> (last: list<i64>) {
  return (last: [time.truncate(one, of) for one in at]);
}

workflow Durations(count: i64) -> (each: list<i64>, seconds: f64) {
  return (
    each: [time.days(count), time.hours(count), time.minutes(count), time.seconds(count), time.milliseconds(count)],
    seconds: time.in_seconds(count),
  );
}

workflow Months(year: i64) -> (days: list<i64>, leap: bool) {
  let months: i64[12] = [m] => m + 1;
  return (days: [time.days_in_month(year, month) for month in months], leap: time.is_leap(year));
}

workflow NoMonth(month: i64) -> (days: i64) {
  return (days: time.days_in_month(2024, month));
}

workflow Now() -> (at: i64, text: string) {
  node at = time.now();
  return (at: at, text: time.format(at, digits: 9));
}

workflow Again(text: string) -> (tree: Tree, text: string) {
  node tree = tree_of(text);
  return (tree: tree, text: json.build(tree));
}

workflow OfBytes(text: bytes) -> (names: list<string>) {
  node names: list<string> = json.parse(text);
  return (names: names);
}

fn places(count: i64) -> i64[count] = [i] => i;

fn joined(grown: string, one: string) -> list<string> {
  let before: list<string> = json.parse(grown);
  [if i < len(before) { before[i] } else { one } for i in places(len(before) + 1)]
}

workflow Grow(texts: list<string>) -> (text: string) {
  return (text: fold grown = "[]" for one in texts { json.build(joined(grown, one)) });
}

service Times {
  workflow Parts;
  workflow Texts;
  workflow Parse;
  workflow FromParts;
  workflow Truncate;
  workflow Durations;
  workflow Months;
  workflow NoMonth;
  workflow Now;
  workflow Again;
  workflow OfBytes;
  workflow Grow;
}
"""
EPOCH, LEAST, MOST = datetime(1970, 1, 1, tzinfo=timezone.utc), -2**63, 2**63 - 1
DAY = 86_400_000_000_000
dice = random.Random(5)


def sample(count=4000):
    """Times from everywhere: the ends, each day around leap days and changes of centuries, and nanoseconds before and behind midnights."""
    times = [LEAST, LEAST + 1, -1, 0, 1, MOST - 1, MOST]
    for year in (1678, 1699, 1700, 1704, 1799, 1800, 1896, 1900, 1904, 1969, 1970, 1972, 1999, 2000, 2001, 2024, 2100, 2104, 2200, 2261):
        for month, day in ((1, 1), (2, 28), (3, 1), (12, 31)):
            at = (datetime(year, month, day, tzinfo=timezone.utc) - EPOCH).days * DAY
            times += [at - 1, at, at + DAY - 1, at + DAY, at + DAY + 1]
    return times + [dice.randint(LEAST, MOST) for _ in range(count)] + [dice.randrange(-10**9, 10**9) for _ in range(100)]


def shown(ns):
    """Of datetime, which has microseconds; and the nanoseconds."""
    return EPOCH + timedelta(microseconds=ns // 1000), ns % 10**9


def single(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def half(x):
    return struct.unpack("<e", struct.pack("<e", x))[0]


def word():
    return "".join(dice.choice('ab"\\/\n\t\0\x1f\u00e9\u2028\U0001f600 {}[]:,') for _ in range(dice.randrange(12)))


def told(tree):
    """What the reply says, whose narrow floats have their fewest digits."""
    return tree | {"half": half(tree["half"]), "single": single(tree["single"]), "grid": [[single(x) for x in row] for row in tree["grid"]]}


def leaf():
    return {"flag": dice.random() < 0.5, "name": word(), "note": dice.choice((None, word())), "raw": {"b64": base64.b64encode(dice.randbytes(dice.randrange(9))).decode()}}


def double():
    return dice.choice((0.0, -0.0, 0.1, 5e-324, 1.7976931348623157e308, dice.uniform(-1, 1), dice.uniform(-1, 1) * 10.0 ** dice.randrange(-300, 300)))


def tree():
    rows = dice.randrange(4)
    return {
        "leaves": [leaf() for _ in range(dice.randrange(4))],
        "by_name": {word(): [dice.randint(LEAST, MOST) for _ in range(dice.randrange(3))] for _ in range(dice.randrange(4))},
        "best": dice.choice((None, leaf())),
        "small": dice.randint(-128, 127), "large": dice.randint(0, 2**64 - 1),
        "half": half(dice.uniform(-60000, 60000)), "single": single(dice.uniform(-1, 1) * 10.0 ** dice.randrange(-40, 38)), "double": double(),
        "row": [double() for _ in range(dice.randrange(40))],
        "grid": [[single(dice.uniform(-9, 9)) for _ in range(2)] for _ in range(rows)],
        "bits": [dice.random() < 0.5 for _ in range(dice.randrange(70))],
    }


class Times(harness.ServerCase):
    @classmethod
    def setUpClass(cls):
        cls.source = harness.scratch() / "times.wf"
        cls.source.write_text(SOURCE)
        super().setUpClass()

    def ask(self, name, **parameters):
        reply = self.server.post(f"/Times/{name}", parameters)
        self.assertEqual(reply.status, 200, (name, reply))
        return reply.json

    def refused(self, status, code, name, **parameters):
        self.assert_error(self.server.post(f"/Times/{name}", parameters), status, code)

    def test_parts_are_those_of_datetime(self):
        times = sample()
        found = self.ask("Parts", at=times)
        self.assertEqual(found["back"], times)
        for at, parts, seconds in zip(times, found["each"], found["seconds"], strict=True):
            day, nanosecond = shown(at)
            self.assertAlmostEqual(seconds, day.timestamp() + nanosecond % 1000 / 1e9, delta=max(math.ulp(seconds), 1e-15))
            self.assertEqual(list(parts.values()), [day.year, day.month, day.day, day.hour, day.minute, day.second, nanosecond, day.isoweekday(), day.timetuple().tm_yday], at)

    def test_texts_are_those_of_datetime(self):
        times = sample(1500)[2:]
        for digits in range(10):
            found = self.ask("Texts", at=times, digits=digits)
            for at, text, back in zip(times, found["texts"], found["back"], strict=True):
                day, nanosecond = shown(at)
                fraction = f".{nanosecond:09}"[: digits + 1] if digits else ""
                self.assertEqual(text, day.strftime("%Y-%m-%dT%H:%M:%S") + fraction + "Z")
                self.assertEqual(back, at - nanosecond % 10 ** (9 - digits))
        for digits in (-1, 10):
            self.refused(500, 7000, "Texts", at=[0], digits=digits)

    def test_the_first_time_has_a_text_that_can_be_cut_before_all_times(self):
        self.assertEqual(self.ask("Texts", at=[LEAST], digits=9)["texts"], ["1677-09-21T00:12:43.145224192Z"])
        self.refused(400, 5000, "Texts", at=[LEAST], digits=3)

    def test_parse_reads_what_isoformat_writes(self):
        texts, wanted = [], []
        for at in sample(1500)[7:]:
            day, _ = shown(at // 1000 * 1000)
            zone = timezone(timedelta(minutes=dice.randrange(-23 * 60 - 59, 24 * 60)))
            if not datetime(1678, 1, 2, tzinfo=timezone.utc) < day < datetime(2262, 1, 1, tzinfo=timezone.utc):
                continue
            texts.append(day.astimezone(zone).isoformat(sep=dice.choice("T ")))
            wanted.append(at // 1000 * 1000)
        self.assertGreater(len(texts), 1000)
        self.assertEqual(self.ask("Parse", texts=texts)["at"], wanted)
        for text in ("", "2026-11-27", "2026-11-27T06:40:00", "2026-11-27T06:40Z", "26-11-27T06:40:00Z", "2026-02-30T00:00:00Z", "2026-11-27T06:40:00.Z", "1600-01-01T00:00:00Z", "\u0662026-11-27T06:40:00Z"):
            self.refused(400, 5000, "Parse", texts=[text])

    def test_from_parts_refuses_what_no_calendar_shows(self):
        self.assertEqual(self.ask("FromParts", year=2262, month=4, day=11, hour=23, minute=47, second=16, nanosecond=854775807)["at"], MOST)
        for parts in ((1676, 1, 1), (1677, 1, 1), (1677, 9, 21), (2262, 4, 12), (2263, 1, 1), (2023, 2, 29), (2024, 0, 1), (2024, 13, 1), (2024, 4, 31), (2024, 1, 0), (2**63 - 1, 1, 1), (2024, 1, 1, 24), (2024, 1, 1, -1),
                      (2024, 1, 1, 0, 60), (2024, 1, 1, 0, 0, 60), (2024, 1, 1, 0, 0, 0, 10**9), (2024, 1, 1, 0, 0, 0, -1), (2262, 4, 11, 23, 47, 16, 854775808), (1677, 9, 21, 0, 12, 43, 145224191)):
            self.refused(500, 7000, "FromParts", **dict(zip(("year", "month", "day", "hour", "minute", "second", "nanosecond"), parts)))

    def test_truncation_goes_down(self):
        times = sample(500)[2:]
        for of in (1, 10**9, 60 * 10**9, 3600 * 10**9, DAY, 7 * DAY):
            inside = [at for at in times if at // of * of >= LEAST]
            self.assertEqual(self.ask("Truncate", at=inside, of=of)["last"], [at // of * of for at in inside])
        self.refused(500, 7000, "Truncate", at=[LEAST], of=DAY)
        self.refused(500, 7000, "Truncate", at=[0], of=0)

    def test_durations_and_months(self):
        for count in (0, 1, -3, 1500, 10**5 + 1):
            found = self.ask("Durations", count=count)
            self.assertEqual(found["each"], [count * of for of in (DAY, 3600 * 10**9, 60 * 10**9, 10**9, 10**6)])
            self.assertAlmostEqual(found["seconds"], count / 1e9, delta=1e-15)
        limits = (106751, 2562047, 153722867, 9223372036, 9223372036854)  # as stdlib/time.wf has them
        for i, most in enumerate(limits):
            for sign in (1, -1):
                self.assertEqual(self.ask("Durations", count=sign * most)["each"][i], sign * most * (DAY, 3600 * 10**9, 60 * 10**9, 10**9, 10**6)[i])
        for year in (1900, 2000, 2023, 2024, 2100):
            first = [datetime(year, month, 1) for month in range(1, 13)] + [datetime(year + 1, 1, 1)]
            found = self.ask("Months", year=year)
            self.assertEqual(found["days"], [(b - a).days for a, b in zip(first, first[1:])])
            self.assertEqual(found["leap"], found["days"][1] == 29)
        for month in (0, 13):
            self.refused(500, 7000, "NoMonth", month=month)

    def test_now_is_between_two_readings(self):
        before = datetime.now(timezone.utc)
        found = self.ask("Now")
        self.assertLessEqual(before - timedelta(milliseconds=1), shown(found["at"])[0])
        self.assertLessEqual(shown(found["at"])[0], datetime.now(timezone.utc) + timedelta(milliseconds=1))
        self.assertEqual(self.ask("Parse", texts=[found["text"]])["at"], [found["at"]])

    def test_json_of_every_type_comes_back(self):
        for _ in range(300):
            wanted = tree()
            for given in (json.dumps(wanted), json.dumps(wanted, ensure_ascii=False, indent=1)):
                reply = self.ask("Again", text=given)
                wanted["by_name"] = dict(sorted(wanted["by_name"].items(), key=lambda entry: entry[0].encode()))
                self.assertEqual(told(reply["tree"]), wanted)
                self.assertEqual(told(json.loads(reply["text"])), wanted)
                self.assertEqual(self.ask("Again", text=reply["text"])["text"], reply["text"])

    def test_a_text_is_refused_in_the_words_of_a_request(self):
        whole = tree()
        for change, words in (({"small": 128}, "`small`: `128` is out of range for i8"), ({"large": 1.0}, "`large`: `1.0` is not written as an integer"), ({"best": {"flag": 1}}, "`best.flag`: expected `true` or `false`, found a number"),
                             ({"grid": [[1, 2], [3]]}, "grid"), ({"more": 1}, "unknown member `more`"), ({"leaves": [{"raw": {"b64": "?"}}]}, "leaves[0].raw")):
            text = json.dumps(whole | change)
            reply = self.server.post("/Times/Again", {"text": text})
            self.assert_error(reply, 400, 5000)
            self.assertIn(words, reply.body.decode().replace('\\"', '"'))

    def test_hostile_texts_end(self):
        deep = "[" * 100_000
        for text in (deep, '{"leaves":' + deep, "", "nul", '{"double":1e999999999}', '{"row":[' + "9" * 100_000 + "]}", '{"' + "a" * 100_000 + '":1}', '{"by_name":{"a":[' + "1," * 100_000):
            self.assert_error(self.server.post("/Times/Again", {"text": text}), 400, 5000)
        self.assert_error(self.server.post("/Times/Again", {"text": '{"row":[' + "1," * 9_000_000 + "1]}"}), 400, 5000)

    def test_bytes_are_texts_and_what_is_no_utf8_is_refused(self):
        self.assertEqual(self.ask("OfBytes", text={"b64": base64.b64encode('["\u00e9"]'.encode()).decode()})["names"], ["\u00e9"])
        self.refused(400, 5000, "OfBytes", text={"b64": base64.b64encode(b'["\xff"]').decode()})

    def test_a_fold_gives_back_what_its_texts_took(self):
        texts = [f"{i} \u00e9\n" for i in range(1500)]
        self.assertEqual(json.loads(self.ask("Grow", texts=texts)["text"]), texts)


if __name__ == "__main__":
    harness.main()
