#include "tests/unit/support/native.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "compiler/codegen/codegen.h"
#include "compiler/ir/verify.h"
#include "compiler/link/lld.h"
#include "compiler/lower/lower.h"
#include "runtime/abi/version.h"
#include "runtime/base/check.h"

extern "C" {
extern const char WF_ABI_SYMBOL;
const char WF_ABI_SYMBOL = 1;
}

namespace wf::test {

using ir::DType;
using ir::TypeKind;

SharedObject::SharedObject(const ir::Program& program, const std::string& cpu, int opt_level, [[maybe_unused]] bool watch,
                           uint64_t part_weight) {
  const auto broken = ir::Verify(program);
  WF_CHECK(!broken, *broken);
  llvm::LLVMContext context;
  lower::Options options;
  options.target_cpu = cpu;
  if (part_weight > 0) options.part_weight = part_weight;
  const auto module = lower::Lower(program, context, options);
  codegen::Options code;
  code.opt_level = opt_level;
  code.verify = true;
#ifdef WF_ADDRESS_SANITIZER
  if (watch) code.sanitizer = codegen::Sanitizer::kAddress;
#endif
  for (const lower::BigConstant& constant : lower::BigConstants(program)) code.big_constants.push_back({constant.symbol, constant.bytes});
  llvm::SmallVector<char, 0> object;
  const base::Status emitted = codegen::EmitObject(*module, code, object);
  WF_CHECK(emitted.ok(), emitted.message());
  object_.assign(object.begin(), object.end());
  const char* const folder = std::getenv("TMPDIR");
  path_ = std::string(folder == nullptr || *folder == '\0' ? "/tmp" : folder) + "/wf-native-XXXXXX";
  const int file = mkstemp(path_.data());
  WF_CHECK(file >= 0, path_, errno);
  close(file);
  const std::string linked_from = path_ + ".o";
  std::ofstream(linked_from, std::ios::binary) << object_;
  const base::Status linked = link::RunLld({"-shared", "-z", "lazy", "--threads=1", "-o", path_, linked_from});
  unlink(linked_from.c_str());
  WF_CHECK(linked.ok(), linked.message());
}

SharedObject::~SharedObject() { unlink(path_.c_str()); }

Native::Native(const ir::Program& program, const std::string& cpu, int opt_level, bool watch, uint64_t part_weight) {
  const SharedObject shared(program, cpu, opt_level, watch, part_weight);  // no longer than this: a run that is killed leaves no file
  handle_ = dlopen(shared.path().c_str(), RTLD_LAZY | RTLD_LOCAL);
  WF_CHECK(handle_ != nullptr, dlerror());
  object_ = shared.object();
  plan_ = static_cast<const wf_plan*>(dlsym(handle_, "wf_plan_main"));
}

Native::~Native() { dlclose(handle_); }

namespace {

std::string TakeText(const wf_bytes& bytes) { return {reinterpret_cast<const char*>(bytes.ptr), bytes.len}; }

ir::Value TakeTensor(const wf_tensor& tensor) {
  const std::vector<int64_t> dims(tensor.dim, tensor.dim + tensor.rank);
  const size_t size = ir::SizeOf(static_cast<DType>(tensor.dtype));
  std::string elements;
  std::vector<int64_t> at(dims.size(), 0);
  for (;;) {
    int64_t offset = 0;
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      if (dims[axis] == 0) return ir::Value::Tensor(dims, "");
      offset += at[axis] * tensor.stride[axis];
    }
    elements.append(static_cast<const char*>(tensor.data) + static_cast<size_t>(offset) * size, size);
    size_t axis = dims.size();
    while (axis-- > 0) {
      if (++at[axis] < dims[axis]) break;
      at[axis] = 0;
    }
    if (axis == static_cast<size_t>(-1)) return ir::Value::Tensor(dims, elements);
  }
}

ir::Value TakeMap(const ir::TypeTable& types, const ir::Type& type, const wf_list& list) {
  const ir::Layout value = ir::LayoutOf(types, type.element);
  const auto aligned = [](size_t size, size_t to) { return (size + to - 1) / to * to; };
  const size_t value_at = aligned(sizeof(wf_bytes), value.align), size = aligned(value_at + value.size, std::max<size_t>(value.align, 8));
  ir::Value map;
  std::vector<std::string> keys;
  std::vector<ir::Value> items;
  for (uint64_t i = 0; i < list.len; ++i) {
    const char* const entry = static_cast<const char*>(list.ptr) + i * size;
    keys.push_back(TakeText(*reinterpret_cast<const wf_bytes*>(entry)));
    items.push_back(Take(types, type.element, entry + value_at));
  }
  map.keys = std::make_shared<const std::vector<std::string>>(std::move(keys));
  map.items = std::make_shared<const std::vector<ir::Value>>(std::move(items));
  return map;
}

}  // namespace

ir::Value Take(const ir::TypeTable& types, ir::TypeId id, const void* address) {
  const ir::Type& type = types[id];
  const char* at = static_cast<const char*>(address);
  switch (type.kind) {
    case TypeKind::kScalar: {
      uint64_t bits = 0;
      std::memcpy(&bits, at, ir::SizeOf(type.dtype));
      return ir::Value::Scalar(bits);
    }
    case TypeKind::kString:
    case TypeKind::kBytes:
      return ir::Value::Text(TakeText(*static_cast<const wf_bytes*>(address)));
    case TypeKind::kTensor: {
      const auto& tensor = *static_cast<const wf_tensor*>(address);
      WF_CHECK(tensor.dtype == static_cast<uint8_t>(type.dtype) && tensor.rank == type.dims.size(), tensor.dtype, tensor.rank);
      return TakeTensor(tensor);
    }
    case TypeKind::kRecord: {
      std::vector<ir::Value> fields;
      for (size_t i = 0; i < type.fields.size(); ++i)
        fields.push_back(Take(types, type.fields[i].type, at + ir::FieldOffset(types, id, i)));
      return ir::Value::Items(std::move(fields));
    }
    case TypeKind::kOptional: {
      ir::Value value = ir::Value::Scalar(static_cast<uint64_t>(at[ir::LayoutOf(types, type.element).size]));
      if (value.bits != 0) value.items = std::make_shared<const std::vector<ir::Value>>(1, Take(types, type.element, at));
      return value;
    }
    case TypeKind::kList: {
      const auto& list = *static_cast<const wf_list*>(address);
      const uint32_t size = ir::LayoutOf(types, type.element).size;
      std::vector<ir::Value> items;
      for (uint64_t i = 0; i < list.len; ++i) items.push_back(Take(types, type.element, static_cast<const char*>(list.ptr) + i * size));
      return ir::Value::Items(std::move(items));
    }
    case TypeKind::kMap:
      return TakeMap(types, type, *static_cast<const wf_list*>(address));
  }
  return {};
}

}  // namespace wf::test
