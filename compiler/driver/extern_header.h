#pragma once

#include <span>
#include <string>
#include <string_view>

#include "compiler/base/source.h"
#include "compiler/sema/typed.h"

namespace wf::driver {

// Headers of runtime/abi, built into wfc, and the error codes: what externs use, and last what surrounds them.
std::span<const std::string_view> ExternTexts();

// The namespace of C++ that externs, their types and the program's errors stand in.
inline constexpr std::string_view kExternNamespace = "externs";

// What a name of the program is in C++: words and macros of C++ get a `_`, and so do those with `_` behind them, for no two to become one.
// Those that begin as the compiler's own do, as in `_X`, get `_wf`.
std::string NameInCpp(const std::string& name);

// A header that needs no other file of ours: values, and a declaration of each extern that the program has.
std::string ExternHeader(const sema::Program& program, const source::SourceMap& sources);

// What stands in front of `source` when it is compiled: the header, and behind it a function for each extern of this source that generated
// code can call.
std::string ExternShim(const sema::Program& program, const source::SourceMap& sources, const std::string& source);

// "float externs::area(wf::Context& context, const externs::Box& box)", for messages.
std::string ExternDeclaration(const sema::Program& program, const sema::Extern& external);

}  // namespace wf::driver
