#include <gtest/gtest.h>

#include "compiler/lsp/completion.h"
#include "tests/unit/compiler/lsp/open_text.h"

namespace wf::lsp {
namespace {

// What may be typed at `^`.
Wanted At(std::string text, bool in_string = false) {
  const size_t at = text.find('^');
  text.erase(at, 1);
  return WantedAt(ContextAt(*AnalysisOfText(text), static_cast<uint32_t>(at)), in_string);
}

TEST(Wanted, IsToldByTheTokensBeforeThePlace) {
  const std::pair<const char*, Wanted> kRows[] = {
      {"^", Wanted::kStatement},
      {"model M = onnx(\"^", Wanted::kFile},
      {"const A = 1;  // ^", Wanted::kFile},
      {"fn f(p: P) -> i64 = p.^", Wanted::kMember},
      {"import ^", Wanted::kModule},
      {"import std.^", Wanted::kModule},
      {"error E = 100001 \"e\" as ^", Wanted::kStatus},
      {"workflow W() -> (x: i64) { fail ^", Wanted::kError},
      {"test \"t\" { expect W() fails ^", Wanted::kError},
      {"test \"t\" { stub ^", Wanted::kStubbed},
      {"fn f(x: i64) -> i64 = match x { ^", Wanted::kPattern},
      {"fn f(x: i64) -> i64 = match x { 1 | ^", Wanted::kPattern},
      {"service S { ^", Wanted::kStatement},
      {"service S { model ^", Wanted::kServedModel},
      {"service S { workflow ^", Wanted::kServedWorkflow},
      {"service S { host ^", Wanted::kSettingValue},
      {"fn f(x: f32[^", Wanted::kExtent},
      {"fn f(x: ^", Wanted::kType},
      {"fn f(x: i64) -> ^", Wanted::kType},
      {"type T { x: ^", Wanted::kType},
      {"const C = ^", Wanted::kValue},
      {"workflow W() -> (x: i64) { node a: ^", Wanted::kType},
      {"workflow W() -> (x: i64) { node a = ^", Wanted::kValue},
      {"workflow W() -> (x: i64) { node a = M(x) { batch ^", Wanted::kSettingValue},
  };
  for (auto [text, wanted] : kRows) EXPECT_EQ(At(text), wanted) << text;
}

TEST(Wanted, IsNothingWhereAStringsCharacterWasTypedElsewhere) {
  EXPECT_EQ(At("const C = ^"), Wanted::kValue);
  EXPECT_EQ(At("const C = ^", true), Wanted::kNothing);
  EXPECT_EQ(At("model M = onnx(\"^", true), Wanted::kFile);
}

TEST(Wanted, OfAHoleOfAStringIsANameAtItsBeginning) {
  EXPECT_EQ(At("workflow W(x: i64) -> (y: string) { return (y: \"{^"), Wanted::kNameInHole);
  EXPECT_EQ(At("workflow W(x: i64) -> (y: string) { return (y: \"{x + ^"), Wanted::kNothing);
}

}  // namespace
}  // namespace wf::lsp
