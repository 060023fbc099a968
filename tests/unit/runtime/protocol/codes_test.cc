#include "runtime/protocol/codes.h"

#include <gtest/gtest.h>

#include <array>

namespace wf::protocol {
namespace {

wf_bytes Bytes(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

TEST(InfoOf, WhatTheProgramDeclaresComesBeforeTheFramework) {
  const std::array<wf_declared_error, 3> errors = {{{60, static_cast<uint32_t>(base::kNotFound), Bytes("Gone")},
                                                    {999, static_cast<uint32_t>(base::kUnavailable), Bytes("Busy")},
                                                    {100001, static_cast<uint32_t>(base::kInvalidArgument), Bytes("Odd")}}};
  wf_plan plan{};
  plan.errors = errors.data();
  plan.n_errors = errors.size();
  for (const wf_declared_error& error : errors) {
    const CodeInfo info = InfoOf(plan, error.code);
    EXPECT_EQ(info.name, std::string_view(reinterpret_cast<const char*>(error.name.ptr), error.name.len));
    EXPECT_EQ(static_cast<uint32_t>(info.status), error.status);
  }
  EXPECT_EQ(InfoOf(plan, code::kTimeout).name, "Timeout");
  EXPECT_EQ(InfoOf(plan, 7004).name, "Type");
  EXPECT_EQ(InfoOf(plan, 100002).name, base::CodeInfoOf(100002).name) << "of nobody";
}

TEST(InfoOf, APlanWithoutErrorsHasThoseOfTheFramework) {
  const wf_plan plan{};
  EXPECT_EQ(InfoOf(plan, code::kInputParams).status, base::kInvalidArgument);
}

TEST(ErrorText, HasTheNameWhereThereIsNoMessage) {
  EXPECT_EQ((ErrorText{100001, "Odd", "what was odd", "", 1, ""}).text(), "what was odd");
  EXPECT_EQ((ErrorText{100001, "Odd", "", "", 1, ""}).text(), "Odd");
}

}  // namespace
}  // namespace wf::protocol
