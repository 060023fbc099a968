#include "compiler/ast/nodes.h"

#include "runtime/base/check.h"

namespace wf::ast {

Block::Block() = default;
Block::Block(Block&&) noexcept = default;
Block& Block::operator=(Block&&) noexcept = default;
Block::~Block() = default;

std::string ToString(const Path& path) {
  std::string text;
  for (const Name& part : path.parts) text += (text.empty() ? "" : ".") + part.text;
  return text;
}

std::string_view Spelling(BinaryOp op) {
  switch (op) {
    case BinaryOp::kMul:
      return "*";
    case BinaryOp::kDiv:
      return "/";
    case BinaryOp::kRem:
      return "%";
    case BinaryOp::kAdd:
      return "+";
    case BinaryOp::kSub:
      return "-";
    case BinaryOp::kEq:
      return "==";
    case BinaryOp::kNe:
      return "!=";
    case BinaryOp::kLt:
      return "<";
    case BinaryOp::kLe:
      return "<=";
    case BinaryOp::kGt:
      return ">";
    case BinaryOp::kGe:
      return ">=";
    case BinaryOp::kAnd:
      return "&&";
    case BinaryOp::kOr:
      return "||";
    case BinaryOp::kCoalesce:
      return "??";
    case BinaryOp::kPipe:
      return "|>";
  }
  WF_CHECK(false, static_cast<int>(op));
}

}  // namespace wf::ast
