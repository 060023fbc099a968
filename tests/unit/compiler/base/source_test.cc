#include "compiler/base/source.h"

#include <gtest/gtest.h>

namespace wf::source {
namespace {

TEST(SourceMap, CountsLinesAndByteColumnsFromOne) {
  SourceMap sources;
  const FileId file = sources.Add("a.wf", "ab\r\n\n\xC3\xA9x");
  const auto at = [&](uint32_t byte) {
    const Position p = sources.PositionOf(file, byte);
    return std::pair(p.line, p.column);
  };
  EXPECT_EQ(at(0), std::pair(1u, 1u));
  EXPECT_EQ(at(3), std::pair(1u, 4u));
  EXPECT_EQ(at(4), std::pair(2u, 1u));
  EXPECT_EQ(at(5), std::pair(3u, 1u));
  EXPECT_EQ(at(7), std::pair(3u, 3u));
  EXPECT_EQ(at(8), std::pair(3u, 4u)) << "the end of the file";
}

TEST(SourceMap, AByteOrderMarkIsNoColumn) {
  SourceMap sources;
  const FileId file = sources.Add("a.wf", "\xEF\xBB\xBFx = 1\ny\n");
  EXPECT_EQ(sources.PositionOf(file, 0).column, 1u);
  EXPECT_EQ(sources.PositionOf(file, 3).column, 1u);
  EXPECT_EQ(sources.PositionOf(file, 5).column, 3u);
  EXPECT_EQ(sources.PositionOf(file, 9).line, 2u);
  EXPECT_EQ(sources.Line(file, 1), "x = 1");
}

TEST(SourceMap, ShowsColumnsInCharacters) {
  SourceMap sources;
  const std::string long_line(1000, 'a');
  const FileId file = sources.Add("a.wf", "\xEF\xBB\xBF" + long_line + "\n\xE6\x97\xA5\xF0\x9F\x98\x80\xC3\xA9x" + long_line + "\xC3\xA9");
  const auto at = [&](uint32_t byte) {
    const Position p = sources.ShownPosition(file, byte);
    return std::pair(p.line, p.column);
  };
  EXPECT_EQ(at(0), std::pair(1u, 1u)) << "in the mark";
  EXPECT_EQ(at(3), std::pair(1u, 1u));
  EXPECT_EQ(at(1002), std::pair(1u, 1000u));
  EXPECT_EQ(at(1004), std::pair(2u, 1u));
  EXPECT_EQ(at(1007), std::pair(2u, 2u));
  EXPECT_EQ(at(1011), std::pair(2u, 3u));
  EXPECT_EQ(at(1013), std::pair(2u, 4u));
  EXPECT_EQ(at(2014), std::pair(2u, 1005u));
  EXPECT_EQ(at(2016), std::pair(2u, 1006u)) << "the end of the file";
}

TEST(SourceMap, GivesLinesWithoutTheirBreaks) {
  SourceMap sources;
  const FileId file = sources.Add("a.wf", "one\r\ntwo\n");
  EXPECT_EQ(sources.Line(file, 1), "one");
  EXPECT_EQ(sources.Line(file, 2), "two");
  EXPECT_EQ(sources.Line(file, 3), "");
}

TEST(SourceMap, CountsALoneReturnAsTheEndOfALine) {
  SourceMap sources;
  const FileId file = sources.Add("a.wf", "one\rtwo\r\r\nthree");
  EXPECT_EQ(sources.Line(file, 1), "one");
  EXPECT_EQ(sources.Line(file, 2), "two");
  EXPECT_EQ(sources.Line(file, 3), "");
  EXPECT_EQ(sources.Line(file, 4), "three");
  EXPECT_EQ(sources.PositionOf(file, 4).line, 2u);
}

TEST(EndOfLine, SaysWhereTheNextLineBegins) {
  EXPECT_EQ(EndOfLine("a\r\nb", 0).end, 1u);
  EXPECT_EQ(EndOfLine("a\r\nb", 0).next, 3u);
  EXPECT_EQ(EndOfLine("a\r\nb", 3).next, 4u);
  EXPECT_EQ(EndOfLine("a\r", 0).next, 2u);
  EXPECT_EQ(EndOfLine("", 0).next, 0u);
}

TEST(Span, JoinReachesFromTheFirstToTheEndOfTheLast) {
  const FileId file{0};
  EXPECT_EQ(Join({file, 2, 4}, {file, 7, 9}), (Span{file, 2, 9}));
}

}  // namespace
}  // namespace wf::source
