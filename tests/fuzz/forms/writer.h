#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace wf::fuzz {

// The program that the answers make: the functions, and the workflow `W(c: bool, o: i64?, k: i64, xs: list<i64>)` with the result `r: i64`.
// 0 is the plainest answer, and each answer behind the last.
std::string WriteProgram(std::span<const uint8_t> answers);

}  // namespace wf::fuzz
