#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <llvm/Support/raw_ostream.h>

#include "compiler/ir/scalar.h"
#include "tests/unit/compiler/lower/harness.h"

namespace wf::lower::testing {

using ir::Builder;
using ir::DType;
using ir::OpKind;
using ir::ReduceKind;
using ir::TypeId;
using ir::ValueId;
using In = std::vector<ValueId>;

// Cases, each run on every copy against the interpreter, bit for bit.
class BodyTest : public ::testing::Test {
 protected:
  Cases cases_;
  ir::TypeTable& types() { return cases_.types(); }
  TypeId Scalar(DType dtype) { return types().Scalar(dtype); }
  TypeId Tensor(DType dtype, std::vector<int64_t> dims) { return types().Tensor(dtype, std::move(dims)); }
  TypeId I64() { return Scalar(DType::kI64); }

  bool with_o0_ = true;
  bool watched_ = true;  // the generic copy is instrumented where the test is: of long bodies, a minute
  bool wide_ = false;    // needs a CPU that has x86-64-v4

  // The module of all cases, for CPUs with AVX2, as it is before LLVM's passes.
  std::string Printed() const {
    llvm::LLVMContext context;
    std::string text;
    llvm::raw_string_ostream out(text);
    Lower(cases_.program, context, {.target_cpu = "x86-64-v3"})->print(out, nullptr);
    return text;
  }

  // All cases on all copies, against the interpreter. Where the CPU has x86-64-v4, that is what the generic copy runs.
  void Check(const std::vector<int64_t>& sizes, int rounds = 1) {
    std::vector<std::pair<std::string, std::unique_ptr<Loaded>>> copies;
    copies.emplace_back("generic", std::make_unique<Loaded>(cases_.program, "generic", 2, watched_));
    copies.emplace_back("v3", std::make_unique<Loaded>(cases_.program, "x86-64-v3"));
    copies.emplace_back("v3 in parts", std::make_unique<Loaded>(cases_.program, "x86-64-v3", 1, false, 1));
    if (with_o0_) copies.emplace_back("v3 -O0", std::make_unique<Loaded>(cases_.program, "x86-64-v3", 0));
    if (wide_) copies.emplace_back("v4", std::make_unique<Loaded>(cases_.program, "x86-64-v4"));
    ir::Interpreter oracle(cases_.program);
    uint64_t seed = 1;
    for (const Cases::Case& one : cases_.cases) {
      const ir::Task& task = cases_.program.tasks[one.task];
      const TypeId out = task.out == ir::SlotId::kNone ? TypeId::kNone : cases_.program[task.out].type;
      for (const int64_t size : sizes) {
        for (int round = 0; round < rounds; ++round) {
          std::vector<ir::Value> inputs(cases_.program.slots.size());
          for (const ir::SlotId slot : one.in) {
            inputs[static_cast<size_t>(slot)] = RandomValue(types(), cases_.program[slot].type, {size, size / 2 + 1}, &seed);
          }
          const ir::Outcome wanted = oracle.RunBody(task.body, inputs);
          for (const auto& [cpu, copy] : copies) {
            Job job;
            job.row_padding = static_cast<uint64_t>((size + round) % 3);
            const ir::Outcome got = copy->Run(one.task, inputs, &job);
            const bool same = wanted.value && got.value ? ir::SameBits(types(), out, *wanted.value, *got.value)
                                                        : Describe(cases_.program, out, wanted) == Describe(cases_.program, out, got);
            ASSERT_TRUE(same) << one.name << " on " << cpu << ", size " << size << "\nwanted " << Describe(cases_.program, out, wanted)
                              << "\ngot    " << Describe(cases_.program, out, got);
          }
        }
      }
    }
  }
};

inline const std::vector<int64_t> kSizes = {0, 1, 7, 8, 15, 16, 17, 33, 100};

}  // namespace wf::lower::testing
