#include "runtime/server/router.h"

#include <gtest/gtest.h>

#include "runtime/protocol/oip/names.h"

extern "C" const wf_plan wf_plan_main;

namespace wf::server {
namespace {

TEST(Router, FindsWorkflowsByTheirPath) {
  const Router router(wf_plan_main);
  EXPECT_EQ(router.Find("/Test/Greet"), &wf_plan_main.workflows[0]);
  EXPECT_EQ(router.Find("/Slow/Sleep"), &wf_plan_main.workflows[3]);
  for (const char* path : {"", "/", "/Test", "/Test/", "/Test/greet", "/Test/Greet/", "Test/Greet", "//Test/Greet"})
    EXPECT_EQ(router.Find(path), nullptr) << path;
  EXPECT_EQ(router.Nearest("/Test/Gret"), "/Test/Greet");
  EXPECT_EQ(router.Nearest("/entirely/other"), "");
  EXPECT_EQ(router.services(), 2U);
}

TEST(OipNames, AModelIsAServiceAWorkflowOrBoth) {
  const oip::Names names(wf_plan_main);
  EXPECT_EQ(names.Find("Test"), &wf_plan_main.workflows[0]) << "the service's first workflow";
  EXPECT_EQ(names.Find("Slow"), &wf_plan_main.workflows[3]);
  EXPECT_EQ(names.Find("Test.Size"), &wf_plan_main.workflows[1]);
  EXPECT_EQ(names.Find("Size"), &wf_plan_main.workflows[1]);
  EXPECT_EQ(names.Find("Slow.Size"), nullptr);
  EXPECT_EQ(names.Nearest("Test.Siez"), "Test.Size");
}

TEST(OipPath, TakesTheProtocolsPathsOnly) {
  struct Case {
    const char* path;
    oip::Call call;
    const char *model, *version;
  };
  const Case cases[] = {
      {"/v2", oip::Call::kServerMetadata, "", ""},
      {"/v2/", oip::Call::kServerMetadata, "", ""},
      {"/v2/health/live", oip::Call::kServerLive, "", ""},
      {"/v2/health/ready", oip::Call::kServerReady, "", ""},
      {"/v2/models/M", oip::Call::kModelMetadata, "M", ""},
      {"/v2/models/M/", oip::Call::kModelMetadata, "M", ""},
      {"/v2/models/M/versions/3", oip::Call::kModelMetadata, "M", "3"},
      {"/v2/models/M/ready", oip::Call::kModelReady, "M", ""},
      {"/v2/models/M/versions/3/ready", oip::Call::kModelReady, "M", "3"},
      {"/v2/models/M/infer", oip::Call::kInfer, "M", ""},
      {"/v2/models/M/versions/3/infer", oip::Call::kInfer, "M", "3"},
      {"/v2/models", oip::Call::kNone, "", ""},
      {"/v2/models//infer", oip::Call::kNone, "", ""},
      {"/v2/models/M/versions", oip::Call::kNone, "", ""},
      {"/v2/models/M/infer/x", oip::Call::kNone, "", ""},
      {"/v2/models/M/other", oip::Call::kNone, "", ""},
      {"/v2/health", oip::Call::kNone, "", ""},
      {"/v1/models/M", oip::Call::kNone, "", ""},
  };
  for (const Case& c : cases) {
    const oip::Route route = oip::ParsePath(c.path);
    EXPECT_EQ(route.call, c.call) << c.path;
    if (c.call == oip::Call::kNone) continue;
    EXPECT_EQ(route.model, c.model) << c.path;
    EXPECT_EQ(route.version, c.version) << c.path;
  }
}

}  // namespace
}  // namespace wf::server
