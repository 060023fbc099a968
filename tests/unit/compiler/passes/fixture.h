#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/builder.h"
#include "compiler/ir/print.h"
#include "compiler/ir/verify.h"

namespace wf::passes {

// One task with one body over a tensor `x` and a scalar `s`.
struct Fixture {
  explicit Fixture(std::vector<int64_t> dims = {-1}) {
    program.regions.push_back({.tasks = {ir::TaskId{0}}, .slots = {ir::SlotId{0}, ir::SlotId{1}}});
    program.slots = {{.name = "x", .type = program.types.Tensor(ir::DType::kF32, std::move(dims)), .region = ir::RegionId{0}},
                     {.name = "s", .type = program.types.Scalar(ir::DType::kI64), .region = ir::RegionId{0}}};
    program.tasks.push_back({.kind = ir::TaskKind::kRun, .region = ir::RegionId{0}, .in = {ir::SlotId{0}, ir::SlotId{1}}});
  }
  std::string Text() {
    EXPECT_EQ(ir::Verify(program), std::nullopt);
    return ir::PrintBody(program, program.tasks[0].body);
  }
  ir::Body& body() { return program.tasks[0].body; }
  ir::Program program;
};

inline std::vector<ir::TypeId> Integers(ir::Builder& b, size_t count) {
  return std::vector<ir::TypeId>(count, b.ScalarType(ir::DType::kI64));
}

}  // namespace wf::passes
