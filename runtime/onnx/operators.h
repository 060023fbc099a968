#pragma once

#include <string>
#include <string_view>

#include "runtime/onnx/graph.h"

// operators.def as the reader looks at it.   Thread: any, all is constant.
namespace wf::onnx {

struct OperatorRow {
  Op op;
  std::string_view domain, name;
  int since, min_in, max_in, max_out;
  std::string_view attributes;
};

// Null: no row has it. `domain`: as in the file.
const OperatorRow* FindOperator(std::string_view domain, std::string_view name);
bool IsStandard(std::string_view domain);  // ai.onnx
std::string_view DomainOf(Op op);          // "ai.onnx", "com.microsoft"

// "; did you mean `MatMul`?" for a name of ai.onnx that differs in letter case alone.
std::string MeantBy(std::string_view name);

// The kind of an attribute by its operator's list, "axis alpha:f"; kOther: it is not there.
Attribute::Kind WantedKind(std::string_view list, std::string_view name);
// Whether the list says that only another value is taken.
bool IsOtherValue(std::string_view list, std::string_view name, int64_t i, std::string_view s);

}  // namespace wf::onnx
