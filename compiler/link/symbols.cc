#include "compiler/link/symbols.h"

#include <llvm/Demangle/Demangle.h>
#include <llvm/Object/ObjectFile.h>

namespace wf::link {

base::Result<Symbols> ReadSymbols(const std::string& path) {
  auto file = llvm::object::ObjectFile::createObjectFile(path);
  if (!file) return base::Status(base::kInvalidArgument, llvm::toString(file.takeError()));
  Symbols symbols;
  for (const llvm::object::SymbolRef& symbol : file->getBinary()->symbols()) {
    auto name = symbol.getName();
    auto flags = symbol.getFlags();
    if (!name || !flags) {
      llvm::consumeError(name.takeError());
      llvm::consumeError(flags.takeError());
      continue;
    }
    const bool is_missing = (*flags & llvm::object::SymbolRef::SF_Undefined) != 0;
    const bool is_global = (*flags & llvm::object::SymbolRef::SF_Global) != 0;
    if (!name->starts_with("_Z") || (!is_global && !is_missing)) continue;
    (is_missing ? symbols.missing : symbols.defined).push_back(llvm::demangle(*name));
  }
  return symbols;
}

}  // namespace wf::link
