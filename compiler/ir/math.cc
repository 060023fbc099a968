#include "compiler/ir/math.h"

#include <cmath>
#include <initializer_list>
#include <span>
#include <vector>

#include "compiler/ir/scalar.h"
#include "runtime/base/check.h"

namespace wf::ir {
namespace {

// Interpolations in Chebyshev nodes, computed with 60 digits; lowest power first. Those of f32 are rounded to f32.
// (e^r - 1 - r) / r^2 over r in [-ln2/2, ln2/2]
constexpr double kExpF32[] = {0x1.0p-1, 0x1.5554dcp-3, 0x1.555518p-5, 0x1.120be2p-7, 0x1.6d117cp-10};
constexpr double kExpF64[] = {0x1.0p-1,
                              0x1.5555555555557p-3,
                              0x1.5555555555556p-5,
                              0x1.11111111100bep-7,
                              0x1.6c16c16c162c3p-10,
                              0x1.a01a01abf85abp-13,
                              0x1.a01a01a6e1e2ap-16,
                              0x1.71de01fdbf9cap-19,
                              0x1.27e4db46cddd1p-22,
                              0x1.af4e554377204p-26,
                              0x1.1f7340dbc337ep-29};
// (log((1+s)/(1-s)) - 2s) / s^3 over z = s^2 in [0, 0.0296]
constexpr double kLogF32[] = {0x1.55555cp-1, 0x1.997bdcp-2, 0x1.2ef516p-2};
constexpr double kLogF64[] = {0x1.5555555555555p-1, 0x1.9999999999a3ep-2, 0x1.2492492475dbcp-2, 0x1.c71c720302bd8p-3,
                              0x1.745cf85360411p-3, 0x1.3b1c5ae500a38p-3, 0x1.0fbaab3c72fc6p-3, 0x1.0c2c748b6f13cp-3};
// (sin r - r) / r^3 over z = r^2, r in [-pi/4, pi/4]
constexpr double kSinF32[] = {-0x1.555556p-3, 0x1.11110ep-7, -0x1.a013a2p-13, 0x1.6dbbeep-19};
constexpr double kSinF64[] = {-0x1.5555555555555p-3,  0x1.111111111111p-7,   -0x1.a01a01a019926p-13, 0x1.71de3a545e7p-19,
                              -0x1.ae64540f0ba18p-26, 0x1.61217c1864fa1p-33, -0x1.ab161757f0c63p-41};
// (cos r - 1 + z/2) / z^2 over z = r^2, r in [-pi/4, pi/4]
constexpr double kCosF32[] = {0x1.555556p-5, -0x1.6c16cp-10, 0x1.a015cp-16, -0x1.2522e6p-22};
constexpr double kCosF64[] = {0x1.5555555555555p-5,  -0x1.6c16c16c16c16p-10, 0x1.a01a01a019d02p-16, -0x1.27e4fb7711e1dp-22,
                              0x1.1eed8de9ef73ep-29, -0x1.9394b76d1f265p-37, 0x1.ab76cf6e9b365p-45};
// erf(x) / x over z = x^2 in [0, 1.5626]
constexpr double kErfSmallF32[] = {0x1.20dd76p+0,   -0x1.812746p-2, 0x1.ce2f1p-4,    -0x1.b82b0cp-6, 0x1.564334p-8,
                                   -0x1.beb994p-11, 0x1.ec8a58p-14, -0x1.ae3002p-17, 0x1.bdf014p-21};
constexpr double kErfSmallF64[] = {0x1.20dd750429b6dp+0,  -0x1.812746b0379e7p-2,  0x1.ce2f21a042be2p-4,  -0x1.b82ce31288b51p-6,
                                   0x1.565bcd0e6a53cp-8,  -0x1.c02db40040ac3p-11, 0x1.f9a326f9b6646p-14, -0x1.f4d25c3dc41ebp-17,
                                   0x1.b9e6c9d5c1db4p-20, -0x1.5f742e5007a4ap-23, 0x1.fcc5660a398f8p-27, -0x1.51d69fe5d3e0dp-30,
                                   0x1.9e63aa91e1d07p-34, -0x1.d7f26889493fbp-38, 0x1.f3b9923b7ce4ep-42, -0x1.e3efc8b619beap-46,
                                   0x1.8a8c039738782p-50, -0x1.92722c4084f47p-55};
// -log(1 - erf x) over x in [1.25, 4], of f64 [1.25, 6], mapped to t in [-1, 1]
constexpr double kErfLargeF32[] = {0x1.0fb39p+3,   0x1.ebd84cp+2,   0x1.cab88cp+0,  0x1.a3077ap-6,  -0x1.c1a9bep-8,
                                   0x1.d8fb86p-10, -0x1.d8b7bep-12, 0x1.b283f6p-14, -0x1.4b3ffp-16, 0x1.22a3cap-19};
constexpr double kErfLargeF64[] = {
    0x1.e12566437a3dap+3,   0x1.1d4e1414141b2p+4,   0x1.5dad3d2ade13cp+2,   0x1.07fbf64265abap-4,   -0x1.9a4b8d3b3209cp-6,
    0x1.4271af94e0959p-7,   -0x1.f34f04eb43cep-9,   0x1.75fddbac77eb5p-10,  -0x1.0a0cd76f7cbe7p-11, 0x1.5e2aef309c45cp-13,
    -0x1.9504e09e80324p-15, 0x1.633549768147p-17,   -0x1.d632cb9eb2621p-22, -0x1.685eb2139dfe7p-20, 0x1.2340ef94f35d9p-20,
    -0x1.44c53766cb1ccp-21, 0x1.2e8c312189009p-22,  -0x1.ea1705a649346p-24, 0x1.57a36d1f4b798p-25,  -0x1.9311c81c2c853p-27,
    0x1.15f7f018533c4p-29,  0x1.0e208195c027bp-30,  -0x1.0e19b6c6e8f8ep-30, 0x1.c2479ee9b9006p-33,  -0x1.c5b6152cc80d2p-34,
    0x1.119a81b538228p-32,  -0x1.ff67e77d5a18bp-34, -0x1.172b97ad8cfd5p-36, 0x1.001d47da61a0cp-36};

constexpr double kInverseLn2 = 0x1.71547652b82fep+0, kTwoOverPi = 0x1.45f306dc9c883p-1;
constexpr double kHalfPi[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110};  // their sum, in falling order
// 2/pi behind the point, 32 bits each: what the largest f64 needs.
constexpr uint32_t kTwoOverPiBits[] = {0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
                                       0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
                                       0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
                                       0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
                                       0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab};
constexpr double kInfinity = __builtin_inf(), kNan = __builtin_nan("");

// Emits over one float type.
class Math {
 public:
  Math(Builder& builder, DType dtype) : b_(builder), dtype_(dtype), is_f32_(dtype == DType::kF32) {}

  ValueId Exp(ValueId x) {
    const Reduced reduced = ReduceByLn2(Clamp(x, is_f32_ ? -104 : -746, is_f32_ ? 89 : 710), ValueId::kNone);
    return ScaleTwice(b_.Add(K(1), ExpMinusOne(reduced.r)), reduced.n);
  }

  ValueId Log(ValueId x) {
    const Parts parts = Split(x);
    const ValueId s = b_.Binary(OpKind::kDiv, parts.f, b_.Add(K(2), parts.f)), z = b_.Mul(s, s);
    const ValueId rest = b_.Mul(z, is_f32_ ? Polynomial(kLogF32, z) : Polynomial(kLogF64, z));
    const ValueId half_square = b_.Mul(b_.Mul(K(0.5), parts.f), parts.f);
    const ValueId low = b_.Fma(s, b_.Add(half_square, rest), b_.Mul(parts.k, Ln2Low()));
    const ValueId value = b_.Sub(b_.Mul(parts.k, Ln2High()), b_.Sub(b_.Sub(half_square, low), parts.f));
    return LogSpecials(x, value);
  }

  // Through e^2x - 1, which keeps its digits near 0.
  ValueId Tanh(ValueId x) {
    const ValueId a = b_.Unary(OpKind::kAbs, x);
    const Reduced reduced = ReduceByLn2(b_.Binary(OpKind::kMin, b_.Add(a, a), K(is_f32_ ? 22 : 44)), ValueId::kNone);
    const ValueId scale = PowerOfTwo(reduced.n);
    const ValueId e = b_.Fma(scale, ExpMinusOne(reduced.r), b_.Sub(scale, K(1)));
    return WithSignOf(b_.Binary(OpKind::kDiv, e, b_.Add(e, K(2))), x);
  }

  ValueId Erf(ValueId x) {
    const double low = 1.25, high = is_f32_ ? 4 : 6;
    const ValueId a = b_.Unary(OpKind::kAbs, x), z = b_.Mul(a, a);
    const ValueId small = b_.Mul(a, is_f32_ ? Polynomial(kErfSmallF32, z) : Polynomial(kErfSmallF64, z));
    const ValueId clamped = b_.Binary(OpKind::kMin, a, K(high));
    const ValueId t = b_.Fma(clamped, K(2 / (high - low)), K(-(low + high) / (high - low)));
    const ValueId exponent = is_f32_ ? Polynomial(kErfLargeF32, t) : Polynomial(kErfLargeF64, t);
    const ValueId large = b_.Sub(K(1), Exp(b_.Unary(OpKind::kNeg, exponent)));
    return WithSignOf(b_.Select(b_.Binary(OpKind::kLt, a, K(low)), small, large), x);
  }

  // The reduction by multiples of pi/2 is done in f64 for both types.
  ValueId SinCos(ValueId x, bool is_cos) {
    Math wide(b_, DType::kF64);
    const ValueId x64 = b_.Convert(x, DType::kF64), a = b_.Unary(OpKind::kAbs, x64);
    const ValueId is_large =
        b_.Binary(OpKind::kAnd, b_.Binary(OpKind::kLe, wide.K(0x1p30), a), b_.Binary(OpKind::kLt, a, wide.K(kInfinity)));
    const Angle near_zero = wide.ReduceByHalfPi(x64), far = wide.ReduceLarge(x64, is_f32_);
    const ValueId r = b_.Convert(b_.Select(is_large, far.r, near_zero.r), dtype_), z = b_.Mul(r, r);
    const ValueId sin = b_.Fma(b_.Mul(r, z), is_f32_ ? Polynomial(kSinF32, z) : Polynomial(kSinF64, z), r);
    const ValueId half = b_.Mul(K(0.5), z), near = b_.Sub(K(1), half);
    const ValueId rest = b_.Mul(b_.Mul(z, z), is_f32_ ? Polynomial(kCosF32, z) : Polynomial(kCosF64, z));
    const ValueId cos = b_.Add(near, b_.Add(b_.Sub(b_.Sub(K(1), near), half), rest));
    const ValueId shifted = b_.Select(is_large, far.shifted, near_zero.shifted);
    const ValueId quadrant = b_.Add(b_.Bitcast(shifted, DType::kI64), b_.I64(is_cos ? 1 : 0));
    const auto bit = [&](int64_t mask) { return HasBit(quadrant, mask); };
    ValueId y = b_.Select(bit(1), cos, sin);
    y = b_.Select(bit(2), b_.Unary(OpKind::kNeg, y), y);
    return is_cos ? y : b_.Select(b_.Binary(OpKind::kEq, x, K(0)), x, y);  // keeps -0
  }

  // f32: exp(y log x) in f64. f64: the logarithm in two parts, since the exponential multiplies its error by up to 745.
  ValueId Pow(ValueId x, ValueId y) {
    if (is_f32_) {
      Math wide(b_, DType::kF64);
      return b_.Convert(wide.PowCases(b_.Convert(x, DType::kF64), b_.Convert(y, DType::kF64), false), DType::kF32);
    }
    return PowCases(x, y, true);
  }

 private:
  struct Reduced {
    ValueId n, r;
  };  // x = n ln2 + r; n: integer bits
  struct Parts {
    ValueId f, k;
  };  // x = (1 + f) 2^k, 1 + f in [sqrt 1/2, sqrt 2]; k as float
  struct Angle {
    ValueId shifted, r;
  };  // x = n pi/2 + r; shifted: n + Magic, of which the low bits are the quadrant
  struct Sum {
    ValueId value, lost;
  };  // value + lost is the sum without error

  ValueId K(double value) { return is_f32_ ? b_.F32(static_cast<float>(value)) : b_.F64(value); }
  ValueId Integer(int64_t value) { return b_.Scalar(IntegerType(), MaskTo(IntegerType(), static_cast<uint64_t>(value))); }
  DType IntegerType() const { return is_f32_ ? DType::kI32 : DType::kI64; }
  int MantissaBits() const { return is_f32_ ? 23 : 52; }
  double Magic() const { return is_f32_ ? 0x1.8p23 : 0x1.8p52; }  // x + Magic rounds x to an integer, which is then in the low bits
  ValueId Ln2High() { return K(is_f32_ ? 0x1.62e4p-1 : 0x1.62e42fefa38p-1); }
  ValueId Ln2Low() { return K(is_f32_ ? 0x1.7f7d1cf79abcap-20 : 0x1.ef35793c7673p-45); }
  ValueId Clamp(ValueId x, double low, double high) { return b_.Binary(OpKind::kMax, b_.Binary(OpKind::kMin, x, K(high)), K(low)); }

  ValueId Polynomial(std::span<const double> coefficients, ValueId x) {
    ValueId sum = K(coefficients.back());
    for (size_t i = coefficients.size() - 1; i-- > 0;) sum = b_.Fma(sum, x, K(coefficients[i]));
    return sum;
  }

  Reduced ReduceByLn2(ValueId x, ValueId low) {
    const ValueId shifted = b_.Fma(x, K(kInverseLn2), K(Magic())), n = b_.Sub(shifted, K(Magic()));
    const ValueId bits = b_.Sub(b_.Bitcast(shifted, IntegerType()), b_.Bitcast(K(Magic()), IntegerType()));
    ValueId r = b_.Fma(n, b_.Unary(OpKind::kNeg, Ln2High()), x);
    r = b_.Fma(n, b_.Unary(OpKind::kNeg, Ln2Low()), r);
    return {bits, low == ValueId::kNone ? r : b_.Add(r, low)};
  }

  ValueId HasBit(ValueId bits, int64_t mask) { return b_.Binary(OpKind::kNe, b_.Binary(OpKind::kBitAnd, bits, b_.I64(mask)), b_.I64(0)); }

  Sum AddExactly(ValueId a, ValueId b) {  // whichever is larger
    const ValueId sum = b_.Add(a, b), rest = b_.Sub(sum, a);
    return {sum, b_.Add(b_.Sub(a, b_.Sub(sum, rest)), b_.Sub(b, rest))};
  }

  // The terms added to `sum.value` one by one, their errors to `sum.lost`.
  Sum AddAll(Sum sum, std::initializer_list<ValueId> terms) {
    for (const ValueId term : terms) {
      const Sum next = AddExactly(sum.value, term);
      sum = {next.value, b_.Add(sum.lost, next.lost)};
    }
    return sum;
  }

  // f64, |x| up to 2^30.
  Angle ReduceByHalfPi(ValueId x) {
    const ValueId shifted = b_.Fma(x, K(kTwoOverPi), K(Magic())), n = b_.Sub(shifted, K(Magic()));
    ValueId r = x;
    for (const double part : kHalfPi) r = b_.Fma(n, K(-part), r);
    return {shifted, r};
  }

  // `count` pieces of 2/pi from piece `skipped` on, chosen bit by bit of `skipped`, which is under 2^bits.
  std::vector<ValueId> TwoOverPiFrom(ValueId skipped, int bits, size_t count) {
    std::vector<ValueId> pieces;
    for (size_t i = 0; i + 1 < count + (size_t{1} << bits); ++i) pieces.push_back(K(kTwoOverPiBits[i]));
    for (int bit = bits; bit-- > 0;) {
      const size_t step = size_t{1} << bit;
      const ValueId is_set = HasBit(skipped, static_cast<int64_t>(step));
      for (size_t i = 0; i + step < pieces.size(); ++i) pieces[i] = b_.Select(is_set, pieces[i + step], pieces[i]);
      pieces.resize(pieces.size() - step);
    }
    return pieces;
  }

  // f64, |x| from 2^30 on, after Payne and Hanek: the bits of 2/pi whose product with x is a multiple of 4 are left out, and so many are
  // taken that the rest is exact to more than 53 bits even for the x that lie nearest to multiples of pi/2.
  Angle ReduceLarge(ValueId x, bool was_f32) {
    constexpr int kPieceBits = 32, kWholeBits = 54;  // x >= 2^54 is a multiple of 4
    const ValueId bits = b_.Bitcast(x, DType::kI64);
    const ValueId exponent = b_.Binary(OpKind::kBitAnd, b_.Binary(OpKind::kShr, bits, b_.I64(52)), b_.I64(0x7ff));
    const ValueId beyond = b_.Binary(OpKind::kShr, b_.Sub(exponent, b_.I64(1023 + kWholeBits)), b_.I64(5));
    const ValueId skipped = b_.Binary(OpKind::kMax, beyond, b_.I64(0));
    const ValueId y = b_.Bitcast(b_.Sub(bits, b_.Binary(OpKind::kShl, skipped, b_.I64(52 + 5))), DType::kF64);  // |y| < 2^86
    const std::vector<ValueId> pieces = was_f32 ? TwoOverPiFrom(skipped, 2, 5) : TwoOverPiFrom(skipped, 5, 7);
    std::vector<ValueId> product, lost;  // y times each piece, falling by 2^32
    for (size_t i = 0; i < pieces.size(); ++i) {
      const ValueId scaled = b_.Mul(y, K(std::ldexp(1.0, -kPieceBits * static_cast<int>(i + 1))));
      product.push_back(b_.Mul(scaled, pieces[i]));
      lost.push_back(b_.Fma(scaled, pieces[i], b_.Unary(OpKind::kNeg, product[i])));
    }
    const auto mod4 = [&](ValueId v) { return b_.Fma(b_.Unary(OpKind::kRint, b_.Mul(v, K(0.25))), K(-4), v); };
    const Sum turns = AddAll({mod4(product[0]), K(0)}, {mod4(lost[0]), mod4(product[1]), lost[1], mod4(product[2])});
    const ValueId n = b_.Unary(OpKind::kRint, turns.value);
    // In falling order: what is lost of a sum is then small beside what is left.
    const Sum rest = AddAll({b_.Sub(turns.value, n), K(0)}, {product[3], lost[2], product[4], turns.lost});
    ValueId tail = lost[3];
    if (!was_f32) tail = b_.Add(tail, b_.Add(product[5], b_.Add(lost[4], product[6])));
    const Sum f = AddExactly(rest.value, b_.Add(rest.lost, tail));
    const ValueId r = b_.Fma(f.value, K(kHalfPi[0]), b_.Fma(f.value, K(kHalfPi[1]), b_.Mul(f.lost, K(kHalfPi[0]))));
    return {b_.Add(n, K(Magic())), r};
  }

  ValueId ExpMinusOne(ValueId r) { return b_.Fma(b_.Mul(r, r), is_f32_ ? Polynomial(kExpF32, r) : Polynomial(kExpF64, r), r); }

  ValueId PowerOfTwo(ValueId n) {  // n within the normal exponents
    const ValueId biased = b_.Add(n, Integer(is_f32_ ? 127 : 1023));
    return b_.Bitcast(b_.Binary(OpKind::kShl, biased, Integer(MantissaBits())), dtype_);
  }

  ValueId ScaleTwice(ValueId value, ValueId n) {  // by 2^n in two steps, so that denormals and overflow round once
    const ValueId first = b_.Binary(OpKind::kShr, n, Integer(1));
    return b_.Mul(b_.Mul(value, PowerOfTwo(first)), PowerOfTwo(b_.Sub(n, first)));
  }

  Parts Split(ValueId x) {
    const ValueId is_tiny = b_.Binary(OpKind::kLt, x, K(is_f32_ ? 0x1p-126 : 0x1p-1022));
    const ValueId bits = b_.Bitcast(b_.Select(is_tiny, b_.Mul(x, K(is_f32_ ? 0x1p23 : 0x1p54)), x), IntegerType());
    const int64_t root_half = is_f32_ ? 0x3f3504f3 : 0x3fe6a09e667f3bcd;
    const ValueId e = b_.Binary(OpKind::kShr, b_.Sub(bits, Integer(root_half)), Integer(MantissaBits()));
    const ValueId m = b_.Bitcast(b_.Sub(bits, b_.Binary(OpKind::kShl, e, Integer(MantissaBits()))), dtype_);
    const ValueId k = b_.Add(e, b_.Select(is_tiny, Integer(is_f32_ ? -23 : -54), Integer(0)));
    return {b_.Sub(m, K(1)), b_.Convert(k, dtype_)};
  }

  ValueId LogSpecials(ValueId x, ValueId value) {
    value = b_.Select(b_.Binary(OpKind::kLt, x, K(kInfinity)), value, x);  // inf and NaN
    value = b_.Select(b_.Binary(OpKind::kLt, x, K(0)), K(kNan), value);
    return b_.Select(b_.Binary(OpKind::kEq, x, K(0)), K(-kInfinity), value);
  }

  ValueId WithSignOf(ValueId magnitude, ValueId x) {
    const ValueId mask = Integer(is_f32_ ? INT32_MIN : INT64_MIN);
    const ValueId sign = b_.Binary(OpKind::kBitAnd, b_.Bitcast(x, IntegerType()), mask);
    return b_.Bitcast(b_.Binary(OpKind::kBitOr, b_.Bitcast(magnitude, IntegerType()), sign), dtype_);
  }

  // log a = high + low, a positive and finite.
  Reduced LogInTwoParts(ValueId a) {
    const Parts parts = Split(a);
    const ValueId sum = b_.Add(K(2), parts.f), sum_low = b_.Sub(parts.f, b_.Sub(sum, K(2)));
    const ValueId s = b_.Binary(OpKind::kDiv, parts.f, sum), z = b_.Mul(s, s);
    const ValueId remainder = b_.Sub(b_.Fma(b_.Unary(OpKind::kNeg, s), sum, parts.f), b_.Mul(s, sum_low));
    const ValueId s_low = b_.Binary(OpKind::kDiv, remainder, sum);
    const ValueId tail = b_.Fma(b_.Mul(s, z), Polynomial(kLogF64, z), b_.Add(s_low, s_low));
    const ValueId k_high = b_.Mul(parts.k, Ln2High()), s_twice = b_.Add(s, s);
    const Sum high = AddExactly(k_high, s_twice);
    const ValueId low = b_.Add(b_.Fma(parts.k, Ln2Low(), tail), high.lost);
    const ValueId total = b_.Add(high.value, low);
    return {b_.Add(b_.Sub(high.value, total), low), total};
  }

  ValueId PowMagnitude(ValueId a, ValueId y, bool precise) {
    if (!precise) return Exp(b_.Mul(y, Log(a)));
    const Reduced log = LogInTwoParts(a);  // r: high, n: low
    const ValueId product = b_.Mul(y, log.r);
    const ValueId low = b_.Fma(y, log.n, b_.Fma(y, log.r, b_.Unary(OpKind::kNeg, product)));
    const ValueId is_small = b_.Binary(OpKind::kLt, b_.Unary(OpKind::kAbs, product), K(800));
    const Reduced reduced = ReduceByLn2(Clamp(product, -746, 710), b_.Select(is_small, low, K(0)));
    return ScaleTwice(b_.Add(K(1), ExpMinusOne(reduced.r)), reduced.n);
  }

  ValueId PowCases(ValueId x, ValueId y, bool precise) {
    const auto eq = [&](ValueId a, ValueId b) { return b_.Binary(OpKind::kEq, a, b); };
    const auto lt = [&](ValueId a, ValueId b) { return b_.Binary(OpKind::kLt, a, b); };
    const ValueId zero = K(0), one = K(1), infinity = K(kInfinity), a = b_.Unary(OpKind::kAbs, x);
    const ValueId falls = lt(y, zero), half = b_.Mul(y, K(0.5));
    const ValueId is_integer = eq(b_.Unary(OpKind::kRint, y), y);
    const ValueId is_odd = b_.Binary(OpKind::kAnd, is_integer, b_.Not(eq(b_.Unary(OpKind::kRint, half), half)));
    ValueId value = PowMagnitude(a, y, precise);
    value = b_.Select(eq(a, zero), b_.Select(falls, infinity, zero), value);
    value = b_.Select(eq(a, infinity), b_.Select(falls, zero, infinity), value);
    const ValueId to_infinity = eq(lt(a, one), falls);
    const ValueId limit = b_.Select(eq(a, one), one, b_.Select(to_infinity, infinity, zero));
    value = b_.Select(eq(b_.Unary(OpKind::kAbs, y), infinity), limit, value);
    const ValueId is_negative = b_.Binary(OpKind::kLt, b_.Bitcast(x, DType::kI64), b_.I64(0));
    value = b_.Select(b_.Binary(OpKind::kAnd, is_negative, is_odd), b_.Unary(OpKind::kNeg, value), value);
    const ValueId is_finite_negative = b_.Binary(OpKind::kAnd, lt(x, zero), lt(a, infinity));
    value = b_.Select(b_.Binary(OpKind::kAnd, is_finite_negative, b_.Not(is_integer)), K(kNan), value);
    const ValueId sum = b_.Add(x, y);
    const ValueId is_nan = b_.Binary(OpKind::kOr, b_.Not(eq(x, x)), b_.Not(eq(y, y)));
    value = b_.Select(is_nan, sum, value);
    return b_.Select(b_.Binary(OpKind::kOr, eq(y, zero), eq(x, one)), one, value);
  }

  Builder& b_;
  DType dtype_;
  bool is_f32_;
};

}  // namespace

ValueId EmitMath(Builder& builder, OpKind kind, ValueId x, ValueId y) {
  Math math(builder, builder.DTypeOf(x));
  switch (kind) {
    case OpKind::kExp:
      return math.Exp(x);
    case OpKind::kLog:
      return math.Log(x);
    case OpKind::kTanh:
      return math.Tanh(x);
    case OpKind::kErf:
      return math.Erf(x);
    case OpKind::kSin:
      return math.SinCos(x, false);
    case OpKind::kCos:
      return math.SinCos(x, true);
    case OpKind::kPow:
      return math.Pow(x, y);
#define OP(enumerator, name, arguments, blocks) case OpKind::enumerator:
#define MATH_OP(enumerator, name, arguments, blocks)
#include "compiler/ir/ops.def"
#undef OP
      break;
  }
  WF_CHECK(false, InfoOf(kind).name);
  return x;
}

}  // namespace wf::ir
