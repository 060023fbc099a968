#pragma once

#include "tests/unit/runtime/nodes/fake_job.h"

namespace wf::nodes {

using Texts = std::vector<std::string>;

inline std::string TextOf(const wf_bytes& bytes) { return {reinterpret_cast<const char*>(bytes.ptr), bytes.len}; }
inline Texts TextsOf(const wf_list& list) {
  Texts texts;
  const auto* const part = static_cast<const wf_bytes*>(list.ptr);
  for (uint64_t i = 0; i < list.len; ++i) texts.push_back(TextOf(part[i]));
  return texts;
}

// What a native function makes of a text, and of others that are arguments too.
template <typename Native, typename... Others>
std::string Changed(Native native, std::string_view text, const Others&... others) {
  FakeJob job;
  const wf_bytes bytes = View(text);
  wf_bytes result{};
  EXPECT_EQ(native(&job.ctx, &bytes, &others..., &result), 0) << job.message;
  return TextOf(result);
}

// With less memory than it takes it fails.
template <typename Native, typename... Others>
void ExpectItStopsAndFailsWithoutMemory(Native native, std::string_view text, const Others&... others) {
  const wf_bytes bytes = View(text);
  wf_bytes result{};
  FakeJob abandoned;
  abandoned.stop = 1;
  EXPECT_EQ(native(&abandoned.ctx, &bytes, &others..., &result), WF_FAILED);
  EXPECT_EQ(abandoned.code, 0);
  FakeJob whole;
  ASSERT_EQ(native(&whole.ctx, &bytes, &others..., &result), 0);
  const uint64_t needed = FakeJob().budget - whole.budget;
  for (uint64_t budget = 0; budget < needed; budget += needed / 20 + 1) {
    FakeJob job;
    job.budget = budget;
    EXPECT_EQ(native(&job.ctx, &bytes, &others..., &result), WF_FAILED) << budget;
    EXPECT_EQ(job.code, 3012);
  }
}

}  // namespace wf::nodes
