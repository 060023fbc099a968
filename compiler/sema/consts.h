#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "compiler/sema/check_expr.h"

namespace wf::sema {

// file() lines() json() npy(), and tokenizer() of std.text: read when compiled (docs/semantics.md 33).
bool IsEmbedName(std::string_view name);
ExprPtr CheckEmbed(Body& body, std::string_view name, const ast::CallExpr& call, TypeRef wanted, const Where& where);

// The text of a file of the program's folder, part of the source hash; null after a report.
std::shared_ptr<const std::string> ReadEmbedded(Env& env, const Span& span, const std::string& name);

// The value of a checked expression that reads nothing but constants; nothing after a report. `purpose`: "a `const`".
std::optional<ir::Value> ValueOf(Env& env, const Expr& expr, std::string_view purpose);

// Where a file named in a .wf stands: beside it.
std::filesystem::path PathBeside(const Env& env, const Span& span, const std::string& name);

// The root's folder, from which imports count; "" for the one that wfc was started in.
std::filesystem::path ProgramFolder(const Env& env);

// The same place seen from the program's folder, as it is looked for where there are no .wf files: by servers.
std::string PathInProgram(const Env& env, const Span& span, const std::string& name);

// Adds what the value takes to the bytes of all constants, unless it is another or a part of it of 16 items or more; false after a report
// that there would be too many, the last of its kind.
bool CountConst(Env& env, const ir::Value& value, const Span& span);

// An expression that stands for a value: embedded files, constants.
ExprPtr MakeConst(Body& body, std::string name, TypeRef type, ir::Value value, const Span& span);

}  // namespace wf::sema
