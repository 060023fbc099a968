#include "compiler/lsp/place.h"

#include <gtest/gtest.h>

namespace wf::lsp {
namespace {

// Bytes 0..: `a`, an e with an accent (2), a face (4), `b`, a line break with \r, `c`.
constexpr std::string_view kText =
    "a\xc3\xa9\xf0\x9f\x98\x80"
    "b\r\nc";

class Places : public testing::Test {
 protected:
  source::SourceMap sources;
  FileId file = sources.Add("/x.wf", std::string(kText));
};

TEST_F(Places, CountsUnitsOfUtf16) {
  const std::pair<uint32_t, Position> kRows[] = {{0, {0, 0}}, {1, {0, 1}},  {3, {0, 2}}, {7, {0, 4}},
                                                 {8, {0, 5}}, {10, {1, 0}}, {11, {1, 1}}};
  for (const auto& [byte, position] : kRows) {
    const Position found = PositionOf(sources, file, byte);
    EXPECT_EQ(std::pair(found.line, found.character), std::pair(position.line, position.character)) << byte;
    EXPECT_EQ(ByteOf(kText, position), byte);
  }
}

TEST_F(Places, TakesTheNearestPlaceThatThereIs) {
  EXPECT_EQ(ByteOf(kText, {0, 3}), 7u);  // inside the face
  EXPECT_EQ(ByteOf("a\rbc", {1, 1}), 3u);
  EXPECT_EQ(ByteOf("a\rbc", {0, 9}), 1u);
  EXPECT_EQ(ByteOf(kText, {0, 99}), 8u);
  EXPECT_EQ(ByteOf(kText, {99, 0}), kText.size());
  EXPECT_EQ(ByteOf(kText, {UINT32_MAX, UINT32_MAX}), kText.size());
  EXPECT_EQ(PositionOf(sources, file, 1000).line, 1u);
}

}  // namespace
}  // namespace wf::lsp
