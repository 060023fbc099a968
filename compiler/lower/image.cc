#include "compiler/lower/image.h"

#include <algorithm>

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>

#include "runtime/base/check.h"

namespace wf::lower {

void Image::Embed(size_t offset, const Image& part) {
  Write(offset, part.bytes_.data(), part.bytes_.size());
  for (const auto& [at, target] : part.pointers_) pointers_.emplace_back(offset + at, target);
}

// A packed struct: runs of bytes, and pointers between them.
llvm::Constant* Image::Finish(llvm::LLVMContext& context) const {
  std::vector<std::pair<size_t, llvm::Constant*>> pointers = pointers_;
  std::sort(pointers.begin(), pointers.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<llvm::Constant*> parts;
  size_t at = 0;
  const auto bytes_until = [&](size_t end) {
    WF_CHECK(at <= end && end <= bytes_.size(), at, end, bytes_.size());
    if (end > at)
      parts.push_back(llvm::ConstantDataArray::getRaw({bytes_.data() + at, end - at}, end - at, llvm::Type::getInt8Ty(context)));
    at = end;
  };
  for (const auto& [offset, target] : pointers) {
    bytes_until(offset);
    parts.push_back(target);
    at += sizeof(void*);
  }
  bytes_until(bytes_.size());
  return llvm::ConstantStruct::getAnon(context, parts, true);
}

llvm::GlobalVariable* Image::Global(llvm::Module& module, const llvm::Twine& name, unsigned align) const {
  if (bytes_.empty()) return nullptr;
  llvm::Constant* value = Finish(module.getContext());
  auto* global = new llvm::GlobalVariable(module, value->getType(), true, llvm::GlobalValue::PrivateLinkage, value, name);
  global->setAlignment(llvm::Align(align));
  return global;
}

}  // namespace wf::lower
