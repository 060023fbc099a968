#pragma once

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/Module.h>

namespace wf::lower {

// Bytes with pointers in them, built at their offsets and then made a constant of the module. The compiler's own ABI is the target's, so C
// structs are copied in whole; their pointer members stay null there and are set by Pointer.
class Image {
 public:
  explicit Image(size_t size = 0) : bytes_(size) {}
  size_t size() const { return bytes_.size(); }

  void Write(size_t offset, const void* data, size_t size) {
    if (size != 0) std::memcpy(bytes_.data() + offset, data, size);
  }
  // Appends a struct (or number); the offset it got.
  template <typename T>
  size_t Add(const T& value) {
    const size_t offset = bytes_.size();
    bytes_.resize(offset + sizeof(T));
    Write(offset, &value, sizeof(T));
    return offset;
  }
  void Pointer(size_t offset, llvm::Constant* target) {
    if (target != nullptr) pointers_.emplace_back(offset, target);
  }
  void Embed(size_t offset, const Image& part);

  llvm::Constant* Finish(llvm::LLVMContext& context) const;
  // A private constant of the module holding these bytes; null when there are none.
  llvm::GlobalVariable* Global(llvm::Module& module, const llvm::Twine& name, unsigned align = 8) const;

 private:
  std::vector<char> bytes_;
  std::vector<std::pair<size_t, llvm::Constant*>> pointers_;
};

}  // namespace wf::lower
