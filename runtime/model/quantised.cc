#include "runtime/model/quantised.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "runtime/kernels/derive.h"
#include "runtime/model/constants.h"
#include "runtime/model/numbers.h"
#include "runtime/model/uses.h"
#include "runtime/onnx/op.h"

namespace wf::model {
namespace {

using base::Result;
using base::Status;
using onnx::Node;
using onnx::Op;

// A tensor of 8-bit integers with what they stand for.
struct Quantised {
  int value = -1, scale = -1, zero = -1;  // values; zero -1: absent
  uint8_t dtype = 0;
};

class QuantisedPatterns {
 public:
  QuantisedPatterns(Program& program, std::vector<onnx::Known>& known, std::vector<bool>& gone)
      : program_(program), known_(known), gone_(gone), uses_(program, gone) {}

  Status Run() {
    for (size_t i = 0; i < nodes().size(); ++i) {
      if (!gone_[i]) WF_RETURN_IF_ERROR(Join(i));
    }
    LeaveOutUnread();
    return Status::Ok();
  }

 private:
  std::vector<Node>& nodes() { return program_.graph.nodes; }
  Node& node(size_t i) { return nodes()[i]; }
  const onnx::Known& KnownOf(int value) const { return known_[static_cast<size_t>(value)]; }
  int WeightAt(int value) const { return program_.graph.values[static_cast<size_t>(value)].weight; }
  const onnx::Weight& WeightOf(int value) const { return program_.graph.weight(WeightAt(value)); }

  Status Join(size_t i) {
    switch (node(i).op) {
      case Op::kConv:
      case Op::kGemm:
      case Op::kMatMul:
        return JoinProduct(i);
      case Op::kMatMulInteger:
        return JoinDynamic(i);
      case Op::kAdd:
      case Op::kMul:
        return JoinBinary(i);
      case Op::kConcat:
      case Op::kDepthToSpace:
      case Op::kFlatten:
      case Op::kIdentity:
      case Op::kMaxPool:
      case Op::kReshape:
      case Op::kSlice:
      case Op::kSpaceToDepth:
      case Op::kSqueeze:
      case Op::kTranspose:
      case Op::kUnsqueeze:
        return MoveThrough(i);
      default:
        return Status::Ok();
    }
  }

  Result<std::vector<double>> NumbersOf(int value) const {
    const onnx::Weight& weight = WeightOf(value);
    auto elements = program_.constants[static_cast<size_t>(WeightAt(value))]->Load();
    if (!elements.ok()) return elements.status();
    std::vector<double> numbers(static_cast<size_t>(weight.count()));
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = NumberAt(weight.dtype, elements->get(), static_cast<int64_t>(i));
    return numbers;
  }

  // Scale and zero point that are constants, the scale as usable ones are.
  Result<bool> IsScaled(const Quantised& of) const {
    if (WeightAt(of.scale) < 0 || WeightOf(of.scale).dtype != WF_F32 || (of.zero >= 0 && WeightAt(of.zero) < 0)) return false;
    const auto scales = NumbersOf(of.scale);
    if (!scales.ok()) return scales.status();
    return std::all_of(scales->begin(), scales->end(), [](double scale) { return std::isnormal(static_cast<float>(scale)) && scale > 0; });
  }
  bool IsOfAll(const Quantised& of) const { return WeightOf(of.scale).count() == 1 && WeightOf(of.scale).dim.size() < 2; }

  // What the value was before it was dequantised. Nothing: it was not, or by parameters that are not known.
  Result<std::optional<Quantised>> Dequantised(int value) {
    const size_t from = value < 0 ? kNoNode : uses_.writer[static_cast<size_t>(value)];
    if (from == kNoNode || node(from).op != Op::kDequantizeLinear) return std::optional<Quantised>();
    return Parameters(from, node(from).in[0]);
  }
  Result<std::optional<Quantised>> Parameters(size_t of, int value) {
    const Quantised found{value, node(of).in[1], node(of).has_in(2) ? node(of).in[2] : -1, KnownOf(value).dtype};
    if (found.dtype != WF_U8 && found.dtype != WF_I8) return std::optional<Quantised>();
    const auto is_scaled = IsScaled(found);
    if (!is_scaled.ok()) return is_scaled.status();
    return *is_scaled ? std::optional(found) : std::nullopt;
  }
  // The same of a tensor with one scale.
  Result<std::optional<Quantised>> Whole(Result<std::optional<Quantised>> found) const {
    if (found.ok() && *found && !IsOfAll(**found)) return std::optional<Quantised>();
    return found;
  }

  // The node that alone reads the value.
  size_t SoleReader(int value) const {
    const std::vector<size_t>& readers = uses_.readers[static_cast<size_t>(value)];
    return readers.size() == 1 && readers[0] != kNoNode && !gone_[readers[0]] ? readers[0] : kNoNode;
  }

  // What is behind an operator: bounds or nothing, then the QuantizeLinear.
  struct Behind {
    size_t bounds = kNoNode, quantise = kNoNode;
    Quantised y;
    kernels::Unary then = {kernels::UnaryOp::kIdentity};
  };
  Result<std::optional<Behind>> BehindOf(size_t i) {
    Behind behind;
    if (node(i).out.size() != 1) return std::optional<Behind>();
    size_t next = SoleReader(node(i).out[0]);
    if (next != kNoNode && (node(next).op == Op::kRelu || node(next).op == Op::kClip)) {
      auto lowered = Lower(program_, next, known_);
      if (!lowered.ok() || lowered->in.size() != 1) return std::optional<Behind>();
      behind.then = std::get<kernels::Unary>(lowered->params);
      if (behind.then.op == kernels::UnaryOp::kClip && !(behind.then.alpha <= behind.then.beta)) return std::optional<Behind>();
      behind.bounds = next;
      next = SoleReader(node(next).out[0]);
    }
    if (next == kNoNode || node(next).op != Op::kQuantizeLinear) return std::optional<Behind>();
    behind.quantise = next;
    const auto y = Whole(Parameters(next, node(next).out[0]));
    if (!y.ok()) return y.status();
    if (!*y) return std::optional<Behind>();
    behind.y = **y;
    return std::optional(behind);
  }

  int AddWeight(const std::string& name, uint8_t dtype, const std::vector<int64_t>& dim,
                std::shared_ptr<const kernels::Constant> constant) {
    onnx::Weight weight;
    weight.name = name;
    weight.dtype = dtype;
    weight.dim = dim;
    program_.constants.push_back(std::move(constant));
    program_.graph.values.push_back({name, program_.graph.Add(std::move(weight))});
    known_.emplace_back();
    known_.back().dtype = dtype;
    known_.back().dim.assign(dim.begin(), dim.end());
    return static_cast<int>(program_.graph.values.size()) - 1;
  }

  // The zero point, or a constant 0. Memory is what may lack: -1.
  int ZeroOf(const Quantised& of) {
    if (of.zero >= 0) return of.zero;
    const auto memory = kernels::Allocate(1);
    if (memory == nullptr) return -1;
    return AddWeight("zero", of.dtype, {}, std::make_shared<HeldConstant>(program_.packed_memory, memory));
  }

  // Becomes the last of the nodes in front of it: all that it reads is computed by then.
  Status Replace(size_t i, const Behind& behind, Op op, std::vector<int> in) {
    Node joined = node(i);
    joined.op = op;
    joined.in = std::move(in);
    joined.out = node(behind.quantise).out;
    gone_[i] = true;
    if (behind.bounds != kNoNode) gone_[behind.bounds] = true;
    program_.then[behind.quantise] = behind.then;
    node(behind.quantise) = std::move(joined);
    return Status::Ok();
  }

  // Weights that are signed around 0, or unsigned around 128: the kernels take no others, and with those f32 is quicker than plain code.
  Result<bool> IsSymmetric(const Quantised& w) const {
    if (WeightAt(w.value) < 0) return false;
    const double middle = w.dtype == WF_U8 ? 128 : 0;
    if (w.zero < 0) return middle == 0;
    const auto zeros = NumbersOf(w.zero);
    if (!zeros.ok()) return zeros.status();
    return std::all_of(zeros->begin(), zeros->end(), [&](double zero) { return zero == middle; });
  }

  // A product of a tensor and weights, whose axis of results has scales of its own or not.
  struct Product {
    size_t axis = 0;      // of results, in the weights
    bool turned = false;  // the weights are [n, k]
  };
  std::optional<Product> ProductOf(const Node& of) {
    const onnx::Shape &x = KnownOf(of.in[0]).dim, &w = KnownOf(of.in[1]).dim;
    if (of.op == Op::kConv) return Product{0, false};
    if (x.size() < 2 || w.size() != 2 || (of.op == Op::kMatMul && of.in.size() != 2)) return std::nullopt;
    if (of.op == Op::kMatMul) return Product{1, false};
    if (of.Int("transA", 0) != 0 || of.Float("alpha", 1) != 1 || of.Float("beta", 1) != 1) return std::nullopt;
    const bool turned = of.Int("transB", 0) != 0;
    return Product{turned ? size_t{0} : size_t{1}, turned};
  }

  // Whether the scales of weights go along the axis of results, or are one.
  bool GoAlong(const Quantised& w, int dequantised, size_t axis) {
    if (IsOfAll(w)) return true;
    const Node& from = node(uses_.writer[static_cast<size_t>(dequantised)]);
    const int64_t rank = static_cast<int64_t>(WeightOf(w.value).dim.size()), given = from.Int("axis", 1);
    return WeightOf(w.scale).dim.size() == 1 && from.Int("block_size", 0) == 0 &&
           (given < 0 ? given + rank : given) == static_cast<int64_t>(axis);
  }

  Status JoinProduct(size_t i) {
    const Node& of = node(i);
    const auto product = ProductOf(of);
    if (!product || KnownOf(of.out[0]).dtype != WF_F32) return Status::Ok();
    const auto x = Whole(Dequantised(of.in[0]));
    const auto w = Dequantised(of.in[1]);
    const auto behind = BehindOf(i);
    if (!x.ok()) return x.status();
    if (!w.ok()) return w.status();
    if (!behind.ok()) return behind.status();
    if (!*x || !*w || !*behind || WeightAt((*w)->value) < 0 || !GoAlong(**w, of.in[1], product->axis)) return Status::Ok();
    const auto symmetric = IsSymmetric(**w);
    if (!symmetric.ok()) return symmetric.status();
    if (!*symmetric) return Status::Ok();
    int bias = -1;
    if (of.has_in(2)) {
      const auto whole = WholeBias(of.in[2], **x, **w, WeightOf((*w)->value).dim[product->axis]);
      if (!whole.ok()) return whole.status();
      if (*whole < 0) return Status::Ok();
      bias = *whole;
    }
    const int x_zero = ZeroOf(**x), w_zero = ZeroOf(**w), y_zero = ZeroOf((*behind)->y);
    if (x_zero < 0 || w_zero < 0 || y_zero < 0) return Status(base::kResourceExhausted, "out of memory");
    const int weights = product->turned ? Turned((*w)->value) : (*w)->value;
    std::vector<int> in = {(*x)->value, (*x)->scale, x_zero, weights, (*w)->scale, w_zero, (*behind)->y.scale, y_zero};
    if (bias >= 0) in.push_back(bias);
    return Replace(i, **behind, of.op == Op::kConv ? Op::kQLinearConv : Op::kQLinearMatMul, std::move(in));
  }

  // A bias of f32 as whole numbers of x scale * w scale, which it mostly was. -1: it is no constant, or too large.
  Result<int> WholeBias(int value, const Quantised& x, const Quantised& w, int64_t count) {
    if (WeightAt(value) < 0) return -1;
    const onnx::Weight& bias = WeightOf(value);
    if (bias.dtype != WF_F32 || bias.count() != count || bias.dim.empty() || bias.dim.back() != count) return -1;
    const auto numbers = NumbersOf(value), x_scale = NumbersOf(x.scale), w_scale = NumbersOf(w.scale);
    for (const auto* each : {&numbers, &x_scale, &w_scale}) {
      if (!each->ok()) return each->status();
    }
    const auto memory = kernels::Allocate(count * int64_t{sizeof(int32_t)});
    if (memory == nullptr) return Status(base::kResourceExhausted, "out of memory");
    for (size_t k = 0; k < numbers->size(); ++k) {
      const double whole = std::nearbyint((*numbers)[k] / (x_scale->front() * (*w_scale)[w_scale->size() == 1 ? 0 : k]));
      if (!(std::abs(whole) < double{1 << 30})) return -1;
      const auto narrow = static_cast<int32_t>(whole);
      std::memcpy(memory.get() + k * sizeof(narrow), &narrow, sizeof(narrow));
    }
    return AddWeight(WeightOf(value).name, WF_I32, {count}, std::make_shared<HeldConstant>(program_.packed_memory, memory));
  }

  // Weights [n, k] as [k, n].
  int Turned(int value) {
    const onnx::Weight& weight = WeightOf(value);
    const int64_t n = weight.dim[0], k = weight.dim[1];
    const kernels::TensorInfo info{weight.dtype, weight.dim, nullptr, program_.constants[static_cast<size_t>(WeightAt(value))]};
    auto turned = kernels::Derived(info, "turned", n * k, [n, k](const uint8_t* from, uint8_t* to) {
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < k; ++j) to[j * n + i] = from[i * k + j];
      }
    });
    return AddWeight(weight.name, weight.dtype, {k, n}, std::move(turned));
  }

  bool IsScalar(int value) const {
    const onnx::Known& known = KnownOf(value);
    return known.dtype == WF_F32 && (known.dim.empty() || (known.dim.size() == 1 && known.dim[0] == onnx::Dim(1)));
  }
  // A constant of f32 that is one number or one for each column.
  bool IsRow(int value, int64_t columns, bool or_one) const {
    if (WeightAt(value) < 0) return false;
    const onnx::Weight& weight = WeightOf(value);
    const bool one = or_one && weight.count() == 1 && weight.dim.size() < 2;
    return weight.dtype == WF_F32 && (one || (weight.dim.size() == 1 && weight.dim[0] == columns));
  }
  int OtherOf(size_t i, int value) { return node(i).in[node(i).in[0] == value ? 1 : 0]; }

  // A product with a tensor that is quantised in the run, as f32 times both scales, where one is a constant, and a bias.
  Status JoinDynamic(size_t i) {
    const std::vector<int> in = node(i).in;
    const int b_zero = node(i).has_in(3) ? in[3] : -1;
    const size_t cast = SoleReader(node(i).out[0]);
    if (WeightAt(in[1]) < 0 || WeightOf(in[1]).dim.size() != 2 || (b_zero >= 0 && WeightAt(b_zero) < 0)) return Status::Ok();
    if (KnownOf(in[0]).dim.size() < 2 || cast == kNoNode || node(cast).op != Op::kCast || KnownOf(node(cast).out[0]).dtype != WF_F32)
      return Status::Ok();
    const size_t mul = SoleReader(node(cast).out[0]);
    if (mul == kNoNode || node(mul).op != Op::kMul) return Status::Ok();
    const int scales = OtherOf(mul, node(cast).out[0]);
    const size_t both = scales == node(cast).out[0] ? kNoNode : uses_.writer[static_cast<size_t>(scales)];
    if (both == kNoNode || node(both).op != Op::kMul) return Status::Ok();
    const int64_t columns = WeightOf(in[1]).dim[1];
    const bool turned = IsRow(node(both).in[0], columns, true);
    const int a_scale = node(both).in[turned ? 1 : 0], b_scale = node(both).in[turned ? 0 : 1];
    if (!IsRow(b_scale, columns, true) || !IsScalar(a_scale)) return Status::Ok();
    const auto symmetric = IsSymmetric({in[1], b_scale, b_zero, WeightOf(in[1]).dtype});
    if (!symmetric.ok()) return symmetric.status();
    if (!*symmetric) return Status::Ok();
    Behind behind;
    behind.quantise = mul;
    gone_[cast] = true;
    std::vector<int> joined = {in[0], in[1], a_scale, b_scale, node(i).has_in(2) ? in[2] : -1, b_zero};
    const size_t add = SoleReader(node(mul).out[0]);
    if (add != kNoNode && node(add).op == Op::kAdd && IsRow(OtherOf(add, node(mul).out[0]), columns, false)) {
      joined.push_back(OtherOf(add, node(mul).out[0]));
      behind.quantise = add;
      gone_[mul] = true;
    }
    return Replace(i, behind, Op::kMsMatMulIntegerToFloat, std::move(joined));
  }

  Status JoinBinary(size_t i) {
    const Node& of = node(i);
    if (KnownOf(of.out[0]).dtype != WF_F32) return Status::Ok();
    const auto a = Whole(Dequantised(of.in[0])), b = Whole(Dequantised(of.in[1]));
    const auto behind = BehindOf(i);
    if (!a.ok()) return a.status();
    if (!b.ok()) return b.status();
    if (!behind.ok()) return behind.status();
    if (!*a || !*b || !*behind || (*a)->dtype != (*b)->dtype || (*a)->dtype != (*behind)->y.dtype) return Status::Ok();
    const int a_zero = ZeroOf(**a), b_zero = ZeroOf(**b), y_zero = ZeroOf((*behind)->y);
    if (a_zero < 0 || b_zero < 0 || y_zero < 0) return Status(base::kResourceExhausted, "out of memory");
    return Replace(i, **behind, of.op == Op::kAdd ? Op::kMsQLinearAdd : Op::kMsQLinearMul,
                   {(*a)->value, (*a)->scale, a_zero, (*b)->value, (*b)->scale, b_zero, (*behind)->y.scale, y_zero});
  }

  Result<bool> AreSame(const Quantised& a, const Quantised& b) const {
    if (a.dtype != b.dtype) return false;
    const auto scale = NumbersOf(a.scale), other = NumbersOf(b.scale);
    if (!scale.ok()) return scale.status();
    if (!other.ok()) return other.status();
    double zeros[2] = {};
    for (const auto& [of, zero] : {std::pair(&a, &zeros[0]), std::pair(&b, &zeros[1])}) {
      if (of->zero < 0) continue;
      const auto found = NumbersOf(of->zero);
      if (!found.ok()) return found.status();
      *zero = found->front();
    }
    return *scale == *other && zeros[0] == zeros[1];
  }

  // Of integers that stand for the same numbers before and behind it, an operator that computes no new ones does what it does of those.
  Status MoveThrough(size_t i) {
    const auto behind = BehindOf(i);
    if (!behind.ok()) return behind.status();
    if (!*behind || (*behind)->bounds != kNoNode) return Status::Ok();
    const size_t moved = node(i).op == Op::kConcat ? node(i).in.size() : 1;  // the others say how
    std::vector<int> in = node(i).in;
    for (size_t k = 0; k < moved; ++k) {
      const auto x = Whole(Dequantised(in[k]));
      if (!x.ok()) return x.status();
      if (!*x) return Status::Ok();
      const auto same = AreSame(**x, (*behind)->y);
      if (!same.ok()) return same.status();
      if (!*same) return Status::Ok();
      in[k] = (*x)->value;
    }
    return Replace(i, **behind, node(i).op, std::move(in));
  }

  // Weights that are not read as f32 any more are not to be dequantised.
  void LeaveOutUnread() {
    for (size_t i = 0; i < nodes().size(); ++i) {
      if (gone_[i] || node(i).op != Op::kDequantizeLinear) continue;
      const std::vector<size_t>& readers = uses_.readers[static_cast<size_t>(node(i).out[0])];
      const auto is_gone = [&](size_t reader) { return reader != kNoNode && gone_[reader]; };
      if (std::all_of(readers.begin(), readers.end(), is_gone)) gone_[i] = true;
    }
  }

  Program& program_;
  std::vector<onnx::Known>& known_;
  std::vector<bool>& gone_;
  Uses uses_;
};

}  // namespace

Status JoinQuantised(Program& program, std::vector<onnx::Known>& known, std::vector<bool>& gone) {
  const auto& nodes = program.graph.nodes;
  if (std::none_of(nodes.begin(), nodes.end(),
                   [](const Node& node) { return node.op == Op::kQuantizeLinear || node.op == Op::kMatMulInteger; }))
    return Status::Ok();
  return kernels::MultipliesBytes() ? QuantisedPatterns(program, known, gone).Run() : Status::Ok();
}

}  // namespace wf::model
