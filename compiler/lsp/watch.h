#pragma once

#include <llvm/Support/JSON.h>

#include <map>
#include <optional>
#include <set>
#include <string>

#include "compiler/lsp/workspace.h"

namespace wf::lsp {

// What the editor is to tell about on disk: programs and models, and each file that open programs embed, once it is known.
// Owns: the patterns that were registered, which none takes back.   Cost: Missing looks at each file of each document.
class Watch {
 public:
  // The parameters of `client/registerCapability` for what is not watched yet; nothing: there is no more.
  std::optional<json::Object> Missing(const std::map<std::string, Document>& documents);

 private:
  std::set<std::string> patterns_;
  size_t registrations_ = 0;
};

}  // namespace wf::lsp
