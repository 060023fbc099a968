#pragma once

#include "compiler/sema/body.h"

namespace wf::sema {

// Checks one declaration and makes its entity ready. In the order of the text.
void CheckDecl(Env& env, Module& module, const ast::Decl& decl);

// By kind; each in the file of its topic.
void CheckConst(Env& env, Module& module, Entity& entity, const ast::ConstDecl& decl);
void CheckType(Env& env, Module& module, Entity& entity, const ast::TypeDecl& decl);
void CheckErrorCode(Env& env, Entity& entity, const ast::ErrorCodeDecl& decl);
void CheckFn(Env& env, Module& module, Entity& entity, const ast::FnDecl& decl);              // check_fn.cc
void CheckModel(Env& env, Module& module, Entity& entity, const ast::ModelDecl& decl);        // check_model.cc
void CheckExtern(Env& env, Module& module, Entity& entity, const ast::ExternDecl& decl);      // check_extern.cc
void CheckRemote(Env& env, Module& module, Entity& entity, const ast::RemoteDecl& decl);      // check_extern.cc
void CheckWorkflow(Env& env, Module& module, Entity& entity, const ast::WorkflowDecl& decl);  // check_workflow.cc
void CheckService(Env& env, Module& module, Entity& entity, const ast::ServiceDecl& decl);    // check_service.cc
void CheckTest(Env& env, Module& module, const ast::TestDecl& decl);                          // check_test.cc

// That `binding` is not what the declaration takes, a call of `wanted`: `code` with its text.
void ReportBinding(Env& env, const ast::Binding& binding, const std::string& wanted, diag::Code code);
// Puts the values of the parameters' defaults into env.defaults. `body`: holds the parameters.
void CheckDefaults(const Body& body, const std::vector<ast::Param>& params, const Signature& signature);

}  // namespace wf::sema
