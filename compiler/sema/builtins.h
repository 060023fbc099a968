#pragma once

#include <cstdint>
#include <string_view>

#include "compiler/ir/ir.h"

namespace wf::sema {

// Expr::index of kBuiltin.
enum class Builtin : uint32_t {
#define BUILTIN(enumerator, name, elementwise, float_only, head, about) enumerator,
#include "compiler/sema/builtins.def"
#undef BUILTIN
};

struct BuiltinInfo {
  std::string_view name;
  int elementwise;  // arguments; 0: not elementwise
  bool float_only;
  std::string_view module;       // empty: known everywhere
  std::string_view head, about;  // as documentation shows it
};

inline constexpr BuiltinInfo kBuiltins[] = {
#define BUILTIN(enumerator, name, elementwise, float_only, head, about) {name, elementwise, float_only, "", head, about},
#define MEMBER(enumerator, name, module, head, about) {name, 0, false, module, head, about},
#include "compiler/sema/builtins.def"
#undef BUILTIN
};

struct ReducerInfo {
  ir::ReduceKind kind;
  std::string_view name, head, about;
};
inline constexpr ReducerInfo kReducers[] = {
#define BUILTIN(enumerator, name, elementwise, float_only, head, about)
#define REDUCER(kind, name, head, about) {ir::ReduceKind::kind, name, head, about},
#include "compiler/sema/builtins.def"
#undef BUILTIN
};

struct WordInfo {
  std::string_view name, head, about;
};
inline constexpr WordInfo kWords[] = {
#define BUILTIN(enumerator, name, elementwise, float_only, head, about)
#define WORD(name, head, about) {name, head, about},
#include "compiler/sema/builtins.def"
#undef BUILTIN
};

constexpr const BuiltinInfo& InfoOf(Builtin builtin) { return kBuiltins[static_cast<uint32_t>(builtin)]; }

// Ours for a word of other languages; empty: none.
constexpr std::string_view OurNameFor(std::string_view word) { return word == "length" || word == "size" || word == "count" ? "len" : ""; }

constexpr const BuiltinInfo* FindMember(std::string_view module, std::string_view name) {
  for (const BuiltinInfo& row : kBuiltins) {
    if (!module.empty() && row.module == module && row.name == name) return &row;
  }
  return nullptr;
}
constexpr std::string_view NameOf(Builtin builtin) { return InfoOf(builtin).name; }

}  // namespace wf::sema
