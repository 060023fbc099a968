#include "compiler/lower/parts.h"

#include <algorithm>

#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/CodeExtractor.h>

#include "runtime/base/check.h"

namespace wf::lower {
namespace {

using ir::OpKind;
using llvm::BasicBlock;
using Region = llvm::SetVector<BasicBlock*>;

// Instructions that the operation becomes, roughly, as counted in what is written; those of its blocks are counted again when they are
// written.
uint64_t WeightOf(const ir::Body& body, const ir::Op& op) {
  const uint64_t args = op.args.size();
  uint64_t weight = 4 + 4 * args;
  switch (op.kind) {
    case OpKind::kBuild:  // rows as lanes, in blocks, and what is left of them
      weight = 1'000 * args;
      break;
    case OpKind::kReduce:
      weight = 300;
      break;
    case OpKind::kFold:
    case OpKind::kListBuild:
    case OpKind::kListFilter:
    case OpKind::kListOfTensor:
    case OpKind::kTensorOfList:
    case OpKind::kMapKeys:
    case OpKind::kMapValues:
    case OpKind::kMapGet:
      weight = 100;
      break;
    case OpKind::kText:
      weight = 50 + 20 * args;
      break;
    case OpKind::kListGet:
      weight = 50;
      break;
    default:
      break;
  }
  for (const ir::BlockId block : op.blocks) weight += 4 * body[block].ops.size();
  return weight;
}

Region BlocksOf(const Part& part, const std::vector<BasicBlock*>& exits) {
  Region region;
  region.insert(part.begin);
  for (size_t i = 0; i < region.size(); ++i) {
    for (BasicBlock* next : llvm::successors(region[i])) {
      if (next != part.end && std::find(exits.begin(), exits.end(), next) == exits.end()) region.insert(next);
    }
  }
  return region;
}

// Is the memory read and written in the region alone, and its address known nowhere else?
bool IsUsedWithin(const llvm::Value& address, const Region& region) {
  for (const llvm::User* user : address.users()) {
    const auto* instruction = llvm::cast<llvm::Instruction>(user);
    if (!region.contains(const_cast<BasicBlock*>(instruction->getParent()))) return false;
    if (llvm::isa<llvm::LoadInst>(instruction)) continue;
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(instruction);
    if (store != nullptr && store->getValueOperand() != &address) continue;
    if (!llvm::isa<llvm::GetElementPtrInst>(instruction) || !IsUsedWithin(*instruction, region)) return false;
  }
  return true;
}

std::vector<llvm::AllocaInst*> LocalsOf(llvm::Function& function, const Region& region) {
  std::vector<llvm::AllocaInst*> locals;
  for (llvm::Instruction& instruction : function.getEntryBlock()) {
    auto* local = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (local != nullptr && !local->use_empty() && IsUsedWithin(*local, region)) locals.push_back(local);
  }
  return locals;
}

// Names of its own for what the region reads from outside: extracting a region goes through all users of each of its inputs, wherever
// they are. LLVM takes the names away again.
void NameInputs(const Region& region, const std::vector<llvm::AllocaInst*>& locals) {
  llvm::MapVector<llvm::Value*, llvm::Value*> names;
  BasicBlock& begin = *region.front();
  for (BasicBlock* block : region) {
    for (llvm::Instruction& instruction : *block) {
      for (llvm::Use& operand : instruction.operands()) {
        llvm::Value* const value = operand.get();
        auto* const defined = llvm::dyn_cast<llvm::Instruction>(value);
        const bool is_outside = llvm::isa<llvm::Argument>(value) || (defined != nullptr && !region.contains(defined->getParent()));
        if (!is_outside || !value->getType()->isSingleValueType() || std::find(locals.begin(), locals.end(), value) != locals.end())
          continue;
        llvm::Value*& name = names[value];
        if (name == nullptr) name = new llvm::BitCastInst(value, value->getType(), "");
        operand.set(name);
      }
    }
  }
  for (const auto& [value, name] : names) llvm::cast<llvm::Instruction>(name)->insertBefore(begin.getFirstInsertionPt());
}

}  // namespace

PartCutter::PartCutter(const ir::Body& body, uint64_t part_weight) : body_(body), part_weight_(part_weight) {
  uint64_t weight = 0;
  for (const ir::Op& op : body.ops) weight += WeightOf(body, op);
  are_needed_ = weight > 2 * part_weight;
}

void PartCutter::Add(const ir::Op& op) { weight_ += WeightOf(body_, op); }

Part PartCutter::Begin(llvm::IRBuilder<>& b) {
  if (!are_needed_) return {};
  const Part part{BasicBlock::Create(b.getContext(), "part", b.GetInsertBlock()->getParent()), nullptr, weight_};
  b.CreateBr(part.begin);
  b.SetInsertPoint(part.begin);
  return part;
}

void PartCutter::End(llvm::IRBuilder<>& b, Part& part) {
  if (!are_needed_ || weight_ - part.weight < part_weight_) return;
  weight_ = part.weight + 1;  // a call is left
  const Part next = Begin(b);
  part.end = next.begin;
  parts_.push_back(part);
  part = next;
}

void PartCutter::Outline(llvm::Function& function, const std::vector<BasicBlock*>& exits) const {
  if (parts_.empty()) return;
  for (const Part& part : parts_) {
    const Region region = BlocksOf(part, exits);
    NameInputs(region, LocalsOf(function, region));
  }
  const llvm::CodeExtractorAnalysisCache cache(function);
  for (const Part& part : parts_) {
    const Region region = BlocksOf(part, exits);
    llvm::CodeExtractor extractor(region.getArrayRef(), nullptr, true, nullptr, nullptr, nullptr, false, true, nullptr, "part");
    if (!extractor.isEligible()) continue;
    const std::vector<llvm::AllocaInst*> locals = LocalsOf(function, region);
    for (llvm::AllocaInst* local : locals) local->moveBefore(*part.begin, part.begin->getFirstInsertionPt());
    llvm::SetVector<llvm::Value*> inputs, outputs;
    extractor.findInputsOutputs(inputs, outputs, {});
    // LLVM 19 takes the wrong argument for the aggregate when inputs are in it.
    for (llvm::Value* input : inputs) extractor.excludeArgFromAggregate(input);
    llvm::Function* outlined = extractor.extractCodeRegion(cache, inputs, outputs);
    WF_CHECK(outlined != nullptr, function.getName().str());  // of one that is eligible
    outlined->addFnAttr(llvm::Attribute::NoInline);
    BasicBlock& entry = outlined->getEntryBlock();
    for (llvm::AllocaInst* local : locals) local->moveBefore(entry, entry.begin());
  }
}

}  // namespace wf::lower
