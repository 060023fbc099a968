#include "compiler/driver/options.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace wf::driver {
namespace {

TEST(Options, ReadsValuesWrittenEitherWay) {
  std::string error;
  const auto options = ParseOptions("build", {"a.wf", "-o", "server", "--emit=obj", "--stop-after", "ir", "-O3", "--color=never"}, error);
  ASSERT_TRUE(options) << error;
  EXPECT_EQ(options->inputs, std::vector<std::string>{"a.wf"});
  EXPECT_EQ(options->output, "server");
  EXPECT_EQ(options->emit, Emit::kObj);
  EXPECT_EQ(options->stop_after, Phase::kIr);
  EXPECT_EQ(options->optimize, 3);
  EXPECT_EQ(options->color, ColorWhen::kNever);
}

TEST(Options, LeaveTheServersFlagsAlone) {
  std::string error;
  const auto options = ParseOptions("run", {"a.wf", "--", "--http-port", "0", "--help"}, error);
  ASSERT_TRUE(options) << error;
  EXPECT_EQ(options->server_arguments, (std::vector<std::string>{"--http-port", "0", "--help"}));
  EXPECT_FALSE(options->help);
}

TEST(Options, TakeFileNamesThatBeginWithADashAfterTwoDashes) {
  std::string error;
  EXPECT_EQ(ParseOptions("check", {"--", "-x.wf"}, error)->inputs, std::vector<std::string>{"-x.wf"});
}

TEST(Options, RefuseWhatTheyDoNotKnow) {
  struct Case {
    const char* command;
    std::vector<std::string> arguments;
    const char* error;
  };
  const std::vector<Case> cases = {
      {"check", {"--colour=auto"}, "unknown option `--colour`; did you mean `--color`?"},
      {"check", {"-o", "x"}, "`-o` is no option of `wfc check`"},
      {"build", {"-O4"}, "`4` is no value of `-O`; it takes 0..3"},
      {"build", {"-O-1"}, "`-1` is no value of `-O`; it takes 0..3"},
      {"build", {"-o"}, "`-o` needs a value: FILE"},
      {"check", {"--format=dot"}, "`dot` is no value of `--format`; it takes text|json|sarif|github"},
      {"check", {"--error-limit="}, "`` is no value of `--error-limit`; it takes N, a whole number from 0"},
      {"bench",
       {"--warm-up", "2min"},
       "`2min` is no value of `--warm-up`; it takes SECONDS, a time from 0s to 24h, as `30` (seconds) or `2m`"},
      {"model-bench",
       {"--seconds=5_s"},
       "`5_s` is no value of `--seconds`; it takes SECONDS, a time from 1ms to 24h, as `30` (seconds) or `2m`"},
      {"bench", {"--rate", "0"}, "`0` is no value of `--rate`; it takes N, a number above 0, at most 10000000"},
      {"bench", {"--connections=0"}, "`0` is no value of `--connections`; it takes N, a whole number from 1 to 20000"},
      {"test", {"--timeout=0"}, "`0` is no value of `--timeout`; it takes SECONDS, a time from 1ms to 24h, as `30` (seconds) or `2m`"},
      {"check", {"--verbose=yes"}, "`--verbose` takes no value"},
      {"check", {"--level=node"}, "`--level` is no option of `wfc check`"},
      {"fmt", {"--format=sarif"}, "`sarif` is no value of `--format`; it takes text|json"},
  };
  for (const Case& one : cases) {
    std::string error;
    EXPECT_FALSE(ParseOptions(one.command, one.arguments, error)) << one.error;
    EXPECT_EQ(error, one.error);
  }
}

TEST(Options, TakeTimesInSecondsOrWithAUnit) {
  std::string error;
  const auto options = ParseOptions("bench", {"--warm-up=0", "--duration", "500ms", "--timeout=1.5", "x.wf"}, error);
  ASSERT_TRUE(options) << error;
  EXPECT_EQ(options->warm_up_ns, 0);
  EXPECT_EQ(options->duration_ns, 500'000'000);
  EXPECT_EQ(options->timeout_ns, 1'500'000'000);
}

TEST(Options, OfCommandsOfModelAreHandedOnAsTheyWereUnderstood) {
  std::string error;
  const auto options = ParseOptions("model bench", {"--batch", "8", "x.onnx", "-v", "--profile"}, error);
  EXPECT_FALSE(options);
  EXPECT_EQ(error, "`--verbose` is no option of `wfc model bench`");
  const auto understood = ParseOptions("model bench", {"--batch", "8", "x.onnx", "--profile", "--", "--y.onnx"}, error);
  ASSERT_TRUE(understood) << error;
  EXPECT_EQ(understood->flags, (std::vector<std::string>{"--batch=8", "--profile"}));
  EXPECT_EQ(understood->inputs, (std::vector<std::string>{"x.onnx", "--y.onnx"}));
}

TEST(Options, OfModelAreThoseOfEachOfItsCommands) {
  const auto has = [](std::string_view command, std::string_view name) {
    const std::vector<FlagInfo> flags = FlagsOf(command);
    return std::count_if(flags.begin(), flags.end(), [&](const FlagInfo& flag) { return flag.name == name; });
  };
  EXPECT_EQ(has("model compare", "--tolerance"), 1);
  EXPECT_EQ(has("model compare", "--precision"), 1);
  EXPECT_EQ(has("model run", "--tolerance"), 0);
  EXPECT_EQ(has("model", "--tolerance"), 0);
  EXPECT_EQ(has("model", "--help"), 1);
}

TEST(Options, HaveWordsAmongTheirValues) {
  using Words = std::vector<std::string_view>;
  EXPECT_EQ(WordsAmong({"", "f32|bf16", "", ""}), (Words{"f32", "bf16"}));
  EXPECT_EQ(WordsOf({"", "f32|bf16", "", ""}), (Words{"f32", "bf16"}));
  EXPECT_EQ(WordsAmong({"", "native|generic|NAME", "", ""}), (Words{"native", "generic"}));
  for (const char* value : {"native|generic|NAME", "0..3", "N", ""}) EXPECT_EQ(WordsOf({"", value, "", ""}), Words()) << value;
}

TEST(Options, GiveGraphsAFormMore) {
  std::string error;
  EXPECT_EQ(ParseOptions("graph", {"--format=dot", "--level=task"}, error)->format, Format::kDot);
}

}  // namespace
}  // namespace wf::driver
