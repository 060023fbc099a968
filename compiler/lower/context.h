#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <llvm/ADT/StringMap.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include "compiler/ir/ir.h"
#include "compiler/lower/cpu_features.h"
#include "compiler/lower/lower.h"

namespace wf::lower {

class Image;

// The module being made and what all its functions share: declarations of the runtime, texts, tables, constants' images.
// Thread: loop-confined.   Borrows: program, module.
class Context {
 public:
  Context(const ir::Program& program, llvm::Module& module, const Options& options);

  const ir::Program& program() const { return program_; }
  const ir::TypeTable& types() const { return program_.types; }
  const ir::Type& type(ir::TypeId id) const { return program_.types[id]; }
  const Options& options() const { return options_; }
  llvm::Module& module() { return module_; }
  llvm::LLVMContext& llvm() { return module_.getContext(); }

  llvm::IntegerType* I1() { return llvm::Type::getInt1Ty(llvm()); }
  llvm::IntegerType* I8() { return llvm::Type::getInt8Ty(llvm()); }
  llvm::IntegerType* I16() { return llvm::Type::getInt16Ty(llvm()); }
  llvm::IntegerType* I32() { return llvm::Type::getInt32Ty(llvm()); }
  llvm::IntegerType* I64() { return llvm::Type::getInt64Ty(llvm()); }
  llvm::PointerType* Ptr() { return llvm::PointerType::getUnqual(llvm()); }
  // In registers bool is i1 and f16, bf16 are i16 (their bits); in memory bool is i8.
  llvm::Type* Register(ir::DType dtype);
  llvm::Type* Memory(ir::DType dtype);
  llvm::ConstantInt* Int64(uint64_t value) { return llvm::ConstantInt::get(I64(), value); }

  // A function of runtime_symbols.def, declared from its row there.
  llvm::Function* Runtime(std::string_view name);
  // A native body: wf_code name(wf_ctx *, arguments by pointer.., result by pointer).
  llvm::Function* Native(const std::string& name, size_t arguments, bool is_typed);
  // A function of libc with this type.
  llvm::FunctionCallee Libc(const char* name, llvm::Type* result, std::initializer_list<llvm::Type*> parameters);

  // The bytes as a private constant; equal texts share one.
  llvm::Constant* Text(std::string_view text);
  // Many at once, that Text knows from then on: one private constant holds them, for one each costs LLVM and the linker a kilobyte.
  void AddTexts(const std::vector<std::string_view>& texts);
  // The data of a tensor: 64-aligned, readable to the next multiple of 64 bytes. Long ones are declared and left to codegen (BigConstants).
  llvm::Constant* TensorData(std::string_view bytes);
  // One of both, as the type wants it; long ones that values share are looked at once.
  llvm::Constant* Bytes(const ir::Type& type, const ir::Value& value);
  llvm::Constant* ConstantData(size_t program_constant);
  // The image as a private constant that nobody changes; equal ones share one, so that functions that name it may be equal, too. Null: it
  // is empty.
  llvm::GlobalVariable* Shared(const Image& image, const char* name);
  // The value's fixed part laid out as its type, in constant memory.
  llvm::Constant* Constant(ir::TypeId type, const ir::Value& value);

  // The table of wf_type rows: of each type, then of each that ports write with names of their own for its dimensions.
  using WrittenTypes = std::map<std::pair<ir::TypeId, std::string>, uint16_t>;
  llvm::GlobalVariable* type_table() const { return type_table_; }
  void set_type_table(llvm::GlobalVariable* table, WrittenTypes written) { type_table_ = table, written_types_ = std::move(written); }
  size_t type_rows() const { return types().size() + written_types_.size(); }
  uint16_t RowOf(const ir::Port& port) const;
  llvm::Constant* TypeRow(size_t row);

  // A function of the module, local to it, for the CPU that every generated function may assume.
  llvm::Function* NewFunction(llvm::FunctionType* type, const llvm::Twine& name);
  void SetCpu(llvm::Function* function, std::string_view cpu);
  // "x86-64-v3" for generic
  const std::string& base_cpu() const { return base_cpu_; }
  std::vector<CpuFeature> NeededFeatures() const;  // by what is made for it

 private:
  llvm::GlobalVariable* NewText(std::string_view text);

  const ir::Program& program_;
  llvm::Module& module_;
  const Options& options_;
  std::string base_cpu_;
  std::vector<std::string> left_out_;  // features of `native`'s CPU that this machine hides
  llvm::GlobalVariable* type_table_ = nullptr;
  WrittenTypes written_types_;
  llvm::StringMap<llvm::Constant*> texts_;
  std::map<std::string, llvm::Constant*, std::less<>> tensors_;
  std::map<std::pair<std::shared_ptr<const std::string>, bool>, llvm::Constant*> long_bytes_;  // and whether of a tensor
  std::map<llvm::Constant*, llvm::GlobalVariable*> shared_;                                    // by initializer, which LLVM has once
};

// A constant of at least this many bytes is a section of its own (BigConstants).
inline constexpr size_t kBigConstantBytes = size_t{1} << 20;
std::string BigConstantSymbol(size_t program_constant);

}  // namespace wf::lower
