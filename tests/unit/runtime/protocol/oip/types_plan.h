#pragma once

#include "runtime/abi/plan.h"

namespace wf::test {

// Service `Types`, written by hand:
//   workflow All(yes: bool, i8: i8, .. f64: f64, text: string, raw: bytes, words: list<string>, blobs: list<bytes>, numbers: list<f32>,
//                matrix: f32[2, w], line: i64[n], flags: bool[2], point: Point, maybe: i64?, points: list<Point>,
//                perhaps: Point?, tally: map<i64>?)
//     -> the same names and values. Every parameter has a default. Point is (x: i64, label: string). Default workflow; rows_max 8.
//   workflow Pair(a: f32[2], b: i64) -> (a: f32[2], b: i64)              both required
//   workflow Half(half: f16) -> (half: f16, whole: f16)
//   workflow Grow(count: i64, over: f64 = 1) -> (grown: list<i64>, ratio: f64)    `count` elements, 1 / over; 13 fails with 100001;
//     annotates count = meta("say", count)
//   workflow Line(line: i64[n]) -> (line: i64[n])
//   workflow Text(text: string) -> (text: string)
const wf_plan& TypesPlan();

}  // namespace wf::test
