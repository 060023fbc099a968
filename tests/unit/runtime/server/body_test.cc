#include "runtime/server/body.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace wf::server {
namespace {

TEST(Body, GrowsPartByPartAndEndsInZeros) {
  Body body;
  std::string expected;
  for (int i = 0; i < 2000; ++i) {
    const std::string part = std::to_string(i);
    ASSERT_TRUE(body.Append({reinterpret_cast<const uint8_t*>(part.data()), part.size()}));
    expected += part;
  }
  const wf_bytes view = body.Seal();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(view.ptr), view.len), expected);
  for (size_t i = 0; i < Body::kPadBytes; ++i) EXPECT_EQ(view.ptr[view.len + i], 0);
}

TEST(Body, AlignsTheByteThatIsAskedFor) {
  Body body;
  for (const size_t offset : {0U, 1U, 117U, 64U, 3U}) {
    body.AlignAt(offset);
    ASSERT_TRUE(body.Reserve(50'000));
    const std::vector<uint8_t> part(40'000, static_cast<uint8_t>(offset));
    ASSERT_TRUE(body.Append(part));
    const wf_bytes view = body.Seal();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(view.ptr + offset) % 64, 0U) << offset;
    EXPECT_EQ(std::vector<uint8_t>(view.ptr, view.ptr + view.len), part);
    body.Clear();
  }
}

TEST(Body, StaysAlignedHoweverItGrows) {
  Body body;
  body.AlignAt(93);
  ASSERT_TRUE(body.ReserveAnnounced(3'000'000));
  std::vector<uint8_t> expected;
  for (size_t part = 1; expected.size() < 5'000'000; part = part * 3 / 2 + 1) {
    const std::vector<uint8_t> bytes(part, static_cast<uint8_t>(part));
    ASSERT_TRUE(body.Append(bytes));
    expected.insert(expected.end(), bytes.begin(), bytes.end());
    EXPECT_EQ((reinterpret_cast<uintptr_t>(body.bytes().data()) + 93) % 64, 0U) << expected.size();
  }
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), body.bytes().begin(), body.bytes().end()));
}

TEST(Body, IsEmptyAgainAfterClear) {
  Body body;
  const std::vector<uint8_t> large(100'000, 7);
  ASSERT_TRUE(body.Append(large));
  body.Clear();
  EXPECT_EQ(body.size(), 0U);
  const wf_bytes view = body.Seal();
  ASSERT_NE(view.ptr, nullptr);
  EXPECT_EQ(view.len, 0U);
}

}  // namespace
}  // namespace wf::server
