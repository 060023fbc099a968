// Shape rules of operators that move elements without computing.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "runtime/onnx/infer_context.h"
#include "runtime/onnx/permutation.h"

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

// The shape of input 0, whose extents along the axes are not known; along all without axes, or where these are not known.
Status UnknownAlong(NodeContext& node, bool limited, const std::optional<std::vector<int64_t>>& axes) {
  Shape shape = node.in(0).dim;
  if (!limited || !axes) shape = node.Unknowns(shape.size());
  for (size_t i = 0; limited && axes && i < axes->size(); ++i) {
    size_t axis = 0;
    WF_RETURN_IF_ERROR(node.Axis((*axes)[i], shape.size(), axis));
    shape[axis] = node.unknown.Next();
  }
  node.out(0).dim = std::move(shape);
  return Status::Ok();
}

// Without axes a slice takes as many as it has starts.
Status UnknownSlice(NodeContext& node, bool limited, std::optional<std::vector<int64_t>> axes) {
  const auto count = node.has_in(1) ? node.Length(1) : std::nullopt;
  if (!limited && count && *count <= node.rank(0)) {
    axes.emplace(*count);
    std::iota(axes->begin(), axes->end(), 0);
    limited = true;
  }
  return UnknownAlong(node, limited, axes);
}

// Of pieces of which at least one is known; those of the others are unknown.
std::optional<std::vector<Dim>> JoinedContent(NodeContext& node) {
  std::vector<Dim> content;
  bool any = false;
  for (size_t i = 0; i < node.node.in.size(); ++i) {
    const auto count = node.Length(i);
    if (!count || content.size() + *count > static_cast<size_t>(kMaxContent)) return std::nullopt;
    const auto& piece = node.in(i).content;
    any = any || piece;
    const std::vector<Dim> elements = piece ? *piece : node.Unknowns(*count);
    content.insert(content.end(), elements.begin(), elements.end());
  }
  return any ? std::optional(std::move(content)) : std::nullopt;
}

}  // namespace

Status InferConcat(NodeContext& node) {
  const Attribute* attribute = node.node.Find("axis");
  if (attribute == nullptr) return node.Fail("attribute `axis` is missing");
  size_t axis = 0;
  WF_RETURN_IF_ERROR(node.Axis(attribute->i, node.rank(0), axis));
  Shape shape = node.in(0).dim;
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
  }
  node.out(0).dtype = node.in(0).dtype;
  node.out(0).dim = std::move(shape);
  if (node.rank(0) == 1) node.out(0).content = JoinedContent(node);
  return Status::Ok();
}

Status InferPad(NodeContext& node) {
  const size_t rank = node.rank(0);
  const std::string_view mode = node.node.String("mode", "constant");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && (mode != "wrap" || node.node.opset < 19))
    return node.NotBuilt(fmt::format("mode `{}` is not supported", mode));
  if (node.node.opset >= 11 && node.node.Find("pads") != nullptr) return node.Fail("attribute `pads`, which is an input from opset 11 on");
  const auto [given, pads] = node.FindInts("pads", 1);
  auto [limited, axes] = node.FindInts("axes", 3);
  if (!given) return node.Fail("it has no pads");
  if (node.has_in(2)) {
    WF_RETURN_IF_ERROR(node.SameType(0, 2));
    if (Dim::ProvedDifferent(Product(node.in(2).dim), 1)) return node.Fail("the value is no scalar");
  }
  node.out(0).dtype = node.in(0).dtype;
  if (!pads || (limited && !axes)) return UnknownAlong(node, limited, axes);
  if (!axes) {
    axes.emplace(rank);
    std::iota(axes->begin(), axes->end(), 0);
  }
  if (pads->size() != 2 * axes->size()) return node.Fail(fmt::format("{} pads for {} axes", pads->size(), axes->size()));
  Known& out = node.out(0);
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
    const bool takes = mode != "constant" && (begin > 0 || end > 0);
    if (takes && extent && (*extent == 0 || (mode == "reflect" && !reaches)))
      return node.Fail(fmt::format("pads beyond what {} can give", node.InType(0)));
    out.dim[axis] = out.dim[axis] + (begin + end);
  }
  return Status::Ok();
}

Status InferSlice(NodeContext& node) {
  const size_t rank = node.rank(0);
  const auto [begins, starts] = node.FindInts("starts", 1);
  const auto [stops, ends] = node.FindInts("ends", 2);
  auto [limited, axes] = node.FindInts("axes", 3);
  auto [strided, steps] = node.FindInts("steps", 4);
  node.out(0).dtype = node.in(0).dtype;
  const bool open = (begins && !starts) || (stops && !ends) || (limited && !axes) || (strided && !steps);
  if (open) return UnknownSlice(node, limited, axes);
  if (!starts || !ends || starts->size() != ends->size()) return node.Fail("starts and ends of different lengths");
  if (!axes) {
    axes.emplace(starts->size());
    std::iota(axes->begin(), axes->end(), 0);
  }
  if (!steps) steps.emplace(starts->size(), 1);
  if (axes->size() != starts->size() || steps->size() != starts->size()) return node.Fail("starts, axes and steps of different lengths");
  const Known& in = node.in(0);
  Known& out = node.out(0);
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

std::vector<int64_t> PermutationOf(const Node& node, size_t rank) {
  if (node.Find("perm") != nullptr) return {node.Ints("perm").begin(), node.Ints("perm").end()};
  std::vector<int64_t> perm(rank);
  const bool inward = node.Int("#inward", 0) != 0;
  if (inward) {
    std::iota(perm.begin(), perm.end(), 0);
  } else {
    std::iota(perm.rbegin(), perm.rend(), 0);
  }
  if (inward && rank > 2) std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
  return perm;
}

Status InferTranspose(NodeContext& node) {
  const Shape& in = node.in(0).dim;
  const std::vector<int64_t> perm = PermutationOf(node.node, in.size());
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
