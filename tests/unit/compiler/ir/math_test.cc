#include "compiler/ir/math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "compiler/ir/interpret.h"
#include "compiler/ir/scalar.h"

namespace wf::ir {
namespace {

// The expansion of one operation, run by the interpreter.
class Expanded {
 public:
  Expanded(OpKind kind, DType dtype) : interpreter_(program_), dtype_(dtype) {
    const TypeId type = program_.types.Scalar(dtype);
    program_.slots = {{.name = "x", .type = type}, {.name = "y", .type = type}};
    Builder builder(program_, body_);
    builder.Close(EmitMath(builder, kind, builder.Slot(SlotId{0}), builder.Slot(SlotId{1})));
  }
  double operator()(double x, double y = 0) {
    const Value slots[] = {Value::Scalar(Bits(x)), Value::Scalar(Bits(y))};
    const Outcome outcome = interpreter_.RunBody(body_, slots);
    return dtype_ == DType::kF32 ? F32Of(outcome.value->bits) : F64Of(outcome.value->bits);
  }

 private:
  uint64_t Bits(double x) const { return dtype_ == DType::kF32 ? F32Bits(static_cast<float>(x)) : F64Bits(x); }
  Program program_;
  Body body_;
  Interpreter interpreter_;
  DType dtype_;
};

// Distance in units of the last place of the true value; 0 where both are NaN or equal.
double UlpsF32(double value, long double truth) {
  if (std::isnan(value) && std::isnan(truth)) return 0;
  const auto rounded = static_cast<float>(truth);
  if (static_cast<float>(value) == rounded) return 0;
  if (std::isinf(rounded) || std::isinf(value) || std::isnan(value)) return 1e9;
  const float ulp = std::max(std::nextafter(std::fabs(rounded), INFINITY) - std::fabs(rounded), 0x1p-149f);
  return static_cast<double>(std::fabs(value - truth) / ulp);
}
double UlpsF64(double value, long double truth) {
  if (std::isnan(value) && std::isnan(truth)) return 0;
  const auto rounded = static_cast<double>(truth);
  if (value == rounded) return 0;
  if (std::isinf(rounded) || std::isinf(value) || std::isnan(value)) return 1e9;
  const double ulp = std::max(std::nextafter(std::fabs(rounded), INFINITY) - std::fabs(rounded), 0x1p-1074);
  return static_cast<double>(std::fabs(value - truth) / ulp);
}

struct Case {
  OpKind kind;
  const char* name;
  long double (*truth)(long double);
  double low, high;  // sampled evenly, and by exponent
};
const Case kCases[] = {{OpKind::kExp, "exp", std::exp, -110, 95},   {OpKind::kLog, "log", std::log, 0, 1000},
                       {OpKind::kTanh, "tanh", std::tanh, -12, 12}, {OpKind::kErf, "erf", std::erf, -7, 7},
                       {OpKind::kSin, "sin", std::sin, -400, 400},  {OpKind::kCos, "cos", std::cos, -400, 400}};
const double kSpecials[] = {0.0,   -0.0,     1,         -1,  0x1p-149, 0x1p-126, 0x1p-1074, 0x1p-1022,
                            1e-30, INFINITY, -INFINITY, NAN, 88.7,     -103.9,   709.7,     -745.1};

TEST(Math, F32StaysWithinTheStatedUlps) {
  std::mt19937_64 random(1);
  for (const Case& c : kCases) {
    Expanded expanded(c.kind, DType::kF32);
    double worst = 0, worst_at = 0;
    std::uniform_real_distribution<double> even(c.low, c.high), exponent(-30, std::log2(c.high));
    for (int i = 0; i < 3000; ++i) {
      double x = static_cast<float>(i % 2 ? even(random) : std::exp2(exponent(random)));
      const double ulps = UlpsF32(expanded(x), c.truth(x));
      if (ulps > worst) worst = ulps, worst_at = x;
    }
    EXPECT_LE(worst, c.kind == OpKind::kErf ? 3.0 : 2.0) << c.name << "(" << worst_at << ")";
    RecordProperty(c.name, std::to_string(worst));
  }
}

TEST(Math, F64StaysWithinFourUlps) {
  std::mt19937_64 random(2);
  for (const Case& c : kCases) {
    Expanded expanded(c.kind, DType::kF64);
    double worst = 0, worst_at = 0;
    std::uniform_real_distribution<double> even(c.low * (c.kind == OpKind::kExp ? 6.7 : 1), c.high * (c.kind == OpKind::kExp ? 7.4 : 1));
    std::uniform_real_distribution<double> exponent(-300, std::log2(c.high));
    for (int i = 0; i < 3000; ++i) {
      const double x = i % 2 ? even(random) : std::exp2(exponent(random));
      const double ulps = UlpsF64(expanded(x), c.truth(x));
      if (ulps > worst) worst = ulps, worst_at = x;
    }
    EXPECT_LE(worst, 4.0) << c.name << "(" << worst_at << ")";
    RecordProperty(c.name, std::to_string(worst));
  }
}

// glibc's reduction of a long double is exact.
TEST(Math, SinAndCosHoldForEveryFiniteNumber) {
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> to_f32(1, 128), to_f64(1, 1024);
  for (const Case& c : kCases) {
    if (c.kind != OpKind::kSin && c.kind != OpKind::kCos) continue;
    Expanded f32(c.kind, DType::kF32), f64(c.kind, DType::kF64);
    // The last of each: of all numbers of the type, nearest to a multiple of pi/2.
    std::vector<double> narrow{0x1p30, 0x1p31, 1e15F, 3e38F, 0x1.f37c8ap+95},
        wide{0x1p30, 0x1p53, 1e15, 1e22, 0x1.fffffffffffffp1023, 0x1.6ac5b262ca1ffp849};
    for (int i = 0; i < 2000; ++i) {
      narrow.push_back(static_cast<float>(std::exp2(to_f32(random))));
      wide.push_back(std::exp2(to_f64(random)));
    }
    for (const double x : narrow) EXPECT_LE(UlpsF32(f32(x), c.truth(x)), 2) << c.name << "(" << x << ")";
    for (const double x : narrow) EXPECT_LE(UlpsF32(f32(-x), c.truth(-x)), 2) << c.name << "(" << -x << ")";
    for (const double x : wide) EXPECT_LE(UlpsF64(f64(x), c.truth(x)), 4) << c.name << "(" << x << ")";
    for (const double x : wide) EXPECT_LE(UlpsF64(f64(-x), c.truth(-x)), 4) << c.name << "(" << -x << ")";
  }
}

TEST(Math, SpecialValuesAreThoseOfC) {
  for (const Case& c : kCases) {
    Expanded f32(c.kind, DType::kF32), f64(c.kind, DType::kF64);
    for (const double x : kSpecials) {
      const auto narrow = static_cast<float>(x);
      EXPECT_LE(UlpsF32(f32(narrow), c.truth(narrow)), 2) << c.name << "(" << narrow << ")";
      EXPECT_LE(UlpsF64(f64(x), c.truth(x)), 4) << c.name << "(" << x << ")";
      if (x == 0 && c.kind != OpKind::kLog) {
        EXPECT_EQ(std::signbit(f32(x)), std::signbit(c.truth(x))) << c.name << "(" << x << ")";
      }
    }
  }
}

TEST(Math, PowFollowsC) {
  Expanded f32(OpKind::kPow, DType::kF32), f64(OpKind::kPow, DType::kF64);
  const double values[] = {0.0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 3, -3, 2.5, -2.5, 1e30, -1e30, INFINITY, -INFINITY, NAN, 1e-40, 7, 0.999};
  for (const double x : values) {
    for (const double y : values) {
      const auto nx = static_cast<float>(x), ny = static_cast<float>(y);
      EXPECT_LE(UlpsF32(f32(nx, ny), std::pow(static_cast<long double>(nx), static_cast<long double>(ny))), 1.01) << nx << "^" << ny;
      EXPECT_LE(UlpsF64(f64(x, y), std::pow(static_cast<long double>(x), static_cast<long double>(y))), 16) << x << "^" << y;
      if (f64(x, y) == 0) {
        EXPECT_EQ(std::signbit(f64(x, y)), std::signbit(std::pow(x, y))) << x << "^" << y;
      }
    }
  }
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> exponent(-8, 8), power(-80, 80);
  double worst = 0;
  for (int i = 0; i < 3000; ++i) {
    const double x = std::exp2(exponent(random)), y = power(random);
    worst = std::max(worst, UlpsF64(f64(x, y), std::pow(static_cast<long double>(x), static_cast<long double>(y))));
  }
  EXPECT_LE(worst, 16);
}

}  // namespace
}  // namespace wf::ir
