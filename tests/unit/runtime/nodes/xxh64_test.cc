#include <gtest/gtest.h>

#include "runtime/nodes/nodes.h"
#include "tests/unit/runtime/nodes/fake_job.h"

namespace wf::nodes {
namespace {

uint64_t HashOf(std::string_view text, uint64_t seed = 0) {
  FakeJob job;
  const wf_bytes data = View(text);
  uint64_t hash = 0;
  EXPECT_EQ(wf_n_xxh64(&job.ctx, &data, &seed, &hash), 0);
  return hash;
}

// Those of xxHash's own program; tests/e2e/numeric_test.py compares every length up to 138 bytes with PyPI's.
TEST(Xxh64, GivesWhatOthersGive) {
  EXPECT_EQ(HashOf(""), 0xef46db3751d8e999);
  EXPECT_EQ(HashOf("abc"), 0x44bc2cf5ad770999);
  EXPECT_EQ(HashOf("Nobody inspects the spammish repetition"), 0xfbcea83c8a378bf1);
}

TEST(Xxh64, DependsOnItsSeed) { EXPECT_NE(HashOf("abc", 1), HashOf("abc", 2)); }

TEST(Xxh64, StopsWhenTheRequestIsAbandoned) {
  FakeJob job;
  job.stop = 1;
  const std::string text(100, 'x');
  const wf_bytes data = View(text);
  const uint64_t seed = 0;
  uint64_t hash = 0;
  EXPECT_EQ(wf_n_xxh64(&job.ctx, &data, &seed, &hash), WF_FAILED);
}

}  // namespace
}  // namespace wf::nodes
