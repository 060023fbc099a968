// Many tasks that differ in their extents share a function, and each keeps its bits.

#include <algorithm>
#include <cstring>

#include "compiler/codegen/codegen.h"
#include "compiler/ir/verify.h"
#include "compiler/passes/passes.h"
#include "tests/unit/compiler/lower/body_fixture.h"

namespace wf::lower::testing {
namespace {

constexpr int64_t kFew = 31, kMany = 32;

class ExtentsTest : public BodyTest {
 protected:
  // A product of matrices, over `inner`.
  void AddProduct(int64_t rows, int64_t inner, int64_t columns) {
    AddBuild({Tensor(DType::kF32, {rows, inner}), Tensor(DType::kF32, {inner, columns})}, rows, inner, columns,
             [](Builder&, const In& in) { return in[1]; });
  }
  // The same with a matrix of the program's.
  void AddWeighted(int64_t rows, int64_t inner, int64_t columns) {
    std::vector<float> weights;
    for (int64_t i = 0; i < inner * columns; ++i) weights.push_back(0.37F * static_cast<float>((i + rows) % 23));
    std::string bytes(weights.size() * sizeof(float), 0);
    std::memcpy(bytes.data(), weights.data(), bytes.size());
    const size_t constant =
        ir::AddConstant(cases_.program, Tensor(DType::kF32, {inner, columns}), ir::Value::Tensor({inner, columns}, bytes));
    AddBuild({Tensor(DType::kF32, {rows, inner})}, rows, inner, columns,
             [constant](Builder& b, const In&) { return b.Constant(constant); });
  }
  // The elements of the first axis from a place on that only the run knows.
  void AddChecked(int64_t rows) {
    cases_.Add("checked", {Tensor(DType::kF32, {rows}), I64()}, Tensor(DType::kF32, {rows - 1}), [rows](Builder& b, const In& in) {
      const ir::BlockId each = b.Open({b.ScalarType(DType::kI64)});
      b.Close(b.Load(in[0], {b.CheckIndex(b.Add(b.Param(0), in[1]), b.I64(rows))}));
      return b.Build(DType::kF32, {b.I64(rows - 1)}, each);
    });
  }
  // Every `step`th element: how far apart they are makes the code.
  void AddStrided(int64_t step) {
    cases_.Add("strided", {Tensor(DType::kF32, {-1})}, Scalar(DType::kF32), [step](Builder& b, const In& in) {
      const ir::BlockId each = b.Open({b.ScalarType(DType::kI64)});
      b.Close(b.Load(in[0], {b.CheckIndex(b.Mul(b.Param(0), b.I64(step)), b.Dim(in[0], 0))}));
      return b.Reduce(ReduceKind::kSum, DType::kF32, b.I64(3), each);
    });
  }
  void Share() {
    passes::ShareExtents(cases_.program);
    ASSERT_EQ(ir::Verify(cases_.program), std::nullopt);
  }
  // Functions that do the work of tasks on narrow CPUs, once codegen has made equal ones one.
  size_t Bodies() const {
    llvm::LLVMContext context;
    const Options options{.target_cpu = "generic"};  // of another CPU's each would stand in its entry
    const auto module = Lower(cases_.program, context, options);
    llvm::SmallVector<char, 0> text;
    const base::Status status = codegen::EmitObject(*module, {.emit = codegen::Emit::kLlvm}, text);
    EXPECT_TRUE(status.ok()) << status.message();
    return static_cast<size_t>(std::count_if(module->begin(), module->end(), [](const llvm::Function& function) {
      return function.hasFnAttribute("wf-body") && !function.isDeclaration() && !function.getName().ends_with(".v4");
    }));
  }

 private:
  using Second = std::function<ValueId(Builder&, const In&)>;
  void AddBuild(const std::vector<TypeId>& in, int64_t rows, int64_t inner, int64_t columns, const Second& second) {
    const std::string name = std::to_string(rows) + " x " + std::to_string(inner) + " x " + std::to_string(columns);
    cases_.Add(name, in, Tensor(DType::kF32, {rows, columns}), [=](Builder& b, const In& given) {
      const ValueId right = second(b, given);
      const ir::BlockId each = b.Open({b.ScalarType(DType::kI64), b.ScalarType(DType::kI64)});
      const ValueId row = b.Param(0), column = b.Param(1);
      const ir::BlockId term = b.Open({b.ScalarType(DType::kI64)});
      b.Close(b.Mul(b.Load(given[0], {row, b.Param(0)}), b.Load(right, {b.Param(0), column})));
      b.Close(b.Reduce(ReduceKind::kSum, DType::kF32, b.I64(inner), term));
      return b.Build(DType::kF32, {b.I64(rows), b.I64(columns)}, each);
    });
  }
};

TEST_F(ExtentsTest, ManyProductsAreOneFunction) {
  for (int64_t i = 0; i < kMany; ++i) AddProduct(3 + i, 2, 40 + 2 * i);
  Share();
  EXPECT_EQ(Bodies(), 1);
  Check({1}, 3);
}

TEST_F(ExtentsTest, TheSumMayBeAsLongAsItLikes) {
  for (int64_t i = 0; i < kMany; ++i) AddProduct(2, 3 + i, 36 + i);
  Share();
  EXPECT_EQ(Bodies(), 1);
  Check({1}, 3);
}

TEST_F(ExtentsTest, MatricesOfTheProgramHaveTheirs) {
  for (int64_t i = 0; i < kMany; ++i) AddWeighted(2 + i % 5, 19, 20 + i);
  Share();
  EXPECT_EQ(Bodies(), 1);
  Check({1}, 3);
}

TEST_F(ExtentsTest, IndicesAreCheckedAgainstThem) {
  for (int64_t i = 0; i < kMany; ++i) AddChecked(3 + i);
  Share();
  EXPECT_EQ(Bodies(), 1);
  Check({1}, 3);
}

TEST_F(ExtentsTest, FewTasksKeepTheirs) {
  for (int64_t i = 0; i < kFew; ++i) AddProduct(3 + i, 2, 40 + 2 * i);
  Share();
  EXPECT_EQ(Bodies(), kFew);
}

TEST_F(ExtentsTest, ManyTasksOfFewShapesKeepTheirs) {
  for (int64_t i = 0; i < 2 * kMany; ++i) AddProduct(3 + i % 4, 20, 9);
  Share();
  EXPECT_EQ(Bodies(), 4);
  Check({1});
}

TEST_F(ExtentsTest, ThoseThatAreOneStay) {
  for (int64_t i = 0; i < kMany; ++i) AddProduct(3 + i, 40, i % 2 == 0 ? 1 : 2);
  Share();
  EXPECT_EQ(Bodies(), kMany);
}

TEST_F(ExtentsTest, StepsThroughMemoryStay) {
  for (int64_t i = 0; i < kMany; ++i) AddStrided(2 + i);
  Share();
  EXPECT_EQ(Bodies(), kMany);
}

}  // namespace
}  // namespace wf::lower::testing
