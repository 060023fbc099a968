#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "runtime/protocol/json/number.h"

namespace wf::json {
namespace {

TEST(PrintElement, PrintsTheShortestTextThatReadsBack) {
  const auto print = [](uint32_t dtype, auto value) {
    char text[kMaxElementText];
    char* end = PrintElement(dtype, &value, text);
    return end == nullptr ? std::string("none") : std::string(text, end);
  };
  EXPECT_EQ(print(WF_F32, 0.1F), "0.1");
  EXPECT_EQ(print(WF_F64, 0.1), "0.1");
  EXPECT_EQ(print(WF_F64, -std::numeric_limits<double>::denorm_min()), "-5e-324");
  EXPECT_EQ(print(WF_F32, 3.0F), "3");
  EXPECT_EQ(print(WF_F32, 1e5F), "100000");
  EXPECT_EQ(print(WF_F64, 1e5), "100000");
  EXPECT_EQ(print(WF_F64, 0.0), "0");
  for (const std::string& text :
       {print(WF_F64, -0.0), print(WF_F32, -0.0F), print(WF_F16, uint16_t{0x8000}), print(WF_BF16, uint16_t{0x8000})})
    EXPECT_EQ(text, "-0.0") << "`-0` is read as an integer";
  EXPECT_EQ(print(WF_I64, std::numeric_limits<int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(print(WF_BOOL, uint8_t{1}), "true");
  EXPECT_EQ(print(WF_F32, std::numeric_limits<float>::quiet_NaN()), "none");
  EXPECT_EQ(print(WF_F16, uint16_t{0x7c00}), "none");
  EXPECT_EQ(print(WF_BF16, uint16_t{0x7fc0}), "none");
  EXPECT_EQ(print(WF_F16, uint16_t{0x3c00}), "1");
  EXPECT_EQ(print(WF_F16, uint16_t{0x2e66}), "0.1");
  EXPECT_EQ(print(WF_BF16, uint16_t{0x3dcd}), "0.1");
}

}  // namespace
}  // namespace wf::json
