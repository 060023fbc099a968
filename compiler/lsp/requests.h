#pragma once

#include <string>
#include <variant>

#include "compiler/lsp/workspace.h"

// One function for each request, in the file of its feature. All read; the editor is who changes things.
namespace wf::lsp {

struct Refusal {
  std::string why;  // shown to the user
};
using Answer = std::variant<json::Value, Refusal>;

#define REQUEST(method, function) Answer function(Workspace& workspace, const json::Object& params);
#include "compiler/lsp/requests.def"

json::Value TokenLegend();

std::vector<const ast::Setting*> SettingsIn(const ast::File& file);  // of models, nodes, stages, services

// publish.cc: the diagnostics of one document, and of files that it imports and that nobody has open: (method's parameters) by file.
std::vector<json::Value> Diagnostics(Workspace& workspace, Document& document);
json::Value DiagnosticJson(const diag::Diagnostic& diagnostic, const Analysis& analysis, const Host& host);

}  // namespace wf::lsp
