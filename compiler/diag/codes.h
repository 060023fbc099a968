#pragma once

#include <span>
#include <string>
#include <string_view>

namespace wf::diag {

enum class Severity { kError, kWarning };

// One enumerator per row of the phase tables: kUnknownName, ... Numbers: 1xxx text and tokens, 2xxx syntax, 3xxx names and types, 4xxx
// shapes, 5xxx workflows, nodes and settings, 6xxx models, 7xxx services and errors, 8xxx back end and files, 9000 not built yet.
enum class Code {
#define DIAG(name, number, severity, message) name = number,
#include "compiler/diag/all.def"
#undef DIAG
};
using enum Code;

struct CodeInfo {
  Code code;
  Severity severity;
  std::string_view name, message;  // message: `{0}`, `{1}` .. stand for the arguments
};
std::span<const CodeInfo> AllCodes();  // sorted by number
const CodeInfo& InfoOf(Code code);
std::string AnyMessage(const CodeInfo& info);  // "`…` is declared twice"

}  // namespace wf::diag
