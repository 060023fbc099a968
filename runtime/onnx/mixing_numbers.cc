#include "runtime/onnx/mixing_numbers.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

namespace wf::onnx {
namespace {

using OfInput = std::function<ByElement(size_t)>;

// Numbers of samples that are tried, the fewest and the most that a queue may ask for among them; each with other extents that are small,
// usual and large.
constexpr int64_t kSampleCounts[] = {1,   2,   3,   4,   5,   6,    7,    8,    9,    10,    11,     12,     13,     14,    15,
                                     16,  17,  18,  19,  20,  24,   31,   32,   33,   50,    63,     64,     65,     100,   127,
                                     128, 129, 255, 256, 257, 1000, 1023, 1024, 1025, 4'096, 10'000, 16'384, 32'768, 65'536};
struct Extents {
  int64_t least, apart;
};
constexpr Extents kExtents[] = {{1, 5}, {6, 251}, {1024, 4093}};
constexpr size_t kCounts = std::size(kSampleCounts), kValues = kCounts * std::size(kExtents);

constexpr double kMostExact = 1e15;  // beyond it whole numbers are not told apart

// Results that depend on elements beside them alone, as numbers do that stand beside each.
bool IsElementwise(Op op) {
  constexpr Op kThese[] = {
      Op::kAbs,         Op::kAcos,      Op::kAcosh,    Op::kAdd,        Op::kAnd,        Op::kAsin,      Op::kAsinh,
      Op::kAtan,        Op::kAtanh,     Op::kBitShift, Op::kBitwiseAnd, Op::kBitwiseNot, Op::kBitwiseOr, Op::kBitwiseXor,
      Op::kCeil,        Op::kCelu,      Op::kClip,     Op::kCos,        Op::kCosh,       Op::kDiv,       Op::kElu,
      Op::kEqual,       Op::kErf,       Op::kExp,      Op::kFloor,      Op::kGelu,       Op::kGreater,   Op::kGreaterOrEqual,
      Op::kHardSigmoid, Op::kHardSwish, Op::kIsInf,    Op::kIsNaN,      Op::kLeakyRelu,  Op::kLess,      Op::kLessOrEqual,
      Op::kLog,         Op::kMax,       Op::kMean,     Op::kMin,        Op::kMish,       Op::kMod,       Op::kMul,
      Op::kNeg,         Op::kNot,       Op::kOr,       Op::kPow,        Op::kReciprocal, Op::kRelu,      Op::kRound,
      Op::kSelu,        Op::kShrink,    Op::kSigmoid,  Op::kSign,       Op::kSin,        Op::kSinh,      Op::kSoftplus,
      Op::kSoftsign,    Op::kSqrt,      Op::kSub,      Op::kSum,        Op::kTan,        Op::kTanh,      Op::kThresholdedRelu,
      Op::kWhere,       Op::kXor};
  return std::find(std::begin(kThese), std::end(kThese), op) != std::end(kThese);
}

bool KeepsOrder(Op op) {
  constexpr Op kThese[] = {Op::kCast, Op::kIdentity, Op::kReshape, Op::kSqueeze, Op::kUnsqueeze, Op::kFlatten};
  return std::find(std::begin(kThese), std::end(kThese), op) != std::end(kThese);
}

bool Compares(Op op) {
  constexpr Op kThese[] = {Op::kEqual, Op::kGreater, Op::kGreaterOrEqual, Op::kLess, Op::kLessOrEqual};
  return std::find(std::begin(kThese), std::end(kThese), op) != std::end(kThese);
}

// What rounding tells apart is one.
bool IsSame(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }

// With the number of samples it never falls, or never rises.
bool RunsOneWay(std::span<const double> values) {
  for (size_t begin = 0; begin < kValues; begin += kCounts) {
    const auto counts = values.subspan(begin, kCounts);
    if (!std::is_sorted(counts.begin(), counts.end()) && !std::is_sorted(counts.rbegin(), counts.rend())) return false;
  }
  return true;
}

// Where a and b are compared alike at all counts that are tried, they are at those between: they draw near or apart all the way, and are
// not equal in passing.
bool KeepsSide(Op op, std::span<const double> a, std::span<const double> b) {
  std::vector<double> apart(kValues);
  for (size_t k = 0; k < kValues; ++k) apart[k] = a[k] - b[k];
  bool crosses = false;
  for (size_t begin = 0; begin < kValues; begin += kCounts) crosses = crosses || (apart[begin] < 0) != (apart[begin + kCounts - 1] < 0);
  return RunsOneWay(apart) && (op != Op::kEqual || !crosses);
}

// Results that change only where what they are made of passes a limit: the others, the same at so many counts, are the same at all.
bool Jumps(const NodeContext& node) {
  constexpr Op kThese[] = {Op::kAbs, Op::kAnd, Op::kCeil, Op::kClip,  Op::kFloor, Op::kMax,   Op::kMin, Op::kMod,
                           Op::kNot, Op::kOr,  Op::kRelu, Op::kRound, Op::kSign,  Op::kWhere, Op::kXor};
  const Op op = node.node.op;
  return (op == Op::kDiv && !IsFloat(node.in(0).dtype)) || std::find(std::begin(kThese), std::end(kThese), op) != std::end(kThese);
}

double Joined(Op op, double a, double b) {
  switch (op) {
    case Op::kReduceSum:
    case Op::kReduceMean:
    case Op::kSum:
    case Op::kMean:
    case Op::kAdd:
      return a + b;
    case Op::kReduceProd:
    case Op::kMul:
      return a * b;
    case Op::kReduceMax:
    case Op::kMax:
      return std::max(a, b);
    case Op::kReduceMin:
    case Op::kMin:
      return std::min(a, b);
    default:
      return NAN;
  }
}

double OfOne(Op op, double a) {
  switch (op) {
    case Op::kAbs:
      return std::abs(a);
    case Op::kCeil:
      return std::ceil(a);
    case Op::kExp:
      return std::exp(a);
    case Op::kFloor:
      return std::floor(a);
    case Op::kLog:
      return std::log(a);
    case Op::kNeg:
      return -a;
    case Op::kNot:
      return a == 0 ? 1 : 0;
    case Op::kReciprocal:
      return 1 / a;
    case Op::kRelu:
      return std::max(a, 0.0);
    case Op::kRound:
      return std::nearbyint(a);
    case Op::kSign:
      return a > 0 ? 1 : a < 0 ? -1 : 0;
    case Op::kSqrt:
      return std::sqrt(a);
    default:
      return NAN;
  }
}

double OfTwo(Op op, bool is_whole, double a, double b) {
  switch (op) {
    case Op::kSub:
      return a - b;
    case Op::kDiv:
      return is_whole ? std::trunc(a / b) : a / b;
    case Op::kPow:
      return std::pow(a, b);
    case Op::kMod:
      return a >= 0 && b > 0 ? std::fmod(a, b) : NAN;  // below 0 it is one of two
    case Op::kAnd:
      return a != 0 && b != 0 ? 1 : 0;
    case Op::kOr:
      return a != 0 || b != 0 ? 1 : 0;
    case Op::kXor:
      return (a != 0) != (b != 0) ? 1 : 0;
    case Op::kEqual:
      return a == b ? 1 : 0;
    case Op::kGreater:
      return a > b ? 1 : 0;
    case Op::kGreaterOrEqual:
      return a >= b ? 1 : 0;
    case Op::kLess:
      return a < b ? 1 : 0;
    case Op::kLessOrEqual:
      return a <= b ? 1 : 0;
    default:
      return NAN;
  }
}

// NaN: it is not followed.
double Combined(const NodeContext& node, std::span<const double> in) {
  const Op op = node.node.op;
  if (op == Op::kWhere) return in[0] != 0 ? in[1] : in[2];
  if (op == Op::kClip) {
    const auto low = static_cast<double>(node.node.Float("min", -INFINITY)), high = static_cast<double>(node.node.Float("max", INFINITY));
    const double least = node.has_in(1) ? in[1] : low, most = node.has_in(2) ? in[2] : high;
    return std::min(std::max(in[0], least), most);
  }
  if (op == Op::kMax || op == Op::kMin || op == Op::kSum || op == Op::kMean || op == Op::kAdd || op == Op::kMul) {
    double all = in[0];
    for (size_t i = 1; i < in.size(); ++i) all = Joined(op, all, in[i]);
    return op == Op::kMean ? all / static_cast<double>(in.size()) : all;
  }
  if (in.size() == 1) return OfOne(op, in[0]);
  return in.size() == 2 ? OfTwo(op, !IsFloat(node.in(0).dtype), in[0], in[1]) : NAN;
}

// What a node makes of these, one of each input; null: it is absent.
Number Combined(const NodeContext& node, const std::vector<const Number*>& in) {
  bool by_samples = false, is_followed = true;
  for (const Number* each : in) {
    by_samples = by_samples || (each != nullptr && each->by_samples);
    is_followed = is_followed && (each == nullptr || !each->values.empty());
  }
  if (!is_followed) return {by_samples};
  std::vector<double> values(kValues), at(in.size());
  for (size_t k = 0; k < kValues; ++k) {
    for (size_t i = 0; i < in.size(); ++i) at[i] = in[i] == nullptr ? 0 : in[i]->values[k];
    values[k] = Combined(node, at);
  }
  Number made = NumberOf(std::move(values), by_samples);
  if (!by_samples || made.by_samples) return made;
  const auto runs = [](const Number* each) { return each == nullptr || RunsOneWay(each->values); };
  const bool holds = Compares(node.node.op) ? KeepsSide(node.node.op, in[0]->values, in[1]->values)
                                            : !Jumps(node) || std::all_of(in.begin(), in.end(), runs);
  return holds ? made : Number{true};
}

// A number stands for each element beside it.
ByElement Elementwise(const NodeContext& node, size_t count, const OfInput& of_input) {
  std::vector<ByElement> in(node.node.in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    if (!node.has_in(i)) continue;
    in[i] = of_input(i);
    if (!in[i] || (in[i]->size() != 1 && (in[i]->size() != count || node.rank(i) > 1))) return std::nullopt;
  }
  std::vector<Number> made;
  std::vector<const Number*> of(in.size());
  for (size_t at = 0; at < count; ++at) {
    for (size_t i = 0; i < in.size(); ++i) of[i] = in[i] ? &(*in[i])[in[i]->size() == 1 ? 0 : at] : nullptr;
    made.push_back(Combined(node, of));
  }
  return made;
}

// As another type; to those that are narrow it is not followed.
double Converted(uint8_t dtype, double value) {
  if (dtype == WF_BOOL) return value != 0 ? 1 : 0;
  if (dtype == WF_I32 || dtype == WF_I64) return std::trunc(value);
  return dtype == WF_F32 || dtype == WF_F64 ? value : NAN;
}
ByElement Converted(uint8_t dtype, ByElement in) {
  for (Number& each : *in) {
    const bool runs = !each.by_samples || each.values.empty() || RunsOneWay(each.values);
    for (double& value : each.values) value = Converted(dtype, value);
    if (!each.values.empty()) each = runs ? NumberOf(std::move(each.values), each.by_samples) : Number{true};
  }
  return in;
}

// All of them taken together.
ByElement Reduced(Op op, const std::vector<Number>& in) {
  bool by_samples = false, is_followed = !in.empty();
  for (const Number& each : in) {
    by_samples = by_samples || each.by_samples;
    is_followed = is_followed && !each.values.empty();
  }
  const bool picks = op == Op::kReduceMax || op == Op::kReduceMin;
  const auto runs = [](const Number& each) { return !each.by_samples || RunsOneWay(each.values); };
  if (!is_followed || (picks && !std::all_of(in.begin(), in.end(), runs))) return std::vector<Number>{{by_samples}};
  std::vector<double> values = in[0].values;
  for (size_t k = 0; k < kValues; ++k) {
    for (size_t i = 1; i < in.size(); ++i) values[k] = Joined(op, values[k], in[i].values[k]);
    if (op == Op::kReduceMean) values[k] /= static_cast<double>(in.size());
  }
  return std::vector<Number>{NumberOf(std::move(values), by_samples)};
}
bool Reduces(Op op) {
  constexpr Op kThese[] = {Op::kReduceSum, Op::kReduceMean, Op::kReduceProd, Op::kReduceMax, Op::kReduceMin};
  return std::find(std::begin(kThese), std::end(kThese), op) != std::end(kThese);
}

// Those of `from`, which has one axis, at these places.
ByElement At(const std::vector<Number>& from, const std::vector<int64_t>& places) {
  const auto count = static_cast<int64_t>(from.size());
  std::vector<Number> picked;
  for (const int64_t place : places) {
    const int64_t at = place < 0 ? place + count : place;
    if (at < 0 || at >= count) return std::nullopt;
    picked.push_back(from[static_cast<size_t>(at)]);
  }
  return picked;
}

ByElement Sliced(const NodeContext& node, const std::vector<Number>& from) {
  std::optional<std::vector<int64_t>> starts, ends, steps;
  const bool known = node.IntsOf("starts", 1, starts).ok() && node.IntsOf("ends", 2, ends).ok() && node.IntsOf("steps", 4, steps).ok();
  if (!known || !starts || !ends || starts->size() != 1 || (steps && (*steps)[0] != 1)) return std::nullopt;
  const auto count = static_cast<int64_t>(from.size());
  const auto place = [count](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + count : at, 0, count); };
  std::vector<int64_t> places;
  for (int64_t at = place((*starts)[0]); at < place((*ends)[0]); ++at) places.push_back(at);
  return At(from, places);
}

// Of a Split of one axis, those that lie in this output. Others may be left out.
ByElement Parted(NodeContext& node, size_t output, const std::vector<Number>& from) {
  std::optional<std::vector<int64_t>> sizes;
  const auto extent = node.out(output).dim[0].constant();
  if (!extent || !node.IntsOf("split", 1, sizes).ok() || (sizes && sizes->size() <= output)) return std::nullopt;
  const auto total = static_cast<int64_t>(from.size());
  const int64_t count = node.node.Int("num_outputs", static_cast<int64_t>(node.node.out.size()));
  const auto at = static_cast<int64_t>(output);
  const int64_t first = sizes ? std::accumulate(sizes->begin(), sizes->begin() + at, int64_t{0}) : at * ((total + count - 1) / count);
  std::vector<int64_t> places(static_cast<size_t>(*extent));
  std::iota(places.begin(), places.end(), first);
  return At(from, places);
}

ByElement Joined(const NodeContext& node, const OfInput& of_input) {
  std::vector<Number> all;
  for (size_t i = 0; i < node.node.in.size(); ++i) {
    const ByElement in = of_input(i);
    if (!in) return std::nullopt;
    all.insert(all.end(), in->begin(), in->end());
  }
  return all;
}

ByElement OfFirst(NodeContext& node, size_t output, size_t count, const OfInput& of_input) {
  const Op op = node.node.op;
  const bool is_list = node.rank(0) == 1;
  const bool repeats = op == Op::kExpand || op == Op::kTile;
  if (!KeepsOrder(op) && !Reduces(op) && !repeats && !(is_list && (op == Op::kGather || op == Op::kSlice || op == Op::kSplit)))
    return std::nullopt;
  ByElement from = of_input(0);
  if (!from) return std::nullopt;
  if (op == Op::kCast) return Converted(node.out(0).dtype, std::move(from));
  if (KeepsOrder(op)) return from;
  if (Reduces(op)) return count == 1 ? Reduced(op, *from) : std::nullopt;
  if (repeats) return from->size() == 1 ? ByElement(std::vector<Number>(count, (*from)[0])) : std::nullopt;
  if (op == Op::kSplit) return Parted(node, output, *from);
  if (op == Op::kSlice) return Sliced(node, *from);
  const auto at = node.Numbers(1);
  return at ? At(*from, *at) : std::nullopt;
}

// Another number for each name, the same in each process: the compiler and the server find alike.
uint64_t Spread(const std::string& name) {
  uint64_t hash = 14695981039346656037U;
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 1099511628211U;
  return hash;
}

}  // namespace

Number ConstantNumber(double value) { return NumberOf(std::vector<double>(kValues, value), false); }

Number NumberOf(std::vector<double> values, bool by_samples) {
  if (std::any_of(values.begin(), values.end(), [](double each) { return !(std::abs(each) < kMostExact); })) return {by_samples};
  if (!by_samples) return {false, std::move(values)};
  bool differs = false;
  for (size_t k = 0; k < kValues; ++k) differs = differs || !IsSame(values[k], values[k - k % kCounts]);
  return {differs, std::move(values)};
}

Number NumberOf(const Dim& dim, const std::string& samples, bool by_samples) {
  std::vector<double> values;
  for (size_t k = 0; k < kValues; ++k) {
    const Extents& others = kExtents[k / kCounts];
    const auto value = dim.fault() != Dim::Fault::kNone ? std::nullopt : dim.Evaluate([&](const std::string& symbol) {
      if (symbol == samples) return std::optional(kSampleCounts[k % kCounts]);
      if (symbol.starts_with("_#x")) return std::optional<int64_t>();  // a node made it, maybe of them
      return std::optional(others.least + static_cast<int64_t>(Spread(symbol) % static_cast<uint64_t>(others.apart)));
    });
    if (!value) return {by_samples};
    values.push_back(static_cast<double>(*value));
  }
  return NumberOf(std::move(values), by_samples);
}

std::optional<size_t> NumbersIn(const Known& known) {
  const auto count = Product(known.dim).constant();
  return count && *count <= kMaxContent ? std::optional(static_cast<size_t>(*count)) : std::nullopt;
}

ByElement FollowNumbers(NodeContext& node, size_t output, const OfInput& of_input) {
  if (!node.has_in(0)) return std::nullopt;
  const auto count = NumbersIn(node.out(output));
  if (!count) return std::nullopt;
  const Op op = node.node.op;
  ByElement made = IsElementwise(op) ? Elementwise(node, *count, of_input) : OfFirst(node, output, *count, of_input);
  if (op == Op::kConcat && node.out(0).dim.size() == 1) made = Joined(node, of_input);
  return made && made->size() == *count ? made : std::nullopt;
}

}  // namespace wf::onnx
