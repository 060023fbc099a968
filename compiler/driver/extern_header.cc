// What the externs of a program are in C++. Layouts are those of runtime/abi/values.h, so nothing is converted.

#include "compiler/driver/extern_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "compiler/base/ascii.h"
#include "compiler/driver/extern_check.h"
#include "compiler/driver/files.h"

namespace wf::driver {
namespace {

using sema::TypeKind;
using sema::TypeRef;

constexpr std::string_view kCppWords[] = {
    "alignas",   "alignof",  "and",      "and_eq",       "asm",       "auto",       "bitand",        "bitor",       "bool",
    "break",     "case",     "catch",    "char",         "char16_t",  "char32_t",   "char8_t",       "class",       "co_await",
    "co_return", "co_yield", "compl",    "concept",      "const",     "const_cast", "consteval",     "constexpr",   "constinit",
    "continue",  "decltype", "default",  "delete",       "do",        "double",     "dynamic_cast",  "else",        "enum",
    "explicit",  "export",   "extern",   "false",        "float",     "for",        "friend",        "goto",        "if",
    "inline",    "int",      "long",     "mutable",      "namespace", "new",        "noexcept",      "not",         "not_eq",
    "nullptr",   "operator", "or",       "or_eq",        "private",   "protected",  "public",        "register",    "reinterpret_cast",
    "requires",  "return",   "short",    "signed",       "sizeof",    "static",     "static_assert", "static_cast", "struct",
    "switch",    "template", "this",     "thread_local", "throw",     "true",       "try",           "typedef",     "typeid",
    "typename",  "union",    "unsigned", "using",        "virtual",   "void",       "volatile",      "wchar_t",     "while",
    "xor",       "xor_eq",   "int8_t",   "int16_t",      "int32_t",   "int64_t",    "uint8_t",       "uint16_t",    "uint32_t",
    "uint64_t",  "wf",       "std",      "externs",      "errors"};

constexpr std::string_view kMacros =
#define MACROS(names) names
#include "compiler/driver/extern_macros.def"
#undef MACROS
    ;

// Whether C++, its library or the header of externs has a meaning for `name`.
bool IsTaken(std::string_view name) {
  static const std::set<std::string_view> words = [] {
    std::set<std::string_view> all(std::begin(kCppWords), std::end(kCppWords));
    for (size_t begin = 0, end = 0; (end = kMacros.find(' ', begin)) != std::string_view::npos; begin = end + 1) {
      all.insert(kMacros.substr(begin, end - begin));
    }
    return all;
  }();
  return words.contains(name);
}

// `_X`, `__x`: any of them may be a macro, with `_` behind it too.
bool IsOfCompiler(std::string_view name) {
  return name.size() > 1 && name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z'));
}

std::string_view ElementInCpp(ir::DType dtype) {
  constexpr std::array<std::string_view, 14> kNames = {"",         "bool",     "int8_t",   "int16_t",  "int32_t",      "int64_t", "uint8_t",
                                                       "uint16_t", "uint32_t", "uint64_t", "wf::Half", "wf::BFloat16", "float",   "double"};
  return kNames[static_cast<size_t>(dtype)];
}

// Names of one namespace: "lib.Line" is `lib_Line`, with a `_` behind it where that is taken.
class UniqueNames {
 public:
  std::string For(const std::string& name) {
    std::string own = Plain(name);
    while (!taken_.insert(own).second) own += "_";
    return own;
  }
  // A further name of what has one; empty: another has it.
  std::string Alias(const std::string& name) {
    std::string own = Plain(name);
    return taken_.insert(own).second ? own : "";
  }

 private:
  static std::string Plain(std::string name) {
    std::replace(name.begin(), name.end(), '.', '_');
    return NameInCpp(name);
  }

  std::set<std::string> taken_;
};

// What stands in front of the names of a file that is imported: those of the root have such a name too, so that the C++ of a module is the
// same wherever the module stands. Empty: nothing can import the file.
std::string PrefixOfRoot(const sema::Program& program) {
  const std::string stem = program.source_name.substr(0, program.source_name.find('.'));
  const auto is_of_name = [](char c) { return base::IsLetter(c) || base::IsDigit(c) || c == '_'; };
  const bool is_name = !stem.empty() && !base::IsDigit(stem[0]) && std::all_of(stem.begin(), stem.end(), is_of_name);
  return is_name && program.source_name == stem + ".wf" ? stem + "." : "";
}

// The records that signatures name, each once, before what holds it; behind them the names that they have besides.
class CppTypes {
 public:
  explicit CppTypes(const sema::Program& program) : program_(program), prefix_(PrefixOfRoot(program)) {
    for (const sema::Extern& external : program.externs) names_.For(external.name);  // a function of that name would hide the record
    ForEachPlace([&](TypeRef type, const std::string& place) { Add(type, place); });
    ForEachPlace([&](TypeRef type, const std::string& place) { AddAliases(type, place); });
    if (!aliases_.empty()) structs_ += aliases_ + "\n";
  }

  const std::string& structs() const { return structs_; }

  std::string NameOf(TypeRef type) const {
    switch (type->kind) {
      case TypeKind::kScalar:
        return std::string(ElementInCpp(type->dtype));
      case TypeKind::kString:
        return "wf::String";
      case TypeKind::kBytes:
        return "wf::Bytes";
      case TypeKind::kTensor:
        return fmt::format("wf::Tensor<{}, {}>", ElementInCpp(type->dtype), type->dims.size());
      case TypeKind::kList:
        return "wf::List<" + NameOf(type->element) + ">";
      case TypeKind::kMap:
        return "wf::Map<" + NameOf(type->element) + ">";
      case TypeKind::kOptional:
        return "wf::Optional<" + NameOf(type->element) + ">";
      case TypeKind::kRecord:
        return fmt::format("{}::{}", kExternNamespace, records_.at(type));
      case TypeKind::kError:
      case TypeKind::kNever:
      case TypeKind::kNone:
      case TypeKind::kVariable:
        break;  // no value has such a type
    }
    return "";
  }

  std::string Declaration(const sema::Extern& external) const {
    const sema::Function& function = program_.functions[external.function];
    std::set<std::string> names;
    for (uint32_t i = 0; i < function.n_params; ++i) names.insert(NameInCpp(function.locals[i].name));
    std::string text = names.contains("context") ? "wf::Context&" : "wf::Context& context";
    for (uint32_t i = 0; i < function.n_params; ++i) {
      const TypeRef type = function.locals[i].type;
      const bool by_value = type->kind == TypeKind::kScalar;
      text += fmt::format(", {}{}{} {}", by_value ? "" : "const ", NameOf(type), by_value ? "" : "&", NameInCpp(function.locals[i].name));
    }
    return fmt::format("{} {}::{}({})", NameOf(function.result), kExternNamespace, NameInCpp(external.name), text);
  }

 private:
  template <typename Fn>
  void ForEachPlace(Fn fn) {
    for (const sema::Extern& external : program_.externs) {
      const sema::Function& function = program_.functions[external.function];
      for (uint32_t i = 0; i < function.n_params; ++i) fn(function.locals[i].type, external.name + "_" + function.locals[i].name);
      fn(function.result, external.name + "_result");
    }
  }

  // `place`: names a tuple, which has no name of its own.
  void Add(TypeRef type, const std::string& place) {
    if (type->element != nullptr) Add(type->element, place);
    if (type->kind != TypeKind::kRecord || records_.contains(type)) return;
    std::string body;
    for (const sema::Field& field : type->fields) {
      Add(field.type, place + "_" + field.name);
      body += fmt::format("  {} {}{{}};\n", NameOf(field.type), NameInCpp(field.name));
    }
    const std::string name = names_.For(type->name.empty() ? place : type->name);
    records_.emplace(type, name);
    structs_ += fmt::format("struct {} {{\n{}}};\n\n", name, body);
  }

  // A tuple has the name of each place where it stands, a record of the root that of one who imports it.
  void AddAliases(TypeRef type, const std::string& place) {
    if (type->element != nullptr) AddAliases(type->element, place);
    if (type->kind != TypeKind::kRecord) return;
    for (const sema::Field& field : type->fields) AddAliases(field.type, place + "_" + field.name);
    const bool is_of_root = type->name.find('.') == std::string::npos && !prefix_.empty();
    if (type->name.empty() ? records_.at(type) == place : !is_of_root) return;
    const std::string alias = names_.Alias(type->name.empty() ? place : prefix_ + type->name);
    if (!alias.empty()) aliases_ += fmt::format("using {} = {};\n", alias, records_.at(type));
  }

  const sema::Program& program_;
  const std::string prefix_;
  std::map<TypeRef, std::string> records_;
  UniqueNames names_;
  std::string structs_, aliases_;
};

// Without what joins our own files.
std::string Plain(std::string_view text) {
  std::string plain;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.starts_with("#pragma once") && !line.starts_with("#include \"")) plain += std::string(line) + "\n";
  }
  return plain + "\n";
}

std::string AsComment(std::string_view text) {
  std::string comment;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    comment += "// " + std::string(line) + "\n";
  }
  return comment;
}

// Those of the root under their own names, whatever modules declare.
std::string ErrorCodes(const sema::Program& program) {
  std::string text;
  UniqueNames names;
  for (const bool of_root : {true, false}) {
    for (const sema::ErrorCode& error : program.errors) {
      if ((error.qualified == error.name) != of_root) continue;
      text += fmt::format("inline constexpr int32_t {} = {};\n", names.For(error.qualified), error.code);
    }
  }
  const std::string prefix = PrefixOfRoot(program);
  for (const sema::ErrorCode& error : program.errors) {
    const std::string alias = error.qualified == error.name && !prefix.empty() ? names.Alias(prefix + error.name) : "";
    if (!alias.empty()) text += fmt::format("inline constexpr int32_t {} = {};\n", alias, error.code);
  }
  return text.empty() ? "" : "namespace errors {\n" + text + "}  // namespace errors\n\n";
}

}  // namespace

std::string NameInCpp(const std::string& name) {
  if (IsOfCompiler(name)) return name + "_wf";
  const std::string_view bare = std::string_view(name).substr(0, name.find_last_not_of('_') + 1);
  return IsTaken(bare) ? name + "_" : name;
}

std::string ExternHeader(const sema::Program& program, const source::SourceMap& sources) {
  const std::string file = program.source_name.substr(FolderOf(program.source_name).size());
  const CppTypes types(program);
  std::string text = fmt::format(
      "// What the externs of {} are in C++: written by `wfc build --emit=header`, and put by wfc in front of the sources that it "
      "compiles.\n"
      "// The program's own part stands at the end.\n#ifndef WF_EXTERNS_H\n#define WF_EXTERNS_H\n\n",
      file);
  const auto parts = ExternTexts();
  for (size_t i = 0; i + 1 < parts.size(); ++i) text += Plain(parts[i]);
  text += fmt::format("namespace {} {{\n\n{}{}", kExternNamespace, ErrorCodes(program), types.structs());
  for (const sema::Extern& external : program.externs) {
    std::string declaration = types.Declaration(external);
    const std::string qualifier = fmt::format(" {}::{}(", kExternNamespace, NameInCpp(external.name));
    declaration.replace(declaration.find(qualifier), qualifier.size(), " " + NameInCpp(external.name) + "(");
    text += AsComment(sources.Text(external.signature)) + declaration + ";\n\n";
  }
  return text + fmt::format("}}  // namespace {}\n\n#endif\n", kExternNamespace);
}

std::string ExternShim(const sema::Program& program, const source::SourceMap& sources, const std::string& source) {
  const CppTypes types(program);
  std::string text = ExternHeader(program, sources) + Plain(ExternTexts().back());
  for (const sema::Extern& external : program.externs) {
    if (external.source != source) continue;
    const sema::Function& function = program.functions[external.function];
    std::string parameters, arguments;
    for (uint32_t i = 0; i < function.n_params; ++i) {
      parameters += fmt::format(", const {}* a{}", types.NameOf(function.locals[i].type), i);
      arguments += fmt::format(", *a{}", i);
    }
    text += fmt::format(
        "extern \"C\" wf_code {}(wf_ctx* ctx{}, {}* result) noexcept {{\n  return wf::shim::Guarded(ctx, [&](wf::Context& context) {{\n"
        "    *result = {}::{}(context{});\n{}  }});\n}}\n\n",
        function.native, parameters, types.NameOf(function.result), kExternNamespace, NameInCpp(external.name), arguments,
        ResultChecks(function));
  }
  return text;
}

std::string ExternDeclaration(const sema::Program& program, const sema::Extern& external) {
  return CppTypes(program).Declaration(external);
}

}  // namespace wf::driver
