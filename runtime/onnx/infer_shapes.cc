// Shape rules of operators that see the same elements in another shape, and of those that tell shapes.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/onnx/infer_context.h"
#include "runtime/onnx/tensor.h"

namespace wf::onnx {
using base::Status;

Status InferConstant(NodeContext& node) { return node.Fail("a constant that was not read as one"); }

Status InferCast(NodeContext& node) {
  const Attribute* to = node.node.Find("to");
  if (to == nullptr) return node.Fail("attribute `to` is missing");
  const uint8_t dtype = to->i > 0 && to->i < 64 ? DTypeOf(static_cast<int>(to->i)) : 0;
  if (dtype == 0) {
    return node.NotBuilt(fmt::format("a conversion to {} is not supported", TensorTypeName(to->i)));
  }
  node.out(0).dtype = dtype;
  node.out(0).dim = node.in(0).dim;
  WF_RETURN_IF_ERROR(CheckTextCast(node, dtype));
  node.out(0).content = node.in(0).content;  // dropped again unless the result is an integer
  if (!node.in(0).content) return Status::Ok();
  for (Dim& each : *node.out(0).content) {
    const auto number = each.constant();
    if (dtype == WF_I32 && number && (*number < INT32_MIN || *number > INT32_MAX)) each = node.unknown.Next();
    if (dtype == WF_BOOL) each = number ? Dim(*number != 0 ? 1 : 0) : node.unknown.Next();
  }
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

namespace {
// An unknown that a node made may stand for -1 or 0, which mean something else than an extent.
bool IsFromData(const Dim& dim) {
  const auto symbol = dim.symbol();
  return symbol && symbol->starts_with("_#x");
}
}  // namespace

// An optional value is there, and a tensor; one that is not there is an input that is left out.
Status InferOptionalHasElement(NodeContext& node) {
  node.out(0).dtype = WF_BOOL;
  node.out(0).dim.clear();
  node.out(0).content = std::vector<Dim>{Dim(node.has_in(0) ? 1 : 0)};
  return Status::Ok();
}

// Nodes with sequences are written out when a file is read (read_sequences.cc).
Status InferSequence(NodeContext& node) { return node.NotBuilt("sequences are not supported here"); }

Status InferReshape(NodeContext& node) {
  const Known &data = node.in(0), &wanted = node.in(1);
  if (wanted.dtype != WF_I64 || wanted.dim.size() != 1)
    return node.Fail(fmt::format("the shape is {}, wanted i64 with one axis", node.InType(1)));
  node.out(0).dtype = data.dtype;
  const auto count = node.Length(1);
  if (count && *count > WF_MAX_RANK) return node.NotBuilt(fmt::format("a result of {} axes, {} are the most", *count, int{WF_MAX_RANK}));
  if (!node.Content(1)) {
    if (!count) return node.NotBuilt("how many axes its result has is computed from data, which is not supported");
    node.out(0).dim = node.Unknowns(*count);
    return Status::Ok();
  }
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
      shape.push_back(node.exact && IsFromData(dim) ? node.unknown.Next() : dim);
    }
  }
  const Dim total = Product(data.dim), rest = Product(shape);
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

Status InferSize(NodeContext& node) {
  node.out(0).dtype = WF_I64;
  node.out(0).dim.clear();
  node.out(0).content = std::vector<Dim>{Product(node.in(0).dim)};
  return Status::Ok();
}

Status InferSqueeze(NodeContext& node) {
  const auto [given, axes] = node.FindInts("axes", 1);
  const Shape& in = node.in(0).dim;
  if (given && !axes) {
    const auto count = node.Length(1);
    if (!count) return node.NotBuilt("how many axes its result has is computed from data, which is not supported");
    if (*count > in.size()) return node.Fail(fmt::format("{} axes of {}", *count, node.InType(0)));
    node.out(0).dtype = node.in(0).dtype;
    node.out(0).dim = node.Unknowns(in.size() - *count);
    return Status::Ok();
  }
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
  const auto [given, axes] = node.FindInts("axes", 1);
  if (!given) return node.Fail("it has no axes");
  const std::optional<size_t> count = axes ? std::optional(axes->size()) : node.has_in(1) && node.rank(1) == 0 ? 1 : node.Length(1);
  if (!count) return node.NotBuilt("how many axes its result has is computed from data, which is not supported");
  const size_t rank = node.rank(0) + *count;
  if (rank > WF_MAX_RANK) return node.NotBuilt(fmt::format("a result of {} axes, {} are the most", rank, int{WF_MAX_RANK}));
  if (!axes) {
    node.out(0).dtype = node.in(0).dtype;
    node.out(0).dim = node.Unknowns(rank);
    return Status::Ok();
  }
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

}  // namespace wf::onnx
