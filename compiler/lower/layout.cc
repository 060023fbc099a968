#include "compiler/lower/layout.h"

#include <cstddef>

#include "runtime/abi/values.h"
#include "runtime/base/check.h"

namespace wf::lower {
namespace {

using ir::TypeKind;
using llvm::Value;
using Builder = llvm::IRBuilder<>;

Leaves LoadTensor(Context& context, Builder& b, const ir::Type& type, Value* address) {
  Leaves leaves{b.CreateLoad(b.getPtrTy(), Offset(b, address, offsetof(wf_tensor, data)), "data")};
  const size_t rank = type.dims.size();
  for (size_t axis = 0; axis < rank; ++axis) {
    const int64_t known = type.dims[axis];
    Value* dim = context.Int64(static_cast<uint64_t>(known));
    if (known < 0) dim = b.CreateLoad(b.getInt64Ty(), Offset(b, address, offsetof(wf_tensor, dim) + 8 * axis), "dim");
    leaves.push_back(dim);
  }
  for (size_t axis = 0; axis + 1 < rank; ++axis) {
    leaves.push_back(b.CreateLoad(b.getInt64Ty(), Offset(b, address, offsetof(wf_tensor, stride) + 8 * axis), "stride"));
  }
  return leaves;
}

void StoreTensor(Context& context, Builder& b, const ir::Type& type, llvm::ArrayRef<Value*> leaves, Value* address) {
  const size_t rank = type.dims.size();
  const uint64_t head = static_cast<uint64_t>(type.dtype) | uint64_t{rank} << 8;  // dtype, rank, space 0, flags 0, device 0
  static_assert(offsetof(wf_tensor, rank) == offsetof(wf_tensor, dtype) + 1 &&
                offsetof(wf_tensor, device) == offsetof(wf_tensor, dtype) + 4);
  b.CreateStore(leaves[0], Offset(b, address, offsetof(wf_tensor, data)));
  b.CreateStore(context.Int64(head), Offset(b, address, offsetof(wf_tensor, dtype)));
  for (size_t axis = 0; axis < rank; ++axis) {
    b.CreateStore(leaves[1 + axis], Offset(b, address, offsetof(wf_tensor, dim) + 8 * axis));
    Value* stride = axis + 1 < rank ? leaves[1 + rank + axis] : context.Int64(1);
    b.CreateStore(stride, Offset(b, address, offsetof(wf_tensor, stride) + 8 * axis));
  }
}

Value* LoadScalar(Context& context, Builder& b, ir::DType dtype, Value* address) {
  Value* value = b.CreateLoad(context.Memory(dtype), address);
  return dtype == ir::DType::kBool ? b.CreateICmpNE(value, b.getInt8(0)) : value;
}

void StoreScalar(Builder& b, ir::DType dtype, Value* value, Value* address) {
  b.CreateStore(dtype == ir::DType::kBool ? b.CreateZExt(value, b.getInt8Ty()) : value, address);
}

}  // namespace

Value* Offset(Builder& b, Value* address, uint64_t bytes) {
  return bytes == 0 ? address : b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), address, bytes);
}

size_t LeafCount(const ir::TypeTable& types, ir::TypeId id) {
  const ir::Type& type = types[id];
  switch (type.kind) {
    case TypeKind::kScalar:
      return 1;
    case TypeKind::kString:
    case TypeKind::kBytes:
    case TypeKind::kList:
    case TypeKind::kMap:
      return 2;
    case TypeKind::kTensor:
      return type.dims.empty() ? 1 : 2 * type.dims.size();
    case TypeKind::kRecord:
      return FieldLeaf(types, id, type.fields.size());
    case TypeKind::kOptional:
      return LeafCount(types, type.element) + 1;
  }
  return 0;
}

size_t FieldLeaf(const ir::TypeTable& types, ir::TypeId record, size_t field) {
  size_t leaf = 0;
  for (size_t i = 0; i < field; ++i) leaf += LeafCount(types, types[record].fields[i].type);
  return leaf;
}

void AppendLeafTypes(Context& context, ir::TypeId id, llvm::SmallVectorImpl<llvm::Type*>& types) {
  const ir::Type& type = context.type(id);
  switch (type.kind) {
    case TypeKind::kScalar:
      types.push_back(context.Register(type.dtype));
      return;
    case TypeKind::kString:
    case TypeKind::kBytes:
    case TypeKind::kList:
    case TypeKind::kMap:
      types.append({context.Ptr(), context.I64()});
      return;
    case TypeKind::kTensor:
      types.push_back(context.Ptr());
      types.append(LeafCount(context.types(), id) - 1, context.I64());
      return;
    case TypeKind::kRecord:
      for (const ir::Field& field : type.fields) AppendLeafTypes(context, field.type, types);
      return;
    case TypeKind::kOptional:
      AppendLeafTypes(context, type.element, types);
      types.push_back(context.I1());
      return;
  }
}

Leaves LoadValue(Context& context, Builder& b, ir::TypeId id, Value* address) {
  const ir::Type& type = context.type(id);
  Leaves leaves;
  switch (type.kind) {
    case TypeKind::kScalar:
      return {LoadScalar(context, b, type.dtype, address)};
    case TypeKind::kString:
    case TypeKind::kBytes:
    case TypeKind::kList:
    case TypeKind::kMap:
      return {b.CreateLoad(b.getPtrTy(), address, "ptr"), b.CreateLoad(b.getInt64Ty(), Offset(b, address, 8), "len")};
    case TypeKind::kTensor:
      return LoadTensor(context, b, type, address);
    case TypeKind::kRecord:
      for (size_t i = 0; i < type.fields.size(); ++i) {
        leaves.append(LoadValue(context, b, type.fields[i].type, Offset(b, address, ir::FieldOffset(context.types(), id, i))));
      }
      return leaves;
    case TypeKind::kOptional:
      leaves = LoadValue(context, b, type.element, address);
      leaves.push_back(LoadScalar(context, b, ir::DType::kBool, Offset(b, address, ir::LayoutOf(context.types(), type.element).size)));
      return leaves;
  }
  return leaves;
}

void StoreValue(Context& context, Builder& b, ir::TypeId id, llvm::ArrayRef<Value*> leaves, Value* address) {
  const ir::Type& type = context.type(id);
  WF_CHECK(leaves.size() == LeafCount(context.types(), id), leaves.size());
  switch (type.kind) {
    case TypeKind::kScalar:
      StoreScalar(b, type.dtype, leaves[0], address);
      return;
    case TypeKind::kString:
    case TypeKind::kBytes:
    case TypeKind::kList:
    case TypeKind::kMap:
      b.CreateStore(leaves[0], address);
      b.CreateStore(leaves[1], Offset(b, address, 8));
      return;
    case TypeKind::kTensor:
      StoreTensor(context, b, type, leaves, address);
      return;
    case TypeKind::kRecord:
      for (size_t i = 0, leaf = 0; i < type.fields.size(); ++i) {
        const size_t n = LeafCount(context.types(), type.fields[i].type);
        StoreValue(context, b, type.fields[i].type, leaves.slice(leaf, n), Offset(b, address, ir::FieldOffset(context.types(), id, i)));
        leaf += n;
      }
      return;
    case TypeKind::kOptional:
      StoreValue(context, b, type.element, leaves.drop_back(), address);
      StoreScalar(b, ir::DType::kBool, leaves.back(), Offset(b, address, ir::LayoutOf(context.types(), type.element).size));
      return;
  }
}

Leaves ZeroValue(Context& context, ir::TypeId type) {
  llvm::SmallVector<llvm::Type*, 8> types;
  AppendLeafTypes(context, type, types);
  Leaves leaves;
  for (llvm::Type* leaf : types) leaves.push_back(llvm::Constant::getNullValue(leaf));
  return leaves;
}

Leaves ConstantValue(Context& context, Builder& b, size_t constant) {
  const ir::Constant& row = context.program().constants[constant];
  const ir::Type& type = context.type(row.type);
  switch (type.kind) {
    case TypeKind::kString:
    case TypeKind::kBytes:
      return {context.ConstantData(constant), context.Int64(row.value.text ? row.value.text->size() : 0)};
    case TypeKind::kTensor: {
      Leaves leaves{context.ConstantData(constant)};
      for (const int64_t dim : row.value.dims) leaves.push_back(context.Int64(static_cast<uint64_t>(dim)));
      int64_t stride = 1;
      llvm::SmallVector<Value*, 4> strides;
      for (size_t axis = row.value.dims.size(); axis-- > 1;)
        strides.push_back(context.Int64(static_cast<uint64_t>(stride *= row.value.dims[axis])));
      leaves.append(strides.rbegin(), strides.rend());
      return leaves;
    }
    case TypeKind::kScalar:
    case TypeKind::kRecord:
    case TypeKind::kList:
    case TypeKind::kMap:
    case TypeKind::kOptional:
      break;
  }
  return LoadValue(context, b, row.type, context.Constant(row.type, row.value));
}

}  // namespace wf::lower
