// Tasks that differ in float literals alone share a function, and each keeps its bits.

#include "compiler/lower/literals.h"

#include <algorithm>
#include <cstring>

#include "compiler/codegen/codegen.h"
#include "tests/unit/compiler/lower/body_fixture.h"

namespace wf::lower::testing {
namespace {

class LiteralsTest : public BodyTest {
 protected:
  // The sum of what `term` makes of each element and its literal.
  using Term = std::function<ValueId(Builder&, ValueId element, ValueId literal)>;
  void AddSum(DType dtype, double literal, const Term& term) {
    cases_.Add("with " + std::to_string(literal), {Tensor(dtype, {-1})}, Scalar(dtype), [dtype, literal, term](Builder& b, const In& in) {
      const ValueId value = dtype == DType::kF64 ? b.F64(literal) : b.F32(static_cast<float>(literal));
      const ir::BlockId block = b.Open({b.ScalarType(DType::kI64)});
      b.Close(term(b, b.Load(in[0], {b.Param(0)}), value));
      return b.Reduce(ReduceKind::kSum, dtype, b.Dim(in[0], 0), block);
    });
  }
  static ValueId Times(Builder& b, ValueId element, ValueId literal) { return b.Mul(element, literal); }
  static ValueId Over(Builder& b, ValueId element, ValueId literal) { return b.Binary(OpKind::kDiv, element, literal); }
  static ValueId OrMore(Builder& b, ValueId element, ValueId literal) { return b.Binary(OpKind::kMax, element, literal); }
  // Rows of the input times a matrix of the task's own.
  void AddWeighted(float first) {
    constexpr int64_t kRows = 5, kColumns = 19;
    std::vector<float> weights;
    for (int64_t i = 0; i < kRows * kColumns; ++i) weights.push_back(first + 0.37F * static_cast<float>(i % 23));
    std::string bytes(weights.size() * sizeof(float), 0);
    std::memcpy(bytes.data(), weights.data(), bytes.size());
    const size_t constant =
        ir::AddConstant(cases_.program, Tensor(DType::kF32, {kRows, kColumns}), ir::Value::Tensor({kRows, kColumns}, bytes));
    cases_.Add("weighted", {Tensor(DType::kF32, {-1})}, Tensor(DType::kF32, {-1, kColumns}), [constant](Builder& b, const In& in) {
      const ir::BlockId each = b.Open({b.ScalarType(DType::kI64), b.ScalarType(DType::kI64)});
      const ValueId row = b.Param(0), column = b.Param(1);
      const ir::BlockId term = b.Open({b.ScalarType(DType::kI64)});
      b.Close(b.Mul(b.Load(in[0], {row}), b.Load(b.Constant(constant), {b.Param(0), column})));
      b.Close(b.Reduce(ReduceKind::kSum, DType::kF32, b.I64(kRows), term));
      return b.Build(DType::kF32, {b.Dim(in[0], 0), b.I64(kColumns)}, each);
    });
  }
  // How many each task reads from its table.
  std::vector<int64_t> Read() const {
    std::vector<int64_t> counts;
    for (const TaskLiterals& task : FindLiterals(cases_.program)) counts.push_back(std::count(task.begin(), task.end(), true));
    return counts;
  }
  // Functions that do the work of tasks, once codegen has made equal ones one.
  size_t Bodies() const {
    llvm::LLVMContext context;
    const Options options{.target_cpu = "x86-64-v3"};
    const auto module = Lower(cases_.program, context, options);
    llvm::SmallVector<char, 0> text;
    const base::Status status = codegen::EmitObject(*module, {.emit = codegen::Emit::kLlvm}, text);
    EXPECT_TRUE(status.ok()) << status.message();
    return static_cast<size_t>(std::count_if(module->begin(), module->end(), [](const llvm::Function& function) {
      return function.hasFnAttribute("wf-body") && !function.isDeclaration();
    }));
  }
};

TEST_F(LiteralsTest, ThoseInWhichTasksDifferAreRead) {
  for (const double literal : {0.3, -0.7, 0.3, 1e30}) AddSum(DType::kF32, literal, Times);
  for (const double literal : {0.3, -0.7, 1e300}) AddSum(DType::kF64, literal, Times);
  for (const double literal : {3.0, 0.7}) AddSum(DType::kF32, literal, Over);
  EXPECT_EQ(Read(), (std::vector<int64_t>{1, 1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(Bodies(), 3);
  Check(kSizes, 2);
}

TEST_F(LiteralsTest, OnlyWhatDiffersIsRead) {
  for (const double literal : {0.3, 0.7}) {
    AddSum(DType::kF32, literal, [](Builder& b, ValueId element, ValueId value) { return b.Add(b.Mul(element, value), b.F32(0.25F)); });
  }
  EXPECT_EQ(Read(), (std::vector<int64_t>{1, 1}));
  Check(kSizes);
}

TEST_F(LiteralsTest, EqualTasksAndLoneOnesReadNone) {
  AddSum(DType::kF32, 0.3, Times);
  AddSum(DType::kF32, 0.3, Times);
  AddSum(DType::kF32, 0.3, Over);
  AddSum(DType::kF64, 0.7, Times);
  EXPECT_EQ(Read(), (std::vector<int64_t>{0, 0, 0, 0}));
}

TEST_F(LiteralsTest, ThoseThatMakeFasterCodeStay) {
  for (const double literal : {0.0, 1.0, -1.0}) AddSum(DType::kF32, literal, Times);
  for (const double literal : {0.5, 4.0, 0.125}) AddSum(DType::kF32, literal, Over);
  for (const double literal : {0.3, 0.7}) AddSum(DType::kF32, literal, OrMore);
  EXPECT_EQ(Read(), std::vector<int64_t>(8, 0));
  Check({0, 17});
}

TEST_F(LiteralsTest, ManyTasksReadTensorsOfTheirOwn) {
  for (int i = 0; i < 9; ++i) AddWeighted(static_cast<float>(i));
  EXPECT_EQ(Read(), std::vector<int64_t>(9, 1));
  EXPECT_EQ(Bodies(), 1);
  Check({0, 1, 17, 33});
}

TEST_F(LiteralsTest, TensorsOfFewTasksAreConstants) {
  for (int i = 0; i < 7; ++i) AddWeighted(static_cast<float>(i));
  EXPECT_EQ(Read(), std::vector<int64_t>(7, 0));
}

// A tile writes its term many times over, and each sum of it has its literal.
TEST_F(LiteralsTest, TilesReadThem) {
  for (const float literal : {0.3F, 0.7F}) {
    const TypeId matrix = Tensor(DType::kF32, {-1, -1});
    cases_.Add("product", {matrix, matrix}, matrix, [literal](Builder& b, const In& in) {
      const ValueId rows = b.Dim(in[0], 0), columns = b.Dim(in[1], 0);
      const ir::BlockId each = b.Open({b.ScalarType(DType::kI64), b.ScalarType(DType::kI64)});
      const ValueId row = b.Param(0), column = b.Param(1);
      const ir::BlockId term = b.Open({b.ScalarType(DType::kI64)});
      const ValueId product = b.Mul(b.Load(in[0], {row, b.Param(0)}), b.Load(in[1], {column, b.Param(0)}));
      b.Close(b.Mul(product, b.F32(literal)));
      b.Close(b.Reduce(ReduceKind::kSum, DType::kF32, b.Dim(in[0], 1), term));
      return b.Build(DType::kF32, {rows, columns}, each);
    });
  }
  EXPECT_EQ(Read(), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(Bodies(), 1);
  Check({1, 5, 17, 40});
}

}  // namespace
}  // namespace wf::lower::testing
