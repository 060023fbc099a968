#pragma once

#include <cstdint>
#include <string_view>

namespace wf::sema {

// Expr::index of kBuiltin.
enum class Builtin : uint32_t {
#define BUILTIN(enumerator, name) enumerator,
#include "compiler/sema/builtins.def"
#undef BUILTIN
};

constexpr std::string_view NameOf(Builtin builtin) {
  constexpr std::string_view kNames[] = {
#define BUILTIN(enumerator, name) name,
#include "compiler/sema/builtins.def"
#undef BUILTIN
  };
  return kNames[static_cast<uint32_t>(builtin)];
}

}  // namespace wf::sema
