#include "compiler/format/doc.h"

#include <gtest/gtest.h>

namespace wf::format {
namespace {

// call(a, b) with its arguments nested.
Doc Call(Docs& docs, Doc a, Doc b) {
  const Doc inside = docs.Concat({docs.SoftLine(), a, docs.Text(","), docs.Line(), b, docs.IfBroken(",")});
  return docs.Group(docs.Concat({docs.Text("call("), docs.Nest(inside), docs.SoftLine(), docs.Text(")")}));
}

TEST(Docs, BreakAGroupThatDoesNotFit) {
  Docs docs;
  const Doc call = Call(docs, docs.Text("one"), docs.Text("two"));
  EXPECT_EQ(docs.Print(call, 14), "call(one, two)\n");
  EXPECT_EQ(docs.Print(call, 13), "call(\n  one,\n  two,\n)\n");
}

TEST(Docs, BreakTheOuterGroupFirst) {
  Docs docs;
  const Doc inner = Call(docs, docs.Text("one"), docs.Text("two"));
  EXPECT_EQ(docs.Print(Call(docs, inner, docs.Text("three")), 20), "call(\n  call(one, two),\n  three,\n)\n");
}

TEST(Docs, CountWhatFollowsTheGroup) {
  Docs docs;
  const Doc both = docs.Concat({Call(docs, docs.Text("one"), docs.Text("two")), docs.Text(";")});
  EXPECT_EQ(docs.Print(both, 15), "call(one, two);\n");
  EXPECT_EQ(docs.Print(both, 14), "call(\n  one,\n  two,\n);\n");
}

TEST(Docs, CountCharactersRatherThanBytes) {
  Docs docs;
  EXPECT_EQ(docs.Print(Call(docs, docs.Text("äöü"), docs.Text("two")), 14), "call(äöü, two)\n");
}

TEST(Docs, StartALineAfterAComment) {
  Docs docs;
  const Doc commented = docs.Concat({docs.Text("one"), docs.TrailingComment("// first")});
  EXPECT_EQ(docs.Print(Call(docs, commented, docs.Text("two")), 80), "call(\n  one // first\n  ,\n  two,\n)\n");
  const Doc own = docs.Concat({docs.OwnComment("// second"), docs.Text("two")});
  EXPECT_EQ(docs.Print(Call(docs, docs.Text("one"), own), 80), "call(\n  one,\n  // second\n  two,\n)\n");
}

TEST(Docs, ShowAnEmptyLineInBrokenGroupsOnly) {
  Docs docs;
  const Doc body = docs.Concat({docs.Text("a"), docs.Line(), docs.Blank(), docs.Text("b")});
  EXPECT_EQ(docs.Print(docs.Group(body), 80), "a b\n");
  EXPECT_EQ(docs.Print(docs.Group(body, true), 80), "a\n\nb\n");
}

}  // namespace
}  // namespace wf::format
