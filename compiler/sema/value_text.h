#pragma once

#include <string>

#include "compiler/ir/value.h"
#include "compiler/sema/type.h"

namespace wf::sema {

// A value as a program writes it, in about `most` bytes: of long strings and lists the beginning, then `..`. Nothing for `bytes`.
std::string ValueText(TypeRef type, const ir::Value& value, size_t most);
std::string ValueText(TypeRef type, const ir::Value& value, size_t most, const RecordNames& name_of);

// A default of a parameter or of metadata, short; nothing where it is the `none` of an optional type.
std::string DefaultText(TypeRef type, const ir::Value& value);

}  // namespace wf::sema
