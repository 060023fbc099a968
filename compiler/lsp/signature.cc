// The parameters of the call that is being typed.

#include "compiler/lsp/call.h"
#include "compiler/lsp/requests.h"
#include "compiler/lsp/scope.h"

namespace wf::lsp {
namespace {

json::Value SignatureOf(const Thing& callee, bool offsets) {
  const bool is_built_in = !callee.about.empty();
  std::string label = callee.name + (is_built_in ? callee.type.substr(0, callee.type.find('(')) : "") + "(";
  json::Array parameters;
  for (const auto& [name, text] : callee.takes) {
    if (!parameters.empty()) label += ", ";
    const uint32_t begin = Utf16Length(label);
    label += text;
    if (offsets) {
      parameters.push_back(json::Object{{"label", json::Array{begin, Utf16Length(label)}}});
    } else {
      parameters.push_back(json::Object{{"label", text}});
    }
  }
  label += ")" + (callee.gives.empty() || callee.gives == callee.name ? "" : " -> " + callee.gives);
  json::Object signature{{"label", std::move(label)}, {"parameters", std::move(parameters)}};
  const std::string& about = callee.decl != nullptr ? callee.decl->doc : callee.about;
  if (!about.empty()) signature["documentation"] = json::Object{{"kind", "markdown"}, {"value", json::fixUTF8(about)}};
  return signature;
}

}  // namespace

Answer SignatureHelp(Workspace& workspace, const json::Object& params) {
  const auto query = workspace.Read(params);
  const Context context = query ? ContextAt(query->analysis, query->byte) : Context();
  const auto call = context.inside ? std::nullopt : CallAround(context);
  const Thing* callee = call ? CalleeOf(*query, call->module, call->name, call->indexed) : nullptr;
  if (callee == nullptr || callee->takes.empty()) return nullptr;
  return json::Value(json::Object{{"signatures", json::Array{SignatureOf(*callee, workspace.knows_label_offsets)}},
                                  {"activeSignature", 0},
                                  {"activeParameter", ParameterAt(*call, *callee)}});
}

}  // namespace wf::lsp
