#include "compiler/base/field_number.h"

#include <gtest/gtest.h>

#include <string>

namespace wf::source {
namespace {

bool IsAdmitted(uint32_t number) { return number >= 16 && number < (1u << 18) && (number < 19'000 || number >= 20'000); }

TEST(FieldNumber, LiesWhereProtocolBuffersAdmitsIt) {
  for (int i = 0; i < 100'000; ++i) {
    const uint32_t number = FieldNumber("field" + std::to_string(i));
    ASSERT_TRUE(IsAdmitted(number)) << number;
  }
}

TEST(FieldNumber, TheNextOneLiesThereToo) {
  EXPECT_EQ(FieldNumberAfter(16), 17U);
  EXPECT_EQ(FieldNumberAfter(18'999), 20'000U);
  EXPECT_EQ(FieldNumberAfter((1U << 18) - 1), 16U);
}

}  // namespace
}  // namespace wf::source
