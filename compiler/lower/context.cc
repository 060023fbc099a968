#include "compiler/lower/context.h"

#include <algorithm>

#include <llvm/IR/DerivedTypes.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/X86TargetParser.h>

#include "compiler/ir/memory.h"
#include "compiler/lower/image.h"
#include "runtime/abi/plan.h"
#include "runtime/base/check.h"

namespace wf::lower {
namespace {

struct RuntimeRow {
  const char *name, *result, *parameters;
};
constexpr RuntimeRow kRuntime[] = {
#define RUNTIME_SYMBOL(name, result, parameters) {#name, #result, parameters},
#include "runtime/abi/runtime_symbols.def"
};

void AppendParameter(Context& context, char letter, llvm::SmallVectorImpl<llvm::Type*>& types) {
  switch (letter) {
    case 'p':
      types.push_back(context.Ptr());
      return;
    case 's':
      types.append({context.Ptr(), context.I64()});
      return;  // a struct of two words travels in two registers
    case 'h':
      types.push_back(context.I16());
      return;
    case 'i':
      types.push_back(context.I32());
      return;
    case 'j':
      types.push_back(context.I64());
      return;
    default:
      WF_CHECK(false, "unknown letter in runtime_symbols.def", letter);
  }
}

std::string CpuName(const std::string& target_cpu) {
  if (target_cpu == "generic") return "x86-64-v3";
  return target_cpu == "native" ? llvm::sys::getHostCPUName().str() : target_cpu;
}

void AppendValue(Context& context, ir::TypeId id, const ir::Value& value, size_t at, Image* image);

// {pointer, length} of items of one type, laid out one after the other.
void AppendItems(Context& context, const ir::Type& type, const ir::Value& value, size_t at, Image* image) {
  const ir::Layout element = ir::LayoutOf(context.types(), type.element);
  const size_t n = value.items ? value.items->size() : 0;
  const bool is_map = type.kind == ir::TypeKind::kMap;
  const size_t align = is_map ? std::max<size_t>(element.align, 8) : element.align;
  const size_t value_at = is_map ? (sizeof(wf_bytes) + element.align - 1) / element.align * element.align : 0;
  const size_t size = (value_at + element.size + align - 1) / align * align;
  Image items(size * n);
  for (size_t i = 0; i < n; ++i) {
    if (is_map) {
      const std::string& key = (*value.keys)[i];
      const uint64_t length = key.size();
      items.Pointer(i * size, context.Text(key));
      items.Write(i * size + 8, &length, 8);
    }
    AppendValue(context, type.element, (*value.items)[i], i * size + value_at, &items);
  }
  const uint64_t length = n;
  image->Pointer(at, items.Global(context.module(), "items"));
  image->Write(at + 8, &length, 8);
}

void AppendTensor(Context& context, const ir::Type& type, const ir::Value& value, size_t at, Image* image) {
  const wf_tensor tensor = ir::DenseTensor(type, value);
  image->Write(at, &tensor, sizeof tensor);
  image->Pointer(at, context.Bytes(type, value));
}

void AppendText(Context& context, const ir::Type& type, const ir::Value& value, size_t at, Image* image) {
  const uint64_t length = value.text ? value.text->size() : 0;
  image->Pointer(at, context.Bytes(type, value));
  image->Write(at + 8, &length, 8);
}

void AppendValue(Context& context, ir::TypeId id, const ir::Value& value, size_t at, Image* image) {
  const ir::Type& type = context.type(id);
  switch (type.kind) {
    case ir::TypeKind::kScalar:
      image->Write(at, &value.bits, ir::SizeOf(type.dtype));
      return;
    case ir::TypeKind::kString:
    case ir::TypeKind::kBytes:
      AppendText(context, type, value, at, image);
      return;
    case ir::TypeKind::kTensor:
      AppendTensor(context, type, value, at, image);
      return;
    case ir::TypeKind::kList:
    case ir::TypeKind::kMap:
      AppendItems(context, type, value, at, image);
      return;
    case ir::TypeKind::kRecord:
      for (size_t i = 0; i < type.fields.size(); ++i) {
        AppendValue(context, type.fields[i].type, (*value.items)[i], at + ir::FieldOffset(context.types(), id, i), image);
      }
      return;
    case ir::TypeKind::kOptional: {
      if (value.bits == 0) return;
      const uint8_t has = 1;
      AppendValue(context, type.element, (*value.items)[0], at, image);
      image->Write(at + ir::LayoutOf(context.types(), type.element).size, &has, 1);
      return;
    }
  }
}

// But for long ones, each of which is worth a constant of its own.
void CollectTexts(const Context& context, ir::TypeId id, const ir::Value& value, std::vector<std::string_view>* texts) {
  const ir::Type& type = context.type(id);
  const size_t n = value.items ? value.items->size() : 0;
  switch (type.kind) {
    case ir::TypeKind::kScalar:
    case ir::TypeKind::kTensor:
      return;
    case ir::TypeKind::kString:
    case ir::TypeKind::kBytes:
      if (value.text && value.text->size() < ir::kLongText) texts->push_back(*value.text);
      return;
    case ir::TypeKind::kList:
    case ir::TypeKind::kMap:
      if (type.kind == ir::TypeKind::kMap && n != 0) texts->insert(texts->end(), value.keys->begin(), value.keys->end());
      for (size_t i = 0; i < n; ++i) CollectTexts(context, type.element, (*value.items)[i], texts);
      return;
    case ir::TypeKind::kRecord:
      for (size_t i = 0; i < type.fields.size(); ++i) CollectTexts(context, type.fields[i].type, (*value.items)[i], texts);
      return;
    case ir::TypeKind::kOptional:
      if (value.bits != 0) CollectTexts(context, type.element, (*value.items)[0], texts);
      return;
  }
}

}  // namespace

Context::Context(const ir::Program& program, llvm::Module& module, const Options& options)
    : program_(program), module_(module), options_(options), base_cpu_(CpuName(options.target_cpu)) {
  if (options.target_cpu == "native") left_out_ = MissingHere(base_cpu_);
}

llvm::Type* Context::Register(ir::DType dtype) {
  switch (dtype) {
    case ir::DType::kBool:
      return I1();
    case ir::DType::kF16:
    case ir::DType::kBf16:
      return I16();
    case ir::DType::kF32:
      return llvm::Type::getFloatTy(llvm());
    case ir::DType::kF64:
      return llvm::Type::getDoubleTy(llvm());
    case ir::DType::kI8:
    case ir::DType::kI16:
    case ir::DType::kI32:
    case ir::DType::kI64:
    case ir::DType::kU8:
    case ir::DType::kU16:
    case ir::DType::kU32:
    case ir::DType::kU64:
      return llvm::IntegerType::get(llvm(), static_cast<unsigned>(8 * ir::SizeOf(dtype)));
    case ir::DType::kNone:
      break;
  }
  WF_CHECK(false, "a scalar without an element type");
  return nullptr;
}

llvm::Type* Context::Memory(ir::DType dtype) { return dtype == ir::DType::kBool ? I8() : Register(dtype); }

llvm::Function* Context::Runtime(std::string_view name) {
  if (llvm::Function* known = module_.getFunction(name)) return known;
  for (const RuntimeRow& row : kRuntime) {
    if (name != row.name) continue;
    llvm::SmallVector<llvm::Type*, 8> result, parameters;
    AppendParameter(*this, row.result[0], result);
    for (const char* letter = row.parameters; *letter != 0; ++letter) AppendParameter(*this, *letter, parameters);
    auto* function =
        llvm::Function::Create(llvm::FunctionType::get(result[0], parameters, false), llvm::Function::ExternalLinkage, row.name, module_);
    function->setDoesNotThrow();
    for (unsigned i = 0; i < parameters.size(); ++i) {
      if (parameters[i] == I16()) function->addParamAttr(i, llvm::Attribute::ZExt);
    }
    return function;
  }
  WF_CHECK(false, "no such row in runtime_symbols.def", name);
  return nullptr;
}

llvm::Function* Context::Native(const std::string& name, size_t arguments, bool is_typed) {
  if (llvm::Function* known = module_.getFunction(name)) return known;
  std::vector<llvm::Type*> parameters(arguments + 2, Ptr());
  if (is_typed) parameters.insert(parameters.end() - 1, {Ptr(), I32()});
  auto* function =
      llvm::Function::Create(llvm::FunctionType::get(I32(), parameters, false), llvm::Function::ExternalLinkage, name, module_);
  function->setDoesNotThrow();
  return function;
}

llvm::FunctionCallee Context::Libc(const char* name, llvm::Type* result, std::initializer_list<llvm::Type*> parameters) {
  return module_.getOrInsertFunction(name, llvm::FunctionType::get(result, parameters, false));
}

llvm::Constant* Context::Text(std::string_view text) {
  const auto [at, is_new] = texts_.try_emplace(text);
  if (is_new) at->second = NewText(text);
  return at->second;
}

llvm::GlobalVariable* Context::NewText(std::string_view text) {
  llvm::Constant* bytes = llvm::ConstantDataArray::getString(llvm(), text, true);  // the NUL is for debuggers; no length counts it
  auto* global = new llvm::GlobalVariable(module_, bytes->getType(), true, llvm::GlobalValue::PrivateLinkage, bytes, "text");
  global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  global->setAlignment(llvm::Align(1));
  return global;
}

void Context::AddTexts(const std::vector<std::string_view>& texts) {
  std::string all;
  std::vector<std::pair<llvm::Constant**, size_t>> added;  // and where each begins
  for (const std::string_view text : texts) {
    const auto [at, is_new] = texts_.try_emplace(text);
    if (!is_new) continue;
    added.emplace_back(&at->second, all.size());
    all.append(text) += '\0';
  }
  if (added.empty()) return;
  llvm::GlobalVariable* global = NewText(all);
  for (const auto& [text, begin] : added)
    *text = llvm::ConstantExpr::getInBoundsGetElementPtr(I8(), global, llvm::ArrayRef<llvm::Constant*>(Int64(begin)));
}

llvm::Constant* Context::TensorData(std::string_view bytes) {
  if (const auto known = tensors_.find(bytes); known != tensors_.end()) return known->second;
  Image image((bytes.size() + 63) / 64 * 64 + (bytes.empty() ? 64 : 0));
  image.Write(0, bytes.data(), bytes.size());
  llvm::Constant* global = image.Global(module_, "elements", 64);
  tensors_.emplace(std::string(bytes), global);
  return global;
}

llvm::Constant* Context::Bytes(const ir::Type& type, const ir::Value& value) {
  const std::string_view bytes = value.text ? std::string_view(*value.text) : std::string_view();
  const bool is_tensor = type.kind == ir::TypeKind::kTensor;
  if (bytes.size() < ir::kLongText) return is_tensor ? TensorData(bytes) : Text(bytes);
  llvm::Constant*& known = long_bytes_[{value.text, is_tensor}];
  if (known == nullptr) known = is_tensor ? TensorData(bytes) : Text(bytes);
  return known;
}

llvm::Constant* Context::ConstantData(size_t program_constant) {
  const auto& [type_id, value] = program_.constants[program_constant];
  if (!value.text || value.text->size() < kBigConstantBytes) return Bytes(type(type_id), value);
  const std::string symbol = BigConstantSymbol(program_constant);
  if (llvm::GlobalVariable* known = module_.getNamedGlobal(symbol)) return known;
  auto* global = new llvm::GlobalVariable(module_, I8(), true, llvm::GlobalValue::ExternalLinkage, nullptr, symbol);
  global->setVisibility(llvm::GlobalValue::HiddenVisibility);
  global->setAlignment(llvm::Align(64));
  return global;
}

llvm::Constant* Context::Constant(ir::TypeId type, const ir::Value& value) {
  const ir::Layout layout = ir::LayoutOf(types(), type);
  Image image(std::max<size_t>(layout.size, 1));
  constexpr size_t kManyTexts = 64;
  std::vector<std::string_view> texts;
  CollectTexts(*this, type, value, &texts);
  if (texts.size() >= kManyTexts) AddTexts(texts);
  AppendValue(*this, type, value, 0, &image);
  return Shared(image, "value");
}

llvm::GlobalVariable* Context::Shared(const Image& image, const char* name) {
  if (image.size() == 0) return nullptr;
  const auto [at, is_new] = shared_.try_emplace(image.Finish(llvm()));
  if (is_new) {
    at->second = image.Global(module_, name);
    at->second->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  }
  return at->second;
}

uint16_t Context::RowOf(const ir::Port& port) const {
  const auto found = written_types_.find({port.type, port.written});
  return found == written_types_.end() ? static_cast<uint16_t>(port.type) : found->second;
}

llvm::Constant* Context::TypeRow(size_t row) {
  return llvm::ConstantExpr::getGetElementPtr(I8(), type_table_, Int64(row * sizeof(wf_type)));
}

llvm::Function* Context::NewFunction(llvm::FunctionType* type, const llvm::Twine& name) {
  auto* function = llvm::Function::Create(type, llvm::Function::InternalLinkage, name, module_);
  function->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);  // nobody compares addresses, so equal ones may become one
  function->setDoesNotThrow();
  function->setUWTableKind(llvm::UWTableKind::None);
  SetCpu(function, base_cpu_);
  return function;
}

void Context::SetCpu(llvm::Function* function, std::string_view cpu) {
  function->addFnAttr("target-cpu", llvm::StringRef(cpu));
  function->removeFnAttr("target-features");
  function->removeFnAttr("prefer-vector-width");
  std::string without;
  for (const std::string& feature : cpu == base_cpu_ ? left_out_ : std::vector<std::string>()) {
    without += (without.empty() ? "-" : ",-") + feature;
  }
  if (!without.empty()) function->addFnAttr("target-features", without);
  const auto is_wide = [](const CpuFeature& feature) { return feature.name == "avx512vl"; };
  const std::vector<CpuFeature> features = cpu == base_cpu_ ? NeededFeatures() : FeaturesOf(cpu);
  const bool wide = std::any_of(features.begin(), features.end(), is_wide);
  if (wide) function->addFnAttr("prefer-vector-width", "512");  // LLVM's tuning stops at 256 bits
}

std::vector<CpuFeature> Context::NeededFeatures() const {
  std::vector<CpuFeature> features = FeaturesOf(base_cpu_);
  std::erase_if(features, [this](const CpuFeature& feature) {
    return std::find(left_out_.begin(), left_out_.end(), feature.name) != left_out_.end();
  });
  return features;
}

std::string BigConstantSymbol(size_t program_constant) { return "wf_big_" + std::to_string(program_constant); }

std::vector<BigConstant> BigConstants(const ir::Program& program) {
  std::vector<BigConstant> big;
  for (size_t i = 0; i < program.constants.size(); ++i) {
    const auto& text = program.constants[i].value.text;
    if (text && text->size() >= kBigConstantBytes) big.push_back({BigConstantSymbol(i), text});
  }
  return big;
}

bool KnowsCpu(const std::string& cpu) {
  if (cpu == "generic" || cpu == "native") return true;
  llvm::SmallVector<llvm::StringRef, 64> names;
  llvm::X86::fillValidCPUArchList(names, /*Only64Bit=*/true);
  return std::find(names.begin(), names.end(), cpu) != names.end();
}

}  // namespace wf::lower
