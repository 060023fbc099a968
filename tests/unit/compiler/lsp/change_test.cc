#include "compiler/lsp/change.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "compiler/base/utf8.h"

namespace wf::lsp {
namespace {

// What an editor holds: lines in units of UTF-16, without their ends.
using Lines = std::vector<std::u16string>;

std::string Utf8(const Lines& lines) {
  std::string text;
  for (size_t number = 0; number < lines.size(); ++number) {
    if (number > 0) text += '\n';
    for (size_t at = 0; at < lines[number].size(); ++at) {
      const char32_t unit = lines[number][at];
      const bool pair = unit >= 0xD800 && unit < 0xDC00;
      source::AppendUtf8(pair ? 0x10000 + ((unit - 0xD800) << 10) + (lines[number][++at] - 0xDC00) : unit, text);
    }
  }
  return text;
}

json::Value Change(Position start, Position end, const std::string& text) {
  const auto place = [](Position position) { return json::Object{{"line", position.line}, {"character", position.character}}; };
  return json::Object{{"range", json::Object{{"start", place(start)}, {"end", place(end)}}}, {"text", text}};
}

TEST(Change, AppliesAsEditorsMeanIt) {
  std::mt19937 random(7);
  const auto below = [&](size_t count) { return static_cast<uint32_t>(std::uniform_int_distribution<size_t>(0, count - 1)(random)); };
  const std::u16string kPieces[] = {u"a", u"\u00e9", u"\u4e2d", u"\U0001F600", u"word "};
  Lines lines{u""};
  std::string text;
  // Never inside a character of two units.
  const auto place = [&] {
    const uint32_t line = below(lines.size());
    uint32_t at = below(lines[line].size() + 1);
    if (at < lines[line].size() && lines[line][at] >= 0xDC00 && lines[line][at] < 0xE000) --at;
    return Position{line, at};
  };
  for (int round = 0; round < 3000; ++round) {
    Position start = place(), end = below(3) == 0 ? place() : start;
    if (std::pair(end.line, end.character) < std::pair(start.line, start.character)) std::swap(start, end);
    Lines added{u""};
    for (uint32_t left = below(4); left > 0; --left) {
      if (below(4) == 0) added.emplace_back();
      added.back() += kPieces[below(std::size(kPieces))];
    }
    const std::string inserted = Utf8(added);
    added.front().insert(0, lines[start.line].substr(0, start.character));
    added.back() += lines[end.line].substr(end.character);
    lines.erase(lines.begin() + start.line, lines.begin() + end.line + 1);
    lines.insert(lines.begin() + start.line, added.begin(), added.end());
    ApplyChange(Change(start, end, inserted), text);
    ASSERT_EQ(text, Utf8(lines)) << round;
  }
}

TEST(Change, KeepsTheEndsOfLines) {
  std::string text = "ab\r\ncd\r\n";
  ApplyChange(Change({0, 2}, {1, 0}, ""), text);
  EXPECT_EQ(text, "abcd\r\n");
  ApplyChange(Change({0, 4}, {0, 4}, "\r\nx"), text);
  EXPECT_EQ(text, "abcd\r\nx\r\n");
}

TEST(Change, TakesTheNearestPlacesThatThereAre) {
  std::string text = "ab\ncd";
  ApplyChange(Change({9, 9}, {99, 0}, "!"), text);
  EXPECT_EQ(text, "ab\ncd!");
  ApplyChange(Change({1, 1}, {0, 1}, "-"), text);  // backwards
  EXPECT_EQ(text, "a-d!");
}

TEST(Change, OfNoRangeIsTheWholeText) {
  std::string text = "old";
  ApplyChange(json::Object{{"text", "new"}}, text);
  EXPECT_EQ(text, "new");
  for (const json::Value& nothing : {json::Value(3), json::Value(json::Object{}), json::Value(json::Object{{"text", 7}})}) {
    ApplyChange(nothing, text);
    EXPECT_EQ(text, "new");
  }
}

}  // namespace
}  // namespace wf::lsp
