#include <gtest/gtest.h>

#include <string>

#include "runtime/base/text.h"
#include "tests/unit/runtime/protocol/fake_job.h"

namespace wf::json {
namespace {

TEST(Meta, WhatDoesNotReadAsItsTypeIsToldByItsKey) {
  const auto read = [](std::string_view key, std::string_view text) {
    fake::Job job;
    int64_t out = 0;
    return wf_json_meta(job.ctx(), fake::Bytes(key), fake::Bytes(text), WF_I64, &out) == 0 ? std::to_string(out) : job.message;
  };
  EXPECT_EQ(read("limit", "12"), "12");
  EXPECT_EQ(read("limit", "12x"), "metadata `limit` is not a value of type i64");
  EXPECT_EQ(read("caf\xe9\n", "x"), "metadata `caf??` is not a value of type i64");
  EXPECT_EQ(read(std::string(2000, 'k'), "x"), "metadata `" + std::string(64, 'k') + "...` is not a value of type i64");
}

}  // namespace
}  // namespace wf::json
