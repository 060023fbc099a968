#include <array>
#include <ios>
#include <string>

#include "runtime/nodes/nodes.h"
#include "runtime/nodes/normalise.h"
#include "runtime/nodes/unicode.h"
#include "tests/unit/runtime/nodes/texts.h"

namespace wf::nodes {
namespace {

std::string InForm(std::string_view text, std::string_view form) { return Changed(wf_n_normalise, text, View(form)); }
std::string Lower(std::string_view text) { return Changed(wf_n_lower, text); }
std::string Folded(std::string_view text) { return Changed(wf_n_casefold, text); }
std::string Stripped(std::string_view text) { return Changed(wf_n_strip_accents, text); }

TEST(Normalise, HasFourForms) {
  const std::string text = "\u00e9 e\u0301 \ufb01 \uac00 s\u0323\u0307 s\u0307\u0323";
  EXPECT_EQ(InForm(text, "NFC"), "\u00e9 \u00e9 \ufb01 \uac00 \u1e69 \u1e69");
  EXPECT_EQ(InForm(text, "NFD"), "e\u0301 e\u0301 \ufb01 \u1100\u1161 s\u0323\u0307 s\u0323\u0307");
  EXPECT_EQ(InForm(text, "NFKC"), "\u00e9 \u00e9 fi \uac00 \u1e69 \u1e69");
  EXPECT_EQ(InForm(text, "NFKD"), "e\u0301 e\u0301 fi \u1100\u1161 s\u0323\u0307 s\u0323\u0307");
  EXPECT_EQ(InForm("", "NFC"), "");
  EXPECT_EQ(InForm("ABC abc", "NFKD"), "ABC abc");
}

TEST(Normalise, FailsForAnotherForm) {
  for (const char* form : {"", "nfc", "NFCC", "NF"}) {
    FakeJob job;
    const wf_bytes text = View("a"), wanted = View(form);
    wf_bytes result{};
    EXPECT_EQ(wf_n_normalise(&job.ctx, &text, &wanted, &result), WF_FAILED) << form;
    EXPECT_EQ(job.code, 7000);
  }
}

TEST(Lower, GoesCharacterByCharacter) {
  EXPECT_EQ(Lower("ABC \u00c9\u03a3\u0130 1"), "abc \u00e9\u03c3i\u0307 1");
  EXPECT_EQ(Lower("e\u0301"), "e\u0301") << "what is no letter stays as it is";
}

TEST(Casefold, MakesTextsComparable) {
  EXPECT_EQ(Folded("Stra\u00dfe \u03a3\u03c2 \u0130 AZ"), "strasse \u03c3\u03c3 i\u0307 az");
  EXPECT_EQ(Folded("a\u0307\u0323"), "a\u0307\u0323") << "marks keep their order";
}

TEST(ChangeText, WhatHasNoCaseStaysAsItIs) {
  char out[12];
  for (int32_t x = 0x80; x <= 0x10ffff; ++x) {
    ASSERT_TRUE(!HasNoCase(x) || (wf::nodes::Lower(x) == x && EncodeFolded(x, out) == 0)) << std::hex << x;
  }
}

// Eight bytes are looked at together, of which any may be the first that is not ASCII, or the last of the text.
TEST(ChangeText, EveryPlaceAmongEightBytes) {
  for (size_t before = 0; before < 20; ++before) {
    for (size_t behind = 0; behind < 20; ++behind) {
      for (const auto& [given, lower, folded] : {std::array<std::string, 3>{"\u00c9", "\u00e9", "\u00e9"},
                                                 {"\u4e00", "\u4e00", "\u4e00"},
                                                 {"\U0001f600", "\U0001f600", "\U0001f600"},
                                                 {"\u0390", "\u0390", "\u03b9\u0308\u0301"}}) {
        const std::string capitals(before, 'Z'), text = capitals + given + std::string(behind, 'A');
        EXPECT_EQ(Lower(text), std::string(before, 'z') + lower + std::string(behind, 'a'));
        EXPECT_EQ(Folded(text), std::string(before, 'z') + folded + std::string(behind, 'a'));
      }
    }
  }
}

TEST(StripAccents, KeepsLetters) {
  EXPECT_EQ(Stripped("\u0b2e\u0b41"), "\u0b2e") << "which has no order among marks";
  EXPECT_EQ(Stripped("\u00e9\u1e69 \u00f8 \uac00 \u0423\u0301"), "es \u00f8 \uac00 \u0423");
}

// Texts are changed some thousands of bytes at a time, which must not show.
TEST(ChangeText, LongTextsAreChangedAsAWhole) {
  std::string text, wanted;
  for (int i = 0; i < 5000; ++i) {
    text += "Ab e\u0301 \u0301x";
    wanted += "ab e\u0301 \u0301x";
  }
  EXPECT_EQ(Lower(text), wanted);
  EXPECT_EQ(InForm(InForm(text, "NFC"), "NFD"), text);
}

TEST(ChangeText, StopsWithinABlock) {
  constexpr abi::TextStep kSteps[] = {abi::TextStep::kDecompose, abi::TextStep::kEnd};
  FakeJob job;
  Normaliser normaliser(&job.ctx, kSteps);
  std::string_view result;
  EXPECT_TRUE(normaliser.Run("\u00e9", Normaliser::Lead::kNone, &result));
  EXPECT_EQ(result, "e\u0301");
  job.stop = 1;
  EXPECT_FALSE(normaliser.Run("\u00e9", Normaliser::Lead::kNone, &result));
  EXPECT_EQ(job.code, 0);
}

TEST(ChangeText, StopsAndFailsWithoutMemory) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "Ab \u00e9 ";
  ExpectItStopsAndFailsWithoutMemory(wf_n_normalise, text, View("NFD"));
  ExpectItStopsAndFailsWithoutMemory(wf_n_lower, text);
}

}  // namespace
}  // namespace wf::nodes
