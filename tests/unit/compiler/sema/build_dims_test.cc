// Extents that are computed.

#include <gmock/gmock.h>

#include <limits>

#include "tests/unit/compiler/sema/answer.h"

namespace wf::sema {
namespace {

using testing::HasSubstr;

TEST(BuildDims, TellsNoExtentThatHasWrapped) {
  const Answers answers(R"(
    fn added(w: i64, s: i64) -> f32[w + s] = [i] => 1.0;
    fn divided(w: i64, s: i64) -> f32[w / s] = [i] => 1.0;
    fn strided(n: i64, w: i64, s: i64) -> f32[(n - w) / s + 1] = [i] => 1.0;
    workflow Added(w: i64, s: i64) -> (y: f32[_]) {
      return (y: added(w, s));
    }
    workflow Divided(w: i64, s: i64) -> (y: f32[_]) {
      return (y: divided(w, s));
    }
    workflow Strided(n: i64, w: i64, s: i64) -> (y: f32[_]) {
      return (y: strided(n, w, s));
    }
    workflow Summed(w: i64, s: i64) -> (y: i64) {
      return (y: sum[i < w * s](i));
    }
    service S { workflow Added; workflow Divided; workflow Strided; workflow Summed; })");
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min(), kQuarter = int64_t{1} << 62;
  EXPECT_EQ(answers("Added", {Int(kQuarter / 4), Int(2 - kQuarter / 4)}), "y=[2]{1, 1}");
  EXPECT_THAT(answers("Added", {Int(kQuarter + 1), Int(4 - kQuarter)}),
              HasSubstr("!7004 numbers that come to 2^62 or more in the shape [s + w], where s is -4611686018427387900 and w is "));
  EXPECT_THAT(answers("Divided", {Int(kLeast), Int(-1)}), HasSubstr("!7004 numbers that come to 2^62 or more in the shape [w/s], where "));
  EXPECT_THAT(answers("Divided", {Int(-6), Int(2)}), HasSubstr("!7004 an axis of -3 elements"));
  EXPECT_THAT(answers("Strided", {Int(3), Int(kLeast + 1), Int(1)}), HasSubstr("!7004 numbers that come to 2^62 or more in the shape ["));
  EXPECT_THAT(answers("Summed", {Int(kLeast), Int(-1)}), HasSubstr("!7004 numbers that come to 2^62 or more in the shape [s*w], where "));
}

}  // namespace
}  // namespace wf::sema
