#pragma once

#include <cstdint>
#include <string_view>

namespace wf::sema {

// Expr::index of kBuiltin.
enum class Builtin : uint32_t {
#define BUILTIN(enumerator, name, elementwise, float_only) enumerator,
#include "compiler/sema/builtins.def"
#undef BUILTIN
};

struct BuiltinInfo {
  std::string_view name;
  int elementwise;  // arguments; 0: not elementwise
  bool float_only;
};

inline constexpr BuiltinInfo kBuiltins[] = {
#define BUILTIN(enumerator, name, elementwise, float_only) {name, elementwise, float_only},
#include "compiler/sema/builtins.def"
#undef BUILTIN
};

constexpr const BuiltinInfo& InfoOf(Builtin builtin) { return kBuiltins[static_cast<uint32_t>(builtin)]; }
constexpr std::string_view NameOf(Builtin builtin) { return InfoOf(builtin).name; }

}  // namespace wf::sema
