#include "compiler/sema/settings.h"

#include <gtest/gtest.h>

#include "tests/unit/compiler/sema/checked.h"

namespace wf::sema {
namespace {

// Settings of one node that calls no model.
std::string CodesOf(const std::string& settings) {
  return test::Checked("fn f(x: f32) -> f32 = x;\nworkflow W(x: f32) -> (y: f32) { node y = f(x) { " + settings + " } return (y: y); }")
      .Codes();
}

TEST(Settings, EachMistakeHasItsCode) {
  const std::pair<const char*, const char*> kCases[] = {{"timeout 5ms;", ""},
                                                        {"timeout 5ms; priority low;", ""},
                                                        {"timeuot 5ms;", "5006"},
                                                        {"body 1MiB;", "5007"},
                                                        {"timeout;", "5008"},
                                                        {"timeout 5ms 6ms;", "5008"},
                                                        {"timeout 5;", "5009"},
                                                        {"timeout 5B;", "5010"},
                                                        {"timeout 5ms; timeout 5ms;", "5011"},
                                                        {"timeout -5ms;", "5015"},
                                                        {"timeout 2h;", "5015"},
                                                        {"timeout 999999999999h;", "5015"},
                                                        {"timeout 1_0.5ms;", ""},
                                                        {"timeout 2min;", "5010"},
                                                        {"retry 3;", "5013"},
                                                        {"batch auto;", "5013"},
                                                        {"threads 1;", "5013"},
                                                        {"threads 2;", "5013"},
                                                        {"batch 8 with 2ms;", "5008"},
                                                        {"batch 0;", "5015"},
                                                        {"batch 8.5;", "5008"},
                                                        {"on cuda(0);", "9000"},
                                                        {"cache 5s;", "9000"}};
  for (const auto& [settings, codes] : kCases) EXPECT_EQ(CodesOf(settings), codes) << settings;
}

TEST(Settings, AMissingSemicolonIsSuspected) {
  const test::Checked checked(
      "fn f(x: f32) -> f32 = x;\nworkflow W(x: f32) -> (y: f32) { node y = f(x) { timeout 5ms priority low; } return (y: y); }");
  ASSERT_EQ(checked.diag.Sorted().size(), 1u);
  EXPECT_EQ(checked.diag.Sorted()[0].help, std::vector<std::string>{"is a `;` missing before `priority`?"});
  ASSERT_EQ(checked.diag.Sorted()[0].fixes.size(), 1u);
}

TEST(Settings, NoSemicolonIsSuspectedRightBehindTheWord) {
  const test::Checked checked(
      "fn f(x: f32) -> f32 = x;\nworkflow W(x: f32) -> (y: f32) { node y = f(x) { timeout timeout 5ms; } return (y: y); }");
  ASSERT_EQ(checked.diag.Sorted().size(), 1u);
  EXPECT_EQ(checked.diag.Sorted()[0].help, std::vector<std::string>{"the word stands twice"});
  EXPECT_TRUE(checked.diag.Sorted()[0].fixes.empty());
}

TEST(Settings, AServiceHasOnlyWhatIsWritten) {
  const std::string workflow = "workflow W(x: f32) -> (y: f32) { return (y: x); }\n";
  const test::Checked plain(workflow + "service S { workflow W; }");
  const test::Checked own(workflow + "service S { workflow W; timeout 1s; body 1KiB; inflight 2; rows 3; }");
  ASSERT_TRUE(plain.program && own.program);
  EXPECT_EQ(plain.program->services[0].timeout_ns, 0);  // not written: the server's configuration holds
  EXPECT_EQ(plain.program->services[0].body_max, 0u);
  EXPECT_EQ(plain.program->services[0].inflight_max, 0u);
  EXPECT_EQ(plain.program->services[0].rows_max, 0u);
  EXPECT_EQ(own.program->services[0].timeout_ns, 1'000'000'000);
  EXPECT_EQ(own.program->services[0].body_max, 1024u);
  EXPECT_EQ(own.program->services[0].inflight_max, 2u);
  EXPECT_EQ(own.program->services[0].rows_max, 3u);
}

TEST(Settings, StagesGiveDefaultsThatNodesOverride) {
  const test::Checked checked(
      "fn f(x: f32) -> f32 = x;\n"
      "workflow W(x: f32) -> (y: f32) {\n"
      "  stage s { node a = f(x); node b = f(x) { timeout 2ms; } } { timeout 1ms; priority high; }\n"
      "  return (y: a + b);\n"
      "}\n");
  ASSERT_TRUE(checked.program.has_value()) << checked.Text();
  const auto& body = checked.program->workflows[0].body;
  EXPECT_EQ(body[0].policy.timeout_ns, 1'000'000);
  EXPECT_EQ(body[1].policy.timeout_ns, 2'000'000);
  EXPECT_EQ(body[1].policy.priority, 0);
}

// The crop of a model's only output, as "mul/div+add", or the codes.
std::string CropOf(const std::string& extent) {
  const test::Checked checked("model M(x: f32[batch, w, h]) -> f32[batch, " + extent +
                              "] = onnx(\"none.onnx\") { pad w to [16, 32]; }\nservice S { model M; }");
  const std::string codes = checked.Codes();
  if (codes.find("5020") != std::string::npos) return "5020";
  const ir::Policy& policy = checked.program->models.at(0).defaults;
  if (policy.crops.empty()) return "none";
  const ir::Policy::Pad& crop = policy.crops[0];
  return std::to_string(crop.mul) + "/" + std::to_string(crop.div) + "+" + std::to_string(crop.add);
}

TEST(Settings, AnOutputIsCroppedByWhatItsExtentIsOfTheSymbol) {
  const std::pair<const char*, const char*> kCases[] = {{"w", "1/1+0"},
                                                        {"2 * w + 3", "2/1+3"},
                                                        {"w/4", "1/4+0"},
                                                        {"w/2 + 1", "1/2+2"},
                                                        {"(w - 1)/2 + 1", "1/2+1"},
                                                        {"(3 * w + 1)/2", "3/2+1"},
                                                        {"((w + 1)/2 + 1)/2", "1/4+3"},
                                                        {"h", "none"},
                                                        {"16 - w", "5020"},
                                                        {"w * h", "5020"},
                                                        {"w * w", "5020"},
                                                        {"w/h", "5020"},
                                                        {"2 * (w/3)", "5020"},
                                                        {"w/3 + w", "4/3+0"},
                                                        {"w/3 + w/2", "5020"},
                                                        {"_", "5020"}};
  for (const auto& [extent, crop] : kCases) EXPECT_EQ(CropOf(extent), crop) << extent;
}

}  // namespace
}  // namespace wf::sema
