// Products of f64 by vectors.
#include <gtest/gtest.h>

#include <cmath>

#include "runtime/kernels/avx2.h"
#include "runtime/kernels/matmul/doubles.h"
#include "runtime/kernels/ref.h"
#include "runtime/kernels/unary/vector.h"
#include "tests/unit/runtime/kernels/cases.h"

namespace wf::kernels {
namespace {

using testing::Constant;
using testing::kInf;
using testing::kNan;
using testing::RunKernel;
using testing::Tensor;

using Dim = std::vector<int64_t>;

Tensor RandomDoubles(const Dim& dim, uint32_t seed) {
  Tensor tensor{{WF_F64, dim, nullptr, nullptr}, nullptr};
  tensor.data = Allocate(tensor.info.size_bytes());
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int64_t i = 0; i < tensor.info.count(); ++i) reinterpret_cast<double*>(tensor.data.get())[i] = uniform(random);
  return tensor;
}

struct Row {
  const char* name;
  MakeFn make;
};
std::vector<Row> Rows() {
  std::vector<Row> rows;
  if (avx512::HasDoubles()) rows.push_back({"avx512", avx512::MakeMatMul});
  if (avx2::Available()) rows.push_back({"avx2", avx2::MakeMatMul});
  return rows;
}

struct ProductCase {
  MatMul matmul;
  Dim a, b, c, out;
};

// Sums of k elements below 1 are within k times the last digit.
void ExpectNear(const std::vector<double>& is, const std::vector<double>& want) {
  ASSERT_EQ(is.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(std::isnan(is[i]), std::isnan(want[i])) << i;
    if (std::isnan(want[i]) || is[i] == want[i]) continue;  // infinities, too
    ASSERT_NEAR(is[i], want[i], 1e-12 * (1 + std::abs(want[i]))) << i;
  }
}

void ExpectAgree(const ProductCase& each, bool with_nan) {
  Tensor a = RandomDoubles(each.a, 1);
  auto* const elements = reinterpret_cast<double*>(a.data.get());
  for (int64_t i = 1; with_nan && i < a.info.count(); i += 1 + a.info.count() / 3) elements[i] = i % 2 == 0 ? kInf : kNan;
  std::vector<Tensor> in = {a, RandomDoubles(each.b, 2)};
  if (!each.c.empty()) in.push_back(RandomDoubles(each.c, 3));
  const auto want = RunKernel(ref::MakeMatMul, each.matmul, in, WF_F64, each.out).out.As<double>();
  for (const bool is_constant : {false, true}) {
    if (is_constant) in[1] = Constant(in[1]);
    std::vector<double> first;
    for (const Row& row : Rows()) {
      SCOPED_TRACE(std::string(row.name) + (is_constant ? " with a constant" : ""));
      const auto got = RunKernel(row.make, each.matmul, in, WF_F64, each.out);
      ASSERT_TRUE(got.made);
      const auto is = got.out.As<double>();
      ExpectNear(is, want);
      if (first.empty()) first = is;
      EXPECT_TRUE(with_nan || is == first) << "the same sums in the same order";
    }
  }
}

TEST(Doubles, MatricesOfEachSize) {
  for (const int64_t m : {1, 2, 3, 5, 8, 9, 17, 193, 211}) {
    for (const int64_t n : {1, 4, 7, 8, 12, 13, 24, 25, 40, 48, 61, 96}) {
      for (const int64_t k : {1, 6, 257}) {
        if (m * n * k > 2'000'000) continue;
        SCOPED_TRACE(std::to_string(m) + " " + std::to_string(k) + " " + std::to_string(n));
        ExpectAgree({{}, {m, k}, {k, n}, {}, {m, n}}, false);
        ExpectAgree({{true, true}, {k, m}, {n, k}, {}, {m, n}}, false);
      }
    }
  }
}

TEST(Doubles, EachForm) {
  for (const bool with_nan : {false, true}) {
    ExpectAgree({{false, true, 1, 1, {UnaryOp::kRelu}}, {5, 33}, {27, 33}, {27}, {5, 27}}, with_nan);
    ExpectAgree({{true, false, 0.5f, 2.0f, {UnaryOp::kTanh}}, {33, 5}, {33, 27}, {5, 1}, {5, 27}}, with_nan);
    ExpectAgree({{false, false, 1, -1.5f}, {3, 4}, {4, 5}, {3, 5}, {3, 5}}, with_nan);
    ExpectAgree({{false, false, 1, 1, {UnaryOp::kClip, -0.25f, 0.5f}}, {3, 4}, {4, 5}, {1}, {3, 5}}, with_nan);
    ExpectAgree({{}, {2, 3, 6, 8}, {2, 3, 8, 5}, {}, {2, 3, 6, 5}}, with_nan);
    ExpectAgree({{}, {4, 1, 6, 8}, {3, 8, 5}, {}, {4, 3, 6, 5}}, with_nan);
    ExpectAgree({{}, {2, 7, 9}, {9, 30}, {30}, {2, 7, 30}}, with_nan);
    ExpectAgree({{}, {6, 8}, {3, 8, 26}, {}, {3, 6, 26}}, with_nan);
    ExpectAgree({{}, {8}, {8, 60}, {}, {60}}, with_nan);
    ExpectAgree({{}, {3, 5, 8}, {8}, {}, {3, 5}}, with_nan);
    ExpectAgree({{}, {8}, {8}, {}, {}}, with_nan);
    ExpectAgree({{}, {8}, {3, 8, 5}, {}, {3, 5}}, with_nan);
  }
}

// Rows of a batch are computed with others or alone, by panels or not: each has the same bits.
TEST(Doubles, ARowDoesNotDependOnOthers) {
  constexpr int64_t kMost = 200, kDeep = 300, kColumns = 53;
  const Tensor a = RandomDoubles({kMost, kDeep}, 1), b = RandomDoubles({kDeep, kColumns}, 2);
  for (const Row& row : Rows()) {
    const auto all = RunKernel(row.make, MatMul{}, {a, Constant(b)}, WF_F64, {kMost, kColumns}).out.As<double>();
    for (const int64_t m : {1, 2, 3, 7, 12, 197}) {
      Tensor some = a;
      some.info.dim = {m, kDeep};
      for (const Tensor& right : {b, Constant(b)}) {
        const auto is = RunKernel(row.make, MatMul{}, {some, right}, WF_F64, {m, kColumns}).out.As<double>();
        EXPECT_TRUE(std::equal(is.begin(), is.end(), all.begin())) << row.name << " " << m;
      }
    }
  }
}

TEST(Doubles, WhatIsEmptyIsLeftToRef) {
  for (const Row& row : Rows()) {
    for (const auto& [a, b, out] : std::vector<std::array<Dim, 3>>{
             {Dim{3, 0}, Dim{0, 4}, Dim{3, 4}}, {Dim{0, 3}, Dim{3, 4}, Dim{0, 4}}, {Dim{2, 3}, Dim{3, 0}, Dim{2, 0}}}) {
      EXPECT_FALSE(RunKernel(row.make, MatMul{}, {RandomDoubles(a, 1), RandomDoubles(b, 2)}, WF_F64, out).made) << row.name;
    }
  }
  const auto none = RunKernel(nullptr, MatMul{}, {RandomDoubles({3, 0}, 1), RandomDoubles({0, 4}, 2)}, WF_F64, {3, 4});
  EXPECT_EQ(none.out.As<double>(), std::vector<double>(12, 0.0));
}

TEST(Doubles, TheFirstRowIsTakenThatTheCpuHas) {
  const Operation operation{MatMul{}, {RandomDoubles({3, 4}, 1).info, RandomDoubles({4, 5}, 2).info}, {{WF_F64, {3, 5}, nullptr, nullptr}}};
  EXPECT_EQ((*MakeKernel(operation))->impl, Rows().empty() ? "ref" : Rows()[0].name);
}

// What kernels of other contracts are made of.
TEST(Doubles, ProductsAreAddedInAnyOrder) {
  for (const auto& [m, n, k] : std::vector<std::array<int64_t, 3>>{{1, 1, 1}, {7, 29, 300}, {30, 64, 3}, {2, 50, 40}}) {
    const Tensor a = RandomDoubles({m, k}, 1), b = RandomDoubles({k, n + 3}, 2), c = RandomDoubles({m, n + 1}, 3);
    const auto* left = reinterpret_cast<const double*>(a.data.get());
    for (const Matrix<double>& each : {Matrix<double>{left, k, 1}, Matrix<double>{left, 1, m}}) {
      std::vector<double> is = c.As<double>(), want = is;
      Product<double> product{m, n, k, each, reinterpret_cast<const double*>(b.data.get()), n + 3, is.data(), n + 1};
      FastProduct(product);
      product.c = want.data();
      AddProduct(product);
      ExpectNear(is, want);
    }
  }
}

}  // namespace
}  // namespace wf::kernels
