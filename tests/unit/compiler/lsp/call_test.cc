#include "compiler/lsp/call.h"

#include <gtest/gtest.h>

#include "tests/unit/compiler/lsp/open_text.h"

namespace wf::lsp {
namespace {

// "module.name unnamed [labels] label begins" of the call at `@`; empty: none.
std::string At(std::string text) {
  text = "workflow W() -> (x: i64) { " + text;
  const size_t at = text.find('@');
  text.erase(at, 1);
  const auto call = CallAround(ContextAt(*AnalysisOfText(text), static_cast<uint32_t>(at)));
  if (!call) return "";
  std::string shown = call->module + "." + call->name + " " + std::to_string(call->unnamed);
  for (const std::string& label : call->labels) shown += " +" + label;
  return shown + (call->label.empty() ? "" : " " + call->label + ":") + (call->begins ? " begins" : "");
}

TEST(Call, IsTheInnermostThatIsOpen) {
  const std::pair<const char*, const char*> kRows[] = {
      {"node a = f(@", ".f 0 begins"},
      {"node a = f(b@", ".f 0 begins"},
      {"node a = f(b, @", ".f 1 begins"},
      {"node a = m.f(b, c: 1, @", "m.f 1 +c begins"},
      {"node a = m.f(b, c: 1 + @", "m.f 1 c:"},
      {"node a = f(g(1, 2), @", ".f 1 begins"},
      {"node a = f(g(1, @", ".g 1 begins"},
      {"node a = f([1, 2, @", ".f 0"},
      {"node a = f(x[1, @", ".f 0"},
      {"node a = f((1 + @", ".f 0"},
      {"node a = b + 1 |> f(@", ".f 1 begins"},
      {"node a = b |> m.f(1, @", "m.f 2 begins"},
      {"node a = f(if b { g(1) } else { 2 }, @", ".f 1 begins"},
      {"node a = f(1) + @", ""},
      {"node a = (1, @", ""},
      {"return (a: @", ""},
      {"node a = sum[k](@", ".sum 0 begins"},
      {"} fn g(a: @", ""},
      {"} workflow V(@", ""},
  };
  for (const auto& [text, wanted] : kRows) EXPECT_EQ(At(text), wanted) << text;
}

OpenCall With(size_t unnamed, std::vector<std::string> labels, std::string label) {
  OpenCall call;
  call.unnamed = unnamed;
  call.labels = std::move(labels);
  call.label = std::move(label);
  return call;
}

TEST(Call, FindsTheParameter) {
  Thing callee;
  callee.takes = {{"a", "a: i64"}, {"b", "b: i64 = 1"}, {"c", "c: i64"}};
  EXPECT_EQ(ParameterAt(With(0, {}, ""), callee), 0u);
  EXPECT_EQ(ParameterAt(With(2, {}, ""), callee), 2u);
  EXPECT_EQ(ParameterAt(With(7, {}, ""), callee), 3u);
  EXPECT_EQ(ParameterAt(With(1, {}, "c"), callee), 2u);
  EXPECT_EQ(ParameterAt(With(0, {}, "d"), callee), 3u);
  EXPECT_EQ(ParameterAt(With(0, {"a"}, ""), callee), 3u);  // another label is to come
}

}  // namespace
}  // namespace wf::lsp
