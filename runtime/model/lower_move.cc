#include <algorithm>

#include "runtime/model/lowering.h"
#include "runtime/onnx/permutation.h"

namespace wf::model {

using base::Status;

Status LowerAlias(Lowering& of) {
  of.lowered.alias = true;
  of.KeepInputs(1);
  return Status::Ok();
}

Status LowerConcat(Lowering& of) {
  of.lowered.params = kernels::Concat{FromEnd(of.node.Int("axis", 0), of.context.rank(0))};
  return Status::Ok();
}

Status LowerGather(Lowering& of) {
  of.lowered.params = kernels::Gather{FromEnd(of.node.Int("axis", 0), of.context.rank(0))};
  return Status::Ok();
}

Status LowerTranspose(Lowering& of) {
  kernels::Transpose transpose;
  for (const int64_t each : onnx::PermutationOf(of.node, of.context.rank(0))) transpose.perm.push_back(static_cast<size_t>(each));
  of.lowered.params = std::move(transpose);
  return Status::Ok();
}

Status LowerSlice(Lowering& of) {
  std::optional<std::vector<int64_t>> starts, axes, steps;
  WF_RETURN_IF_ERROR(of.context.IntsOf("starts", 1, starts));
  WF_RETURN_IF_ERROR(of.context.IntsOf("axes", 3, axes));
  WF_RETURN_IF_ERROR(of.context.IntsOf("steps", 4, steps));
  const std::vector<int64_t> in = Extents(of.context.in(0).dim, 0);
  kernels::Slice slice{std::vector<int64_t>(in.size(), 0), std::vector<int64_t>(in.size(), 1)};
  for (size_t i = 0; starts && i < starts->size(); ++i) {
    const size_t axis = axes ? FromEnd((*axes)[i], in.size()) : i;
    const int64_t n = in[axis], step = steps ? (*steps)[i] : 1, start = (*starts)[i];
    slice.step[axis] = step;
    slice.start[axis] = std::clamp<int64_t>(start < 0 ? std::max(start, -n) + n : start, 0, step > 0 ? n : std::max<int64_t>(n - 1, 0));
  }
  of.lowered.params = std::move(slice);
  of.KeepInputs(1);
  return Status::Ok();
}

Status LowerPad(Lowering& of) {
  using enum kernels::Pad::Mode;
  std::optional<std::vector<int64_t>> pads, axes;
  WF_RETURN_IF_ERROR(of.context.IntsOf("pads", 1, pads));
  WF_RETURN_IF_ERROR(of.context.IntsOf("axes", 3, axes));
  const std::string_view mode = of.node.String("mode", "constant");
  const size_t rank = of.context.rank(0);
  kernels::Pad pad;
  pad.mode = mode == "edge" ? kEdge : mode == "reflect" ? kReflect : mode == "wrap" ? kWrap : kConstant;
  pad.value = of.node.Float("value", 0);
  pad.begin.assign(rank, 0);
  const size_t count = pads ? pads->size() / 2 : 0;
  for (size_t i = 0; i < count; ++i) pad.begin[axes ? FromEnd((*axes)[i], rank) : i] = (*pads)[i];
  of.lowered.params = std::move(pad);
  of.KeepInputs(1);
  if (of.context.has_in(2)) of.lowered.in.push_back(of.node.in[2]);
  return Status::Ok();
}

// Cut or padded as much at both ends; what is left over, at the end.
Status LowerCenterCropPad(Lowering& of) {
  const std::vector<int64_t> in = Extents(of.context.in(0).dim, 0), out = Extents(of.known_out(0).dim, 0);
  kernels::Pad pad;
  for (size_t i = 0; i < in.size(); ++i) pad.begin.push_back(out[i] < in[i] ? -((in[i] - out[i]) / 2) : (out[i] - in[i]) / 2);
  of.lowered.params = std::move(pad);
  of.KeepInputs(1);
  return Status::Ok();
}

}  // namespace wf::model
