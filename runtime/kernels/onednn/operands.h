#pragma once

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/kernels/onednn/library.h"
#include "runtime/kernels/onednn/nan_keeper.h"
#include "runtime/kernels/onednn/shapes.h"
#include "runtime/kernels/operation.h"

// What makers of primitives have in common.
namespace wf::kernels::onednn {

using Made = base::Result<std::unique_ptr<Kernel>>;
inline Made NotHere() { return std::unique_ptr<Kernel>(); }

// The operand of a constant is packed now; others come when the kernel runs.
inline base::Result<Operand> MakeOperand(int arg, int input, const TensorInfo& tensor, const dnnl_memory_desc_t& from,
                                         const dnnl_memory_desc_t& to) {
  Operand operand{arg, input, to, nullptr};
  if (tensor.constant == nullptr) return operand;
  auto packed = Pack(*tensor.constant, from, to);
  if (!packed.ok()) return packed.status();
  operand.input = -1;
  operand.prepared = *std::move(packed);
  return operand;
}

// Input `i` as it is, in the format that `desc` describes.
inline base::Status AddOperand(const Operation& operation, size_t i, int arg, const dnnl_memory_desc_t& desc,
                               std::vector<Operand>& operands) {
  auto operand = MakeOperand(arg, static_cast<int>(i), operation.in[i], desc, desc);
  if (!operand.ok()) return operand.status();
  operands.push_back(*std::move(operand));
  return base::Status::Ok();
}

// For an operation of this kind with `fused` behind it, which `desc` stands for.
template <typename OpDesc>
std::unique_ptr<const NanKeeper> KeeperFor(const Fused& fused, OpDesc op, const PrimitiveDesc& desc) {
  if (!LosesNan(fused)) return nullptr;
  op.src_desc = Query(desc, dnnl_query_src_md);
  op.weights_desc = Query(desc, dnnl_query_weights_md, 0);
  op.dst_desc = Query(desc, dnnl_query_dst_md);
  const auto plain = [op, scale = fused.scale] { return MakeDesc(&op, MakeAttr({.scale = scale})); };
  return std::make_unique<const NanKeeper>(plain, op.dst_desc);
}

// A way of what could be of bf16.
inline constexpr std::string_view kWide = "f32";

// Of the same instructions as the first, or by a matrix product: what is made for other CPUs is slower.
inline bool IsWorthTrying(std::string_view impl, std::string_view own) {
  return impl.substr(impl.find(':') + 1) == own.substr(own.find(':') + 1) || impl.find("gemm") != std::string_view::npos;
}

}  // namespace wf::kernels::onednn
