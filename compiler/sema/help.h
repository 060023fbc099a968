#pragma once

#include <string_view>

#include "compiler/sema/body.h"

namespace wf::sema {

// Help for tensors that a test compares by `==`.
constexpr std::string_view kHelpToCompare = "`close(a, b)` compares two tensors of one shape, all of their elements";
inline bool IsInTest(const Body& body) { return body.self != nullptr && body.self->kind == ast::DeclKind::kTestDecl; }

}  // namespace wf::sema
