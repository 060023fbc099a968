#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "runtime/kernels/operation.h"

namespace wf::kernels {

// Whether it takes long enough that measuring pays.
bool IsWorthMeasuring(const Operation& operation);

// The fastest of these ways to compute an operation, by its own shapes and weights and made-up inputs; empty: the first row's own, which
// any other has to beat by some percent. To each is added what it costs to bring its inputs and its result to the formats that the own way
// has. Nothing: the time was over before it was known. What is packed to measure is let go. left_ns: of time that passes, which shrinks.
// Thread: any; REQUIRES UseOneThread() on it before, and nobody else loads the constants meanwhile.
std::optional<std::string> FastestWay(const Operation& operation, std::span<const std::string> ways, int64_t& left_ns);

}  // namespace wf::kernels
