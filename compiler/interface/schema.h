#pragma once

#include <llvm/Support/JSON.h>

#include "compiler/interface/interface.h"

namespace wf::interface {

void SetDefault(llvm::json::Object& schema, const std::string& text);  // JSON; empty: none

// JSON Schema of plain JSON, as servers read and write it. Named records are references into `#/components/schemas`.
// Borrows: interface (outlives this).
class Schemas {
 public:
  explicit Schemas(const Interface& interface) : interface_(interface) {}

  // Requests are closed, unknown members are refused; answers are open, so that members may be added.
  llvm::json::Object ForRequest(const Type& type) { return Of(type, true); }
  llvm::json::Object ForAnswer(const Type& type) { return Of(type, false); }
  llvm::json::Object ForRequest(const std::vector<Port>& parameters);
  llvm::json::Object ForAnswer(const std::vector<Port>& results);

  llvm::json::Object TakeRecords() { return std::move(records_); }  // those that were referred to

 private:
  llvm::json::Object Of(const Type& type, bool request);
  llvm::json::Object Tensor(const Type& type);
  llvm::json::Object Reference(const std::string& record, bool request);
  llvm::json::Object Members(const std::vector<Field>& fields, bool request);

  const Interface& interface_;
  llvm::json::Object records_;
};

}  // namespace wf::interface
