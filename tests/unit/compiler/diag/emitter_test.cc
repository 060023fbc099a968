#include "compiler/diag/emitter.h"

#include <gtest/gtest.h>

namespace wf::diag {
namespace {

using source::FileId;
using source::Span;

Span At(uint32_t begin, uint32_t file = 0) { return {FileId{file}, begin, begin + 1}; }

TEST(Emitter, FillsTheHolesOfAMessage) {
  Emitter emitter;
  emitter.Emit(At(0), kTypeMismatch, {"i32", std::string("f32")});
  EXPECT_EQ(emitter.Sorted().front().message, "expected `i32`, found `f32`");
}

TEST(Emitter, SortsByFilePlaceAndCode) {
  Emitter emitter;
  emitter.Emit(At(5), kUnknownName, {"c"});
  emitter.Emit(At(1, 1), kUnknownName, {"d"});
  emitter.Emit({}, kCannotReadFile, {"x", "y"});
  emitter.Emit(At(5), kMissingSemicolon, {"b"});
  emitter.Emit(At(2), kUnknownName, {"a"});
  std::vector<Code> codes;
  for (const Diagnostic& one : emitter.Sorted()) codes.push_back(one.code);
  EXPECT_EQ(codes, (std::vector<Code>{kUnknownName, kMissingSemicolon, kUnknownName, kUnknownName, kCannotReadFile}));
}

TEST(Emitter, DropsExactRepeatsOnly) {
  Emitter emitter;
  emitter.Emit(At(1), kUnknownName, {"a"});
  emitter.Emit(At(1), kUnknownName, {"a"}).Help("lost with the repeat");
  emitter.Emit(At(1), kUnknownName, {"b"});
  emitter.Emit(At(2), kUnknownName, {"a"});
  EXPECT_EQ(emitter.error_count(), 3u);
  EXPECT_EQ(emitter.Sorted().size(), 3u);
}

TEST(Emitter, KeepsAtMostTheLimitAndCountsTheRest) {
  Emitter emitter(2);
  for (uint32_t at = 0; at < 5; ++at) emitter.Emit(At(at), kUnknownName, {"a"});
  EXPECT_EQ(emitter.Sorted().size(), 2u);
  EXPECT_EQ(emitter.error_count(), 5u);
  EXPECT_EQ(emitter.dropped_error_count(), 3u);
  EXPECT_EQ(emitter.dropped_warning_count(), 0u);
}

TEST(Emitter, KeepsAtMostTheLimitOfWarningsToo) {
  Emitter emitter(2);
  for (uint32_t at = 0; at < 5; ++at) emitter.Emit(At(at), kUnused, {"import", "a"});
  emitter.Emit(At(9), kUnknownName, {"a"});
  EXPECT_EQ(emitter.Sorted().size(), 3u);
  EXPECT_EQ(emitter.warning_count(), 5u);
  EXPECT_EQ(emitter.dropped_warning_count(), 3u);
  EXPECT_EQ(emitter.dropped_error_count(), 0u);
}

TEST(Emitter, CollectsCandidatesForWhatIsShownAlone) {
  Emitter emitter(1);
  int collected = 0;
  for (uint32_t at = 0; at < 3; ++at) {
    emitter.Emit(At(at), kUnknownName, {"pictrue"}).DidYouMean(At(at), "pictrue", [&] {
      ++collected;
      return std::vector<std::string>{"picture"};
    });
  }
  EXPECT_EQ(collected, 1);
  EXPECT_EQ(emitter.Sorted().front().help.size(), 1u);
}

TEST(Emitter, AFixHoldsForOtherPlacesToo) {
  Emitter emitter;
  emitter.Emit(At(1), kUnknownName, {"a"}).FixAlso({At(5)});
  emitter.Emit(At(2), kUnknownName, {"b"}).Fix(At(2), "c").FixAlso({At(5), At(7)});
  EXPECT_TRUE(emitter.Sorted()[0].fixes.empty());
  const std::vector<Edit> fixes = emitter.Sorted()[1].fixes;
  ASSERT_EQ(fixes.size(), 3u);
  EXPECT_EQ(fixes[2].span, At(7));
  EXPECT_EQ(fixes[2].replacement, "c");
}

TEST(Emitter, KeepsTheWordsOfAnotherProgramWholeAndOnTheirLines) {
  Emitter emitter;
  const std::string words = "\n" + std::string(2000, 'a') + "\nx.cc:3: error: here";
  emitter.Emit(At(1), kExternCompile, {"x.cc", Words{words}});
  emitter.Emit(At(2), kExternCompile, {"x.cc", words});
  EXPECT_EQ(emitter.Sorted()[0].message, "`x.cc` does not compile: " + words);
  EXPECT_LT(emitter.Sorted()[1].message.size(), words.size());
}

TEST(Emitter, KeepsWhatIsLookedAtApart) {
  Emitter emitter;
  emitter.Emit(At(1), kUnknownName, {"a"});
  {
    const Emitter::Apart apart(emitter);
    EXPECT_FALSE(emitter.has_errors());
    emitter.Emit(At(1), kUnknownName, {"a"}).Help("not the same error again");
    emitter.Emit(At(2), kUnknownName, {"b"});
    EXPECT_EQ(emitter.error_count(), 2u);
    EXPECT_EQ(emitter.Sorted().front().help.size(), 1u);
  }
  EXPECT_EQ(emitter.error_count(), 1u);
  EXPECT_TRUE(emitter.Sorted().front().help.empty());
}

TEST(Emitter, KeepsNothingWhileMuted) {
  Emitter emitter;
  {
    const Emitter::Muted outer(emitter, true);
    const Emitter::Muted inner(emitter, false);
    emitter.Emit(At(1), kUnknownName, {"a"}).Help("lost");
  }
  EXPECT_EQ(emitter.error_count(), 0u);
  emitter.Emit(At(1), kUnknownName, {"a"});
  EXPECT_EQ(emitter.Sorted().size(), 1u);
}

TEST(DidYouMean, FixesWhatOnlyOneNameCanMean) {
  struct Case {
    std::string name;
    std::vector<std::string> candidates;
    size_t help, fixes;
  };
  const std::vector<Case> cases = {
      {"pictrue", {"picture", "pixels"}, 1, 1},
      {"numbrs", {"numbers", "number"}, 1, 0},
      {"foo", {"fop"}, 1, 0},
      {"picktrue", {"picture"}, 1, 0},
      {"pictture", {"picture"}, 1, 1},
      {"pitures", {"pictures"}, 1, 1},
      {"image2", {"image1"}, 1, 0},  // they may be two
      {"lift", {"left"}, 1, 0},
      {"pictures", {"picture"}, 1, 0},
      {"xyz", {"picture"}, 0, 0},
  };
  for (const Case& one : cases) {
    Emitter emitter;
    emitter.Emit({}, kUnknownName, {one.name}).DidYouMean({source::FileId{0}, 3, 4}, one.name, one.candidates);
    const Diagnostic diagnostic = emitter.Sorted().front();
    EXPECT_EQ(diagnostic.help.size(), one.help) << one.name;
    EXPECT_EQ(diagnostic.fixes.size(), one.fixes) << one.name;
  }
}

// `[a, b, c]` of three things that are wrong alike.
TEST(Elements, WhatIsSaidOfTheFirstIsSaidOnce) {
  const auto at = [](uint32_t begin) { return source::Span{source::FileId{0}, begin, begin + 1}; };
  const auto count = [&](const std::vector<std::string>& words) {  // of elements; empty: nothing is wrong with it
    Emitter emitter;
    Emitter::Elements list(emitter);
    for (uint32_t i = 0; i < words.size(); ++i) {
      list.Next(at(i));
      emitter.Emit(at(100 + i), kUnknownName, {"within"});
      if (!words[i].empty()) emitter.Emit(at(i), kUnknownName, {words[i]});
    }
    return emitter.error_count() - words.size();
  };
  EXPECT_EQ(count({"a", "a", "a"}), 1u);
  EXPECT_EQ(count({"a", "b", "a"}), 2u);
  EXPECT_EQ(count({"", "a", "a"}), 2u) << "the first is as it should be: those are mistakes of their own";
}

TEST(Suggest, FindsTheNearestNameWithinAThirdOfItsLength) {
  const std::vector<std::string> names = {"picture", "pixels", "node", "x"};
  EXPECT_EQ(Suggest("pictrue", names), "did you mean `picture`?");
  EXPECT_EQ(Suggest("noed", names), "did you mean `node`?") << "a swap is one step";
  EXPECT_EQ(Suggest("y", names), std::nullopt) << "a name of one letter resembles every other";
  EXPECT_EQ(Suggest("elephant", names), std::nullopt);
  EXPECT_EQ(Suggest("node", names), std::nullopt) << "the name itself is no suggestion";
}

TEST(Suggest, RefusesToCompareHugeNames) { EXPECT_EQ(Suggest(std::string(100'000, 'a'), {std::string(100'001, 'a')}), std::nullopt); }

TEST(Codes, AreUniqueSortedAndFound) {
  int previous = 0;
  for (const CodeInfo& info : AllCodes()) {
    EXPECT_GT(static_cast<int>(info.code), previous);
    EXPECT_EQ(InfoOf(info.code).name, info.name);
    previous = static_cast<int>(info.code);
  }
}

}  // namespace
}  // namespace wf::diag
