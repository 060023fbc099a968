// Shape rules of operators that move elements or compute with shapes.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "runtime/onnx/infer_context.h"
#include "runtime/onnx/tensor.h"

namespace wf::onnx {
namespace {

using base::Status;

constexpr int64_t kFar = INT32_MAX;  // exporters write "to the end" as INT_MAX or INT64_MAX

// Extent of a slice; `step` is not 0.
Dim SliceExtent(const Dim& dim, int64_t start, int64_t end, int64_t step, base::UnknownDims& unknown) {
  if (const auto extent = dim.constant()) {
    const int64_t n = *extent;
    const auto clamp = [&](int64_t at, int64_t low, int64_t high) { return std::clamp(at < 0 ? std::max(at, -n - 1) + n : at, low, high); };
    const int64_t first = step > 0 ? clamp(start, 0, n) : clamp(start, 0, n - 1);
    const int64_t last = step > 0 ? clamp(end, 0, n) : clamp(end, -1, n - 1);
    if (n == 0) return 0;
    const int64_t span = step > 0 ? last - first : first - last;
    const int64_t stride = step > 0 ? step : step == INT64_MIN ? INT64_MAX : -step;
    return span <= 0 ? 0 : (span - 1) / stride + 1;
  }
  // Symbolic: the forms that exporters write, taking the axis to be long enough; numbers decide when a plan is made.
  if (step == -1 && start == -1 && end < -kFar) return dim;
  if (step < 1 || step >= kFar) return unknown.Next();
  Dim span = unknown.Next();
  if (start >= 0 && start < kFar && end >= kFar) span = dim - start;
  if (start >= 0 && start < kFar && end < 0 && end > -kFar) span = dim + end - start;
  if (start < 0 && start > -kFar && end >= kFar) span = Dim(-start);
  if (start < 0 && end < 0 && start > -kFar) span = Dim(std::max<int64_t>(end - start, 0));
  return step == 1 ? span : Dim::FloorDiv(span + (step - 1), step);
}

bool IsWhole(int64_t start, int64_t end, int64_t step) {
  return (step >= 1 && start == 0 && end >= kFar) || (step == -1 && start == -1 && end < -kFar);
}

// The first of constant indices that an axis of this extent has not.
std::optional<int64_t> OutOfAxis(const NodeContext& node, size_t indices, int64_t extent) {
  const auto outside = [extent](int64_t each) { return each < -extent || each >= extent; };
  if (const Weight* weight = node.weight(indices); weight != nullptr && weight->held) {
    const size_t size = static_cast<size_t>(base::DTypeSize(weight->dtype));
    for (size_t at = 0; at < weight->bytes.size(); at += size) {
      if (const int64_t index = IntegerAt(*weight, at); outside(index)) return index;
    }
    return std::nullopt;
  }
  for (const int64_t index : node.Numbers(indices).value_or(std::vector<int64_t>())) {
    if (outside(index)) return index;
  }
  return std::nullopt;
}

Dim ReshapedTotal(const Shape& shape) { return Product(shape); }

}  // namespace

Status InferConstant(NodeContext& node) { return node.Fail("a constant that was not read as one"); }

Status InferCast(NodeContext& node) {
  const Attribute* to = node.node.Find("to");
  if (to == nullptr) return node.Fail("attribute `to` is missing");
  const uint8_t dtype = to->i > 0 && to->i < 64 ? DTypeOf(static_cast<int>(to->i)) : 0;
  if (dtype == 0 || dtype == kStringType) {
    return node.NotBuilt(
        fmt::format("a conversion to {} is not supported", TensorTypeName(static_cast<int>(std::clamp<int64_t>(to->i, -1, 64)))));
  }
  node.out(0).dtype = dtype;
  node.out(0).dim = node.in(0).dim;
  node.out(0).content = node.in(0).content;  // dropped again unless the result is an integer
  if (dtype == WF_I32 && node.in(0).dtype == WF_I64) {
    for (const Dim& each : node.in(0).content.value_or(std::vector<Dim>{})) {
      const int64_t number = each.constant().value_or(0);
      if (number < INT32_MIN || number > INT32_MAX) node.out(0).content.reset();
    }
  }
  return Status::Ok();
}

Status InferConcat(NodeContext& node) {
  const Attribute* attribute = node.node.Find("axis");
  if (attribute == nullptr) return node.Fail("attribute `axis` is missing");
  size_t axis = 0;
  WF_RETURN_IF_ERROR(node.Axis(attribute->i, node.rank(0), axis));
  Shape shape = node.in(0).dim;
  auto content = node.in(0).content;
  for (size_t i = 1; i < node.node.in.size(); ++i) {
    if (!node.has_in(i)) return node.Fail(fmt::format("input {} is absent", i));
    WF_RETURN_IF_ERROR(node.SameType(0, i));
    WF_RETURN_IF_ERROR(node.Rank(i, shape.size()));
    const Known& in = node.in(i);
    for (size_t d = 0; d < shape.size(); ++d) {
      if (d != axis && Dim::ProvedDifferent(shape[d], in.dim[d])) {
        return node.Fail(fmt::format("inputs {} and {} differ beside axis {}", node.InType(0), node.InType(i), axis));
      }
      if (d != axis && in.dim[d].is_constant()) shape[d] = in.dim[d];
    }
    shape[axis] = shape[axis] + in.dim[axis];
    if (content && in.content) {
      content->insert(content->end(), in.content->begin(), in.content->end());
    } else {
      content.reset();
    }
  }
  node.out(0).dtype = node.in(0).dtype;
  node.out(0).dim = std::move(shape);
  node.out(0).content = std::move(content);
  return Status::Ok();
}

Status InferFlatten(NodeContext& node) {
  const Shape& in = node.in(0).dim;
  const int64_t rank = static_cast<int64_t>(in.size()), wanted = node.node.Int("axis", 1);
  if (wanted < -rank || wanted > rank) return node.Fail(fmt::format("axis {} of {}", wanted, node.InType(0)));
  const size_t axis = static_cast<size_t>(wanted < 0 ? wanted + rank : wanted);
  node.out(0).dtype = node.in(0).dtype;
  node.out(0).dim = {Product(std::span(in).first(axis)), Product(std::span(in).subspan(axis))};
  return Status::Ok();
}

Status InferGather(NodeContext& node) {
  const Known &data = node.in(0), &at = node.in(1);
  if (at.dtype != WF_I64 && at.dtype != WF_I32) return node.Fail(fmt::format("the indices are {}, wanted i32 or i64", node.InType(1)));
  if (data.dim.empty()) return node.Fail("a scalar input");
  size_t axis = 0;
  WF_RETURN_IF_ERROR(node.Axis(node.node.Int("axis", 0), data.dim.size(), axis));
  Shape shape(data.dim.begin(), data.dim.begin() + static_cast<ptrdiff_t>(axis));
  shape.insert(shape.end(), at.dim.begin(), at.dim.end());
  shape.insert(shape.end(), data.dim.begin() + static_cast<ptrdiff_t>(axis) + 1, data.dim.end());
  if (const auto extent = data.dim[axis].constant()) {
    if (const auto index = OutOfAxis(node, 1, *extent))
      return node.Fail(fmt::format("index {} of axis {} of {}", *index, axis, node.InType(0)));
  }
  Known& out = node.out(0);
  const auto numbers = node.Numbers(1);
  if (data.content && numbers) {
    std::vector<Dim> content;
    const int64_t n = static_cast<int64_t>(data.content->size());
    for (const int64_t each : *numbers) {
      content.push_back((*data.content)[static_cast<size_t>(each < 0 ? each + n : each)]);
    }
    out.content = std::move(content);
  }
  out.dtype = data.dtype;
  out.dim = std::move(shape);
  return Status::Ok();
}

Status InferPad(NodeContext& node) {
  const size_t rank = node.rank(0);
  const std::string_view mode = node.node.String("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge") return node.NotBuilt(fmt::format("mode `{}` is not supported", mode));
  if (node.node.opset >= 11 && node.node.Find("pads") != nullptr) return node.Fail("attribute `pads`, which is an input from opset 11 on");
  std::optional<std::vector<int64_t>> pads, axes;
  WF_RETURN_IF_ERROR(node.IntsOf("pads", 1, pads));
  WF_RETURN_IF_ERROR(node.IntsOf("axes", 3, axes));
  if (!pads) return node.Fail("it has no pads");
  if (node.has_in(2)) {
    WF_RETURN_IF_ERROR(node.SameType(0, 2));
    if (Dim::ProvedDifferent(Product(node.in(2).dim), 1)) return node.Fail("the value is no scalar");
  }
  if (!axes) {
    axes.emplace(rank);
    std::iota(axes->begin(), axes->end(), 0);
  }
  if (pads->size() != 2 * axes->size()) return node.Fail(fmt::format("{} pads for {} axes", pads->size(), axes->size()));
  Known& out = node.out(0);
  out.dtype = node.in(0).dtype;
  out.dim = node.in(0).dim;
  std::vector<bool> seen(rank, false);
  for (size_t i = 0; i < axes->size(); ++i) {
    size_t axis = 0;
    WF_RETURN_IF_ERROR(node.Axis((*axes)[i], rank, axis));
    if (seen[axis]) return node.Fail(fmt::format("axis {} is padded twice", axis));
    seen[axis] = true;
    const int64_t begin = (*pads)[i], end = (*pads)[i + axes->size()];
    if (std::max(begin, end) > kFar || std::min(begin, end) < -kFar) return node.Fail("a pad out of range");
    const auto extent = node.in(0).dim[axis].constant();
    const bool reaches = mode == "constant" || !extent || (begin < *extent + (mode == "edge") && end < *extent + (mode == "edge")) ||
                         (begin <= 0 && end <= 0);
    if (mode != "constant" && extent && (*extent == 0 || (mode == "reflect" && !reaches)))
      return node.Fail(fmt::format("pads beyond what {} can give", node.InType(0)));
    out.dim[axis] = out.dim[axis] + (begin + end);
  }
  return Status::Ok();
}

Status InferReshape(NodeContext& node) {
  const Known &data = node.in(0), &wanted = node.in(1);
  if (wanted.dtype != WF_I64 || wanted.dim.size() != 1)
    return node.Fail(fmt::format("the shape is {}, wanted i64 with one axis", node.InType(1)));
  if (!wanted.content) return node.NotBuilt("a shape that is computed from data is not supported");
  const bool zero_is_zero = node.node.Int("allowzero", 0) != 0;
  Shape shape;
  std::optional<size_t> free;
  for (size_t i = 0; i < wanted.content->size(); ++i) {
    const Dim& dim = (*wanted.content)[i];
    if (dim == Dim(-1)) {
      if (free) return node.Fail("two axes of extent -1");
      free = i;
      shape.emplace_back(1);
    } else if (dim == Dim(0) && !zero_is_zero) {
      if (i >= data.dim.size()) return node.Fail(fmt::format("axis {} is to be kept, but the input is {}", i, node.InType(0)));
      shape.push_back(data.dim[i]);
    } else if (dim.constant().value_or(0) < 0) {
      return node.Fail(fmt::format("an axis of extent {}", dim.ToString()));
    } else {
      shape.push_back(dim);
    }
  }
  const Dim total = ReshapedTotal(data.dim), rest = ReshapedTotal(shape);
  const auto fail = [&] {
    return node.Fail(fmt::format("{} has other than {} elements", node.InType(0), ToString(data.dtype, *wanted.content)));
  };
  if (free) {
    if (rest == Dim(0)) return fail();
    if (total.is_constant() && rest.is_constant() && *total.constant() % *rest.constant() != 0) return fail();
    shape[*free] = Dim::FloorDiv(total, rest);
  } else if (Dim::ProvedDifferent(total, rest)) {
    return fail();
  }
  node.out(0).dtype = data.dtype;
  node.out(0).dim = std::move(shape);
  node.out(0).content = data.content;
  return Status::Ok();
}

Status InferShapeOf(NodeContext& node) {
  const int64_t rank = static_cast<int64_t>(node.rank(0));
  const auto bound = [&](int64_t at) { return static_cast<size_t>(std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank)); };
  const int64_t from = std::max(node.node.Int("start", 0), -rank), to = std::max(node.node.Int("end", rank), -rank);
  const size_t begin = bound(from), end = std::max(begin, bound(to));
  const Shape& dim = node.in(0).dim;
  node.out(0).dtype = WF_I64;
  node.out(0).dim = {Dim(static_cast<int64_t>(end - begin))};
  node.out(0).content = std::vector<Dim>(dim.begin() + static_cast<ptrdiff_t>(begin), dim.begin() + static_cast<ptrdiff_t>(end));
  return Status::Ok();
}

Status InferSlice(NodeContext& node) {
  const size_t rank = node.rank(0);
  std::optional<std::vector<int64_t>> starts, ends, axes, steps;
  WF_RETURN_IF_ERROR(node.IntsOf("starts", 1, starts));
  WF_RETURN_IF_ERROR(node.IntsOf("ends", 2, ends));
  WF_RETURN_IF_ERROR(node.IntsOf("axes", 3, axes));
  WF_RETURN_IF_ERROR(node.IntsOf("steps", 4, steps));
  if (!starts || !ends || starts->size() != ends->size()) return node.Fail("starts and ends of different lengths");
  if (!axes) {
    axes.emplace(starts->size());
    std::iota(axes->begin(), axes->end(), 0);
  }
  if (!steps) steps.emplace(starts->size(), 1);
  if (axes->size() != starts->size() || steps->size() != starts->size()) return node.Fail("starts, axes and steps of different lengths");
  const Known& in = node.in(0);
  Known& out = node.out(0);
  out.dtype = in.dtype;
  out.dim = in.dim;
  std::vector<bool> seen(rank, false);
  for (size_t i = 0; i < axes->size(); ++i) {
    size_t axis = 0;
    WF_RETURN_IF_ERROR(node.Axis((*axes)[i], rank, axis));
    if (seen[axis]) return node.Fail(fmt::format("axis {} is sliced twice", axis));
    seen[axis] = true;
    if ((*steps)[i] == 0) return node.Fail("a step of 0");
    const bool is_open = node.exact && !in.dim[axis].is_constant() && !IsWhole((*starts)[i], (*ends)[i], (*steps)[i]);
    out.dim[axis] = is_open ? node.unknown.Next() : SliceExtent(in.dim[axis], (*starts)[i], (*ends)[i], (*steps)[i], node.unknown);
  }
  if (in.content && rank == 1 && axes->size() == 1) {
    std::vector<Dim> content;
    const int64_t n = static_cast<int64_t>(in.content->size()), step = (*steps)[0];
    int64_t at = (*starts)[0] < 0 ? std::max<int64_t>((*starts)[0] + n, 0) : std::min((*starts)[0], step > 0 ? n : n - 1);
    for (int64_t left = out.dim[0].constant().value_or(0); left > 0; --left) {
      content.push_back((*in.content)[static_cast<size_t>(at)]);
      if (left > 1) at += step;  // behind the last element a step may leave what i64 holds
    }
    out.content = std::move(content);
  }
  return Status::Ok();
}

Status InferSqueeze(NodeContext& node) {
  std::optional<std::vector<int64_t>> axes;
  WF_RETURN_IF_ERROR(node.IntsOf("axes", 1, axes));
  const Shape& in = node.in(0).dim;
  std::vector<bool> gone(in.size(), false);
  if (axes) {
    for (const int64_t each : *axes) {
      size_t axis = 0;
      WF_RETURN_IF_ERROR(node.Axis(each, in.size(), axis));
      if (Dim::ProvedDifferent(in[axis], 1)) return node.Fail(fmt::format("axis {} of {} is not 1", axis, node.InType(0)));
      gone[axis] = true;
    }
  } else {
    for (size_t i = 0; i < in.size(); ++i) {
      if (!in[i].is_constant()) return node.NotBuilt("an unnamed axis to squeeze in a shape with free extents");
      gone[i] = in[i] == Dim(1);
    }
  }
  Known& out = node.out(0);
  out.dtype = node.in(0).dtype;
  out.dim.clear();
  for (size_t i = 0; i < in.size(); ++i) {
    if (!gone[i]) out.dim.push_back(in[i]);
  }
  out.content = node.in(0).content;
  return Status::Ok();
}

Status InferUnsqueeze(NodeContext& node) {
  std::optional<std::vector<int64_t>> axes;
  WF_RETURN_IF_ERROR(node.IntsOf("axes", 1, axes));
  if (!axes) return node.Fail("it has no axes");
  const size_t rank = node.rank(0) + axes->size();
  if (rank > WF_MAX_RANK) return node.NotBuilt(fmt::format("a result of {} axes, {} are the most", rank, int{WF_MAX_RANK}));
  std::vector<bool> fresh(rank, false);
  for (const int64_t each : *axes) {
    size_t axis = 0;
    WF_RETURN_IF_ERROR(node.Axis(each, rank, axis));
    if (fresh[axis]) return node.Fail(fmt::format("axis {} is added twice", axis));
    fresh[axis] = true;
  }
  Known& out = node.out(0);
  out.dtype = node.in(0).dtype;
  out.dim.clear();
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) out.dim.push_back(fresh[i] ? Dim(1) : node.in(0).dim[next++]);
  out.content = node.in(0).content;
  return Status::Ok();
}

Status InferTranspose(NodeContext& node) {
  const Shape& in = node.in(0).dim;
  std::vector<int64_t> perm(node.node.Ints("perm").begin(), node.node.Ints("perm").end());
  if (node.node.Find("perm") == nullptr) {
    perm.resize(in.size());
    std::iota(perm.rbegin(), perm.rend(), 0);
  }
  std::vector<bool> seen(in.size(), false);
  const auto fail = [&] { return node.Fail(fmt::format("perm [{}] for {}", fmt::join(perm, ", "), node.InType(0))); };
  if (perm.size() != in.size()) return fail();
  Known& out = node.out(0);
  out.dtype = node.in(0).dtype;
  out.dim.clear();
  for (const int64_t each : perm) {
    if (each < 0 || each >= static_cast<int64_t>(in.size()) || seen[static_cast<size_t>(each)]) return fail();
    seen[static_cast<size_t>(each)] = true;
    out.dim.push_back(in[static_cast<size_t>(each)]);
  }
  return Status::Ok();
}

}  // namespace wf::onnx
