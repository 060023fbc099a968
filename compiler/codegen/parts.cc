#include "compiler/codegen/parts.h"

#include <algorithm>

#include <llvm/ADT/SetVector.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/raw_ostream.h>

#include "runtime/base/check.h"

namespace wf::codegen {
namespace {

constexpr uint64_t kMostCopiedBytes = 4096;  // constants up to here are known in every part that reads them

using Values = llvm::SmallSetVector<llvm::GlobalValue*, 32>;

bool IsBody(const llvm::Function& function) { return !function.isDeclaration() && function.hasFnAttribute("wf-body"); }

// Nobody compares the addresses of constants.
bool MayCopy(const llvm::GlobalVariable& data) {
  return data.hasLocalLinkage() && data.isConstant() && data.hasInitializer() && !data.getInitializer()->needsRelocation() &&
         data.getDataLayout().getTypeAllocSize(data.getValueType()) <= kMostCopiedBytes;
}

void AddNamed(llvm::Constant* constant, Values& named) {
  if (auto* global = llvm::dyn_cast<llvm::GlobalValue>(constant)) {
    named.insert(global);
    return;
  }
  for (llvm::Use& use : constant->operands()) AddNamed(llvm::cast<llvm::Constant>(use.get()), named);
}

// The functions themselves, what they name, and what functions that parts do not share, but copy, name in turn.
Values Reached(const std::vector<llvm::Function*>& from) {
  Values reached(from.begin(), from.end());
  for (size_t i = 0; i < reached.size(); ++i) {
    auto* function = llvm::dyn_cast<llvm::Function>(reached[i]);
    if (function == nullptr || (i >= from.size() && !function->hasLocalLinkage())) continue;
    for (llvm::BasicBlock& block : *function) {
      for (llvm::Instruction& instruction : block) {
        for (llvm::Use& use : instruction.operands()) {
          if (auto* constant = llvm::dyn_cast<llvm::Constant>(use.get())) AddNamed(constant, reached);
        }
      }
    }
  }
  return reached;
}

void Share(llvm::GlobalValue& value) {
  if (!value.hasLocalLinkage()) return;
  value.setName("part." + value.getName());  // no name of C or C++
  value.setLinkage(llvm::GlobalValue::ExternalLinkage);
  value.setVisibility(llvm::GlobalValue::HiddenVisibility);
  value.setDSOLocal(true);
}

// The largest first, each to the part that has least. The first part has all that stays.
std::vector<std::vector<llvm::Function*>> Divide(llvm::Module& module, size_t most, size_t least) {
  std::vector<std::pair<size_t, llvm::Function*>> bodies;
  size_t stays = 0, all = 0;
  for (llvm::Function& function : module) {
    const size_t size = function.getInstructionCount();
    all += size;
    if (IsBody(function)) {
      bodies.emplace_back(size, &function);
    } else {
      stays += size;
    }
  }
  std::vector<std::vector<llvm::Function*>> parts(std::clamp<size_t>(all / least, 1, most));
  std::vector<size_t> sizes(parts.size());
  sizes[0] = stays;
  std::stable_sort(bodies.begin(), bodies.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [size, body] : bodies) {
    const auto smallest = static_cast<size_t>(std::min_element(sizes.begin(), sizes.end()) - sizes.begin());
    sizes[smallest] += size;
    parts[smallest].push_back(body);
  }
  return parts;
}

}  // namespace

Parts::Parts(llvm::Module& module, size_t most, size_t least) {
  const std::vector<std::vector<llvm::Function*>> parts = Divide(module, most, least);
  std::vector<llvm::Function*> leave;
  for (size_t i = 1; i < parts.size(); ++i) {
    if (!parts[i].empty()) leave.insert(leave.end(), parts[i].begin(), parts[i].end());
  }
  if (leave.empty()) return;
  for (llvm::Function* body : leave) Share(*body);
  for (llvm::GlobalValue* value : Reached(leave)) {
    const auto* data = llvm::dyn_cast<llvm::GlobalVariable>(value);
    if (data != nullptr && !MayCopy(*data)) Share(*value);
  }
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].empty()) continue;
    Names& names = others_.emplace_back();
    for (const llvm::Function* body : parts[i]) names.insert(body->getName());
  }
  llvm::raw_svector_ostream out(bitcode_);
  llvm::WriteBitcodeToFile(module, out);
  for (llvm::Function* body : leave) body->deleteBody();
}

std::unique_ptr<llvm::Module> Parts::Read(size_t other, llvm::LLVMContext& context) const {
  auto read = llvm::parseBitcodeFile(llvm::MemoryBufferRef({bitcode_.data(), bitcode_.size()}, "plan"), context);
  WF_CHECK(!!read, llvm::toString(read.takeError()));  // what was written above
  std::unique_ptr<llvm::Module> module = std::move(*read);
  std::vector<llvm::Function*> bodies;
  for (llvm::Function& function : *module) {
    if (others_[other].contains(function.getName())) bodies.push_back(&function);
  }
  const Values reached = Reached(bodies);
  const auto is_kept = [&](llvm::GlobalValue& value) { return reached.contains(&value) && value.hasLocalLinkage(); };
  for (llvm::Function& function : *module) {
    if (!function.isDeclaration() && !others_[other].contains(function.getName()) && !is_kept(function)) function.deleteBody();
  }
  for (llvm::GlobalVariable& data : llvm::make_early_inc_range(module->globals())) {
    if (data.hasAppendingLinkage()) {  // what runs at the start and what must stay: of the first part
      data.eraseFromParent();
    } else if (data.hasInitializer() && !(MayCopy(data) && is_kept(data))) {
      data.setInitializer(nullptr);
      data.setLinkage(llvm::GlobalValue::ExternalLinkage);
    }
  }
  return module;
}

}  // namespace wf::codegen
