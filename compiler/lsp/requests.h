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

#define REQUEST(method, subject, function) Answer function(Workspace& workspace, const json::Object& params);
#include "compiler/lsp/requests.def"

json::Value TokenLegend();

std::vector<const ast::Setting*> SettingsIn(const ast::File& file);  // of models, nodes, stages, services

// publish.cc: the method's parameters for each file about which there is something else to say than before. What several documents say of
// one file is said together and once.
std::vector<json::Value> Diagnostics(Workspace& workspace, Document& document);
std::vector<json::Value> CloseDocument(Workspace& workspace, const std::string& uri);
json::Value DiagnosticJson(const diag::Diagnostic& diagnostic, const Analysis& analysis, const Host& host);

}  // namespace wf::lsp
