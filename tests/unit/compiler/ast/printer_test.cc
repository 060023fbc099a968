#include "compiler/ast/printer.h"

#include <gtest/gtest.h>

#include "compiler/ast/tree_writer.h"

namespace wf::ast {
namespace {

// A tree made by hand over one line of text; spans are byte ranges of it.
class PrinterTest : public ::testing::Test {
 protected:
  Span At(uint32_t begin, uint32_t end) const { return {file_.id, begin, end}; }
  Name NameAt(std::string text, uint32_t begin) const {
    const auto end = begin + static_cast<uint32_t>(text.size());
    return {std::move(text), At(begin, end)};
  }

  source::SourceMap sources_;
  File file_{.id = sources_.Add("a.wf", "const a: f32[2*h]? = \"x\";\n")};
};

TEST_F(PrinterTest, GivesEachNodeALineWithKindTextAndPlace) {
  auto decl = std::make_unique<ConstDecl>(At(0, 25));
  decl->name = NameAt("a", 6);
  decl->doc = "one\ntwo";
  decl->type = std::make_unique<Type>();
  decl->type->kind = Type::Kind::kNamed;
  decl->type->name = {{NameAt("f32", 9)}, At(9, 12)};
  decl->type->optional = true;
  decl->type->span = At(9, 18);
  DimExpr product{.kind = DimExpr::Kind::kMul};
  product.operands = {{.kind = DimExpr::Kind::kInt, .text = "2"}, {.kind = DimExpr::Kind::kSymbol, .text = "h"}};
  decl->type->dims = {product};
  auto value = std::make_unique<StringExpr>(At(21, 24));
  value->pieces.push_back({"x", nullptr});
  decl->value = std::move(value);
  file_.decls.push_back(std::move(decl));
  EXPECT_EQ(Print(file_, sources_), R"(File a.wf
  ConstDecl a 1:1-1:26
    doc: "one\ntwo"
    type: f32[(2 * h)]? 1:10-1:19
    value: StringExpr 1:22-1:25
      "x"
)");
}

TEST_F(PrinterTest, ShowsWhatDidNotParse) {
  auto decl = std::make_unique<ErrorDecl>(At(0, 5));
  decl->has_errors = true;
  file_.decls.push_back(std::move(decl));
  EXPECT_NE(Print(file_, sources_).find("ErrorDecl (has errors) 1:1-1:6\n"), std::string::npos);
}

TEST(Quote, KeepsTextOnOneLine) { EXPECT_EQ(Quote("a\"b\\\n\x01"), R"("a\"b\\\n\u{1}")"); }

TEST(Spelling, IsThatOfTheLanguage) {
  EXPECT_EQ(Spelling(BinaryOp::kCoalesce), "??");
  EXPECT_EQ(Spelling(BinaryOp::kPipe), "|>");
}

}  // namespace
}  // namespace wf::ast
