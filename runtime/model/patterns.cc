#include "runtime/model/patterns.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numbers>
#include <optional>

#include "runtime/model/numbers.h"
#include "runtime/model/uses.h"
#include "runtime/onnx/op.h"

namespace wf::model {
namespace {

using base::Status;
using onnx::Node;
using onnx::Op;

class Patterns {
 public:
  Patterns(Program& program, std::span<const onnx::Known> known, std::vector<bool>& gone)
      : program_(program), known_(known), gone_(gone), uses_(program, gone) {}

  // Whether one is looked for at such a node.
  static bool Begins(Op op) {
    return op == Op::kErf || op == Op::kSigmoid || op == Op::kMatMul || op == Op::kSoftmax || op == Op::kLayerNormalization;
  }

  Status Run() {
    for (size_t i = 0; i < nodes().size(); ++i) {
      if (gone_[i] || !Begins(nodes()[i].op) || !IsPlain(nodes()[i])) continue;
      if (nodes()[i].op == Op::kErf) JoinGelu(i);
      if (nodes()[i].op == Op::kSigmoid) JoinSwish(i);
      if (nodes()[i].op == Op::kMatMul) JoinFactor(i);
      if (nodes()[i].op == Op::kSoftmax) JoinAttention(i);
      if (nodes()[i].op == Op::kLayerNormalization) JoinSum(i);
    }
    return status_;
  }

 private:
  std::vector<Node>& nodes() { return program_.graph.nodes; }
  Node& node(size_t i) { return nodes()[i]; }

  // One result, of f32 and with axes, so that numbers do not change its shape.
  bool IsPlain(const Node& node) const {
    const onnx::Known& out = known_[static_cast<size_t>(node.out[0])];
    return node.out.size() == 1 && out.dtype == WF_F32 && !out.dim.empty();
  }

  // The node of this operator that alone reads the value; kNoNode: there is none.
  size_t Only(int value, Op op) {
    const std::vector<size_t>& readers = uses_.readers[static_cast<size_t>(value)];
    const bool only = readers.size() == 1 && readers[0] != kNoNode && !gone_[readers[0]] && node(readers[0]).op == op;
    return only && IsPlain(node(readers[0])) ? readers[0] : kNoNode;
  }

  int Other(size_t i, int value) { return node(i).in[0] == value ? node(i).in[1] : node(i).in[0]; }

  // A constant of one element.
  std::optional<double> NumberOf(int value) {
    const int weight = program_.graph.values[static_cast<size_t>(value)].weight;
    if (weight < 0) return std::nullopt;
    const onnx::Weight& held = program_.graph.weight(weight);
    if (held.dtype != WF_F32 || held.count() != 1 || held.dim.size() > 1) return std::nullopt;
    const auto elements = program_.constants[static_cast<size_t>(weight)]->Load();
    if (!elements.ok()) {
      status_ = elements.status();
      return std::nullopt;
    }
    return NumberAt(held.dtype, elements->get(), 0);
  }

  bool HasAxes(int value) const { return !known_[static_cast<size_t>(value)].dim.empty(); }

  // What the node multiplies by a number, and by which; -1: it does something else.
  struct Scaled {
    int value = -1;
    double factor = 1;
  };
  Scaled ScaledBy(size_t i) {
    if (i == kNoNode || gone_[i] || !IsPlain(node(i)) || (node(i).op != Op::kMul && node(i).op != Op::kDiv)) return {};
    const auto second = NumberOf(node(i).in[1]);
    if (second && HasAxes(node(i).in[0])) return {node(i).in[0], node(i).op == Op::kDiv ? 1 / *second : *second};
    const auto first = node(i).op == Op::kMul ? NumberOf(node(i).in[0]) : std::nullopt;
    return first && HasAxes(node(i).in[1]) ? Scaled{node(i).in[1], *first} : Scaled{};
  }
  // What is scaled by about this factor; -1: nothing is.
  int ScaledBy(size_t i, double factor) {
    const Scaled scaled = ScaledBy(i);
    return std::abs(scaled.factor - factor) < 1e-6 ? scaled.value : -1;
  }
  size_t Writer(int value) const { return uses_.writer[static_cast<size_t>(value)]; }

  void Replace(size_t last, Op op, int in, std::initializer_list<size_t> others) {
    for (const size_t each : others) gone_[each] = true;
    node(last).op = op;
    node(last).in = {in};
    node(last).attributes.clear();
  }

  // x/2 (1 + erf(x / sqrt 2)), multiplied in any order.
  void JoinGelu(size_t erf) {
    const size_t inner = Writer(node(erf).in[0]);
    const int x = ScaledBy(inner, std::numbers::sqrt2 / 2);
    const size_t add = Only(node(erf).out[0], Op::kAdd);
    if (x < 0 || add == kNoNode || uses_.readers[static_cast<size_t>(node(erf).in[0])].size() != 1) return;
    if (NumberOf(Other(add, node(erf).out[0])).value_or(0) != 1) return;
    const size_t first = Only(node(add).out[0], Op::kMul);
    if (first == kNoNode) return;
    const int other = Other(first, node(add).out[0]);
    if (const size_t half = Writer(other); half != kNoNode && ScaledBy(half, 0.5) == x && Only(other, Op::kMul) == first)
      return Replace(first, Op::kMsGelu, x, {inner, erf, add, half});
    const size_t last = Only(node(first).out[0], Op::kMul);
    if (last == kNoNode) return;
    const bool halved_last = other == x && ScaledBy(last, 0.5) == node(first).out[0];
    const bool halved_first = ScaledBy(first, 0.5) == node(add).out[0] && Other(last, node(first).out[0]) == x;
    if (halved_last || halved_first) Replace(last, Op::kMsGelu, x, {inner, erf, add, first});
  }

  void JoinSwish(size_t sigmoid) {
    const int x = node(sigmoid).in[0];
    const size_t product = Only(node(sigmoid).out[0], Op::kMul);
    if (product == kNoNode || Other(product, node(sigmoid).out[0]) != x) return;
    Replace(product, Op::kMsQuickGelu, x, {sigmoid});
    AddFactor(product, 1);
  }

  // Of two matrices that are computed: the product may scale what it writes.
  void JoinFactor(size_t product) {
    if (program_.graph.values[static_cast<size_t>(node(product).in[1])].weight >= 0 || node(product).in.size() != 2) return;
    const std::vector<size_t>& readers = uses_.readers[static_cast<size_t>(node(product).out[0])];
    if (readers.size() != 1) return;
    const Scaled scaled = ScaledBy(readers[0]);
    if (scaled.value != node(product).out[0] || !std::isfinite(scaled.factor)) return;
    gone_[readers[0]] = true;
    node(product).op = Op::kMsFusedMatMul;
    node(product).out = {node(readers[0]).out[0]};
    uses_.writer[static_cast<size_t>(node(product).out[0])] = product;
    AddFactor(product, static_cast<float>(scaled.factor));
  }

  const onnx::Shape& DimOf(int value) const { return known_[static_cast<size_t>(value)].dim; }
  bool IsF32(int value) const { return value >= 0 && known_[static_cast<size_t>(value)].dtype == WF_F32; }

  // The rows [n, t, heads * size] whose heads [n, t, heads, size] this value has, transposed by `perm`; -1: it is something else.
  int RowsOf(int value, std::initializer_list<int64_t> perm, int64_t heads) {
    const size_t turn = Writer(value);
    if (turn == kNoNode || gone_[turn] || node(turn).op != Op::kTranspose) return -1;
    const auto found = node(turn).Ints("perm");
    if (!std::equal(found.begin(), found.end(), perm.begin(), perm.end())) return -1;
    const size_t split = Writer(node(turn).in[0]);
    if (split == kNoNode || gone_[split] || node(split).op != Op::kReshape) return -1;
    const int rows = node(split).in[0];
    return IsF32(rows) && AreHeads(DimOf(node(turn).in[0]), DimOf(rows), heads) ? rows : -1;
  }
  static bool AreHeads(const onnx::Shape& heads, const onnx::Shape& rows, int64_t wanted) {
    if (heads.size() != 4 || rows.size() != 3 || !(heads[0] == rows[0]) || !(heads[1] == rows[1])) return false;
    const auto count = heads[2].constant(), size = heads[3].constant(), width = rows[2].constant();
    return count && size && width && *count == wanted && *count * *size == *width;
  }

  // What is added to the scores of attention [n, heads, s, l]: each axis as long or 1, as far as is known.
  bool IsMask(int value, const onnx::Shape& scores) {
    const onnx::Shape& dim = DimOf(value);
    bool fits = IsF32(value) && dim.size() == 4;
    for (size_t axis = 0; fits && axis < 4; ++axis)
      fits = dim[axis] == onnx::Dim(1) || !onnx::Dim::ProvedDifferent(dim[axis], scores[axis]);
    return fits;
  }

  // softmax(q k' [* factor] [+ mask]) v of heads that were split from rows and are put together again.
  void JoinAttention(size_t softmax) {
    const onnx::Shape& scores = DimOf(node(softmax).out[0]);
    const int64_t axis = node(softmax).Int("axis", -1);
    if (node(softmax).opset < 13 || scores.size() != 4 || (axis != -1 && axis != 3)) return;
    int product_out = node(softmax).in[0], mask = -1;
    if (const size_t add = Writer(product_out); add != kNoNode && !gone_[add] && node(add).op == Op::kAdd) {
      const bool turned = IsMask(node(add).in[0], scores) && IsProduct(Writer(node(add).in[1]));
      mask = node(add).in[turned ? 0 : 1];
      product_out = node(add).in[turned ? 1 : 0];
      if (!IsMask(mask, scores)) return;
    }
    const size_t product = Writer(product_out), mixed = Only(node(softmax).out[0], Op::kMatMul);
    if (!IsProduct(product) || mixed == kNoNode || node(mixed).in[0] != node(softmax).out[0]) return;
    const size_t turn = Only(node(mixed).out[0], Op::kTranspose), join = turn == kNoNode ? kNoNode : Only(node(turn).out[0], Op::kReshape);
    if (join == kNoNode) return;
    constexpr int64_t kSwapped[] = {0, 2, 1, 3};
    const auto perm = node(turn).Ints("perm");
    const auto heads = scores[1].constant();
    if (!heads || !std::equal(perm.begin(), perm.end(), std::begin(kSwapped), std::end(kSwapped))) return;
    if (!AreHeads(DimOf(node(turn).out[0]), DimOf(node(join).out[0]), *heads)) return;
    const int q = RowsOf(node(product).in[0], {0, 2, 1, 3}, *heads), k = RowsOf(node(product).in[1], {0, 2, 3, 1}, *heads),
              v = RowsOf(node(mixed).in[1], {0, 2, 1, 3}, *heads);
    if (q < 0 || k < 0 || v < 0) return;
    const onnx::Shape &of_q = DimOf(q), &of_k = DimOf(k), &of_v = DimOf(v);
    if (!(of_q[0] == of_k[0]) || !(of_k[0] == of_v[0]) || !(of_k[1] == of_v[1])) return;
    const float factor = node(product).op == Op::kMatMul ? 1 : node(product).Float("alpha", 1);
    if (factor == 0) return;
    for (const size_t each : {softmax, mixed, turn}) gone_[each] = true;  // nobody else reads them; the others go where nobody does
    node(join).op = Op::kMsMultiHeadAttention;
    node(join).in = {q, k, v, -1, -1, mask};
    node(join).attributes.clear();
    AddInt(join, "num_heads", *heads);
    AddInt(join, "plain", 1);
    AddFloat(join, "scale", factor);
  }
  bool IsProduct(size_t i) {
    if (i == kNoNode || gone_[i] || (node(i).op != Op::kMatMul && node(i).op != Op::kMsFusedMatMul)) return false;
    return node(i).Int("transA", 0) == 0 && node(i).Int("transB", 0) == 0 && node(i).in.size() == 2;
  }

  // Rows that are normalised over the last axis right behind a sum of two like them: the sum is a result of the same node.
  void JoinSum(size_t norm) {
    const int sum = node(norm).in[0];
    const size_t add = Writer(sum);
    if (add == kNoNode || gone_[add] || node(add).op != Op::kAdd || node(norm).out.size() != 1) return;
    const onnx::Shape& dim = DimOf(sum);
    const int64_t axis = node(norm).Int("axis", -1);
    const bool rows = dim.size() == 3 && (axis == -1 || axis == 2) && node(norm).Int("stash_type", 1) == 1 && node(norm).in.size() == 3;
    if (!rows || !IsF32(node(add).in[0]) || !IsF32(node(add).in[1])) return;
    if (!(DimOf(node(add).in[0]) == dim) || !(DimOf(node(add).in[1]) == dim)) return;
    for (const size_t i : {1, 2}) {
      if (DimOf(node(norm).in[i]).size() != 1) return;
    }
    const std::vector<size_t>& readers = uses_.readers[static_cast<size_t>(sum)];
    const bool alone = readers.size() == 1;
    if (!alone && std::any_of(readers.begin(), readers.end(), [&](size_t each) { return each != kNoNode && each < norm; })) return;
    const float epsilon = node(norm).Float("epsilon", 1e-5F);
    gone_[add] = true;
    onnx::Node& joined = node(norm);
    joined.op = Op::kMsSkipLayerNormalization;
    joined.in = {node(add).in[0], node(add).in[1], joined.in[1], joined.in[2]};
    if (!alone) joined.out = {joined.out[0], -1, -1, sum};
    joined.attributes.clear();
    AddFloat(norm, "epsilon", epsilon);
  }

  void AddFactor(size_t i, float factor) { AddFloat(i, "alpha", factor); }
  void AddFloat(size_t i, const char* name, float value) {
    onnx::Attribute attribute;
    attribute.name = name;
    attribute.kind = onnx::Attribute::Kind::kFloat;
    attribute.f = value;
    node(i).attributes.push_back(std::move(attribute));
  }
  void AddInt(size_t i, const char* name, int64_t value) {
    onnx::Attribute attribute;
    attribute.name = name;
    attribute.kind = onnx::Attribute::Kind::kInt;
    attribute.i = value;
    node(i).attributes.push_back(std::move(attribute));
  }

  Program& program_;
  const std::span<const onnx::Known> known_;
  std::vector<bool>& gone_;
  Uses uses_;
  Status status_;
};

}  // namespace

Status JoinWrittenOut(Program& program, std::span<const onnx::Known> known, std::vector<bool>& gone) {
  const auto& nodes = program.graph.nodes;
  if (std::none_of(nodes.begin(), nodes.end(), [](const Node& node) { return Patterns::Begins(node.op); })) return Status::Ok();
  return Patterns(program, known, gone).Run();
}

}  // namespace wf::model
