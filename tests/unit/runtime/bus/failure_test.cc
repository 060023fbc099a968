#include "runtime/bus/failure.h"

#include <gtest/gtest.h>

#include <string>

namespace wf::bus {
namespace {

wf_bytes Text(std::string_view text) { return {reinterpret_cast<const uint8_t*>(text.data()), text.size()}; }

TEST(PathOf, PutsTheElementBehindItsFanOut) {
  const std::string paths[] = {"Read/texts", "Read/texts/Recognise", "Read/texts/words"};
  wf_node nodes[3];
  for (int i = 0; i < 3; ++i) nodes[i] = {Text(paths[i]), 0, 0};
  wf_plan plan{};
  plan.nodes = nodes;
  plan.n_nodes = 3;
  Failure failure;
  failure.node = 1;
  failure.n_crumbs = 1;
  failure.crumbs[0] = {0, 3};
  EXPECT_EQ(PathOf(plan, failure), "Read/texts[3]/Recognise");
  failure.node = 2;
  failure.n_crumbs = 2;
  failure.crumbs[1] = {2, 8};
  EXPECT_EQ(PathOf(plan, failure), "Read/texts[3]/words[8]");
  failure.node = WF_NONE;
  EXPECT_EQ(PathOf(plan, failure), "");
}

TEST(Hide, IsNewsOnceButForWhatAllRequestsShare) {
  const Failure failure;
  EXPECT_TRUE(failure.Hide());
  EXPECT_FALSE(failure.Hide());
  for (int times = 0; times < 2; ++times) EXPECT_TRUE(kOutOfMemory.Hide() && kNoRoom.Hide() && kWithdrawn.Hide());
}

}  // namespace
}  // namespace wf::bus
