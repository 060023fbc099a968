#include "runtime/protocol/oip/names.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/protocol/oip/metadata.h"
#include "tests/unit/runtime/protocol/oip/types_plan.h"

namespace wf::oip {
namespace {

TEST(OipNames, PathsAreCalls) {
  struct Row {
    const char* path;
    Call call;
    const char *model = "", *version = "";
  };
  const Row rows[] = {
      {"/v2", Call::kServerMetadata},
      {"/v2/", Call::kNone},
      {"/v2/health/live", Call::kServerLive},
      {"/v2/health/ready", Call::kServerReady},
      {"/v2/health", Call::kNone},
      {"/v2/health/live/", Call::kNone},
      {"/v2/models", Call::kNone},
      {"/v2/models/", Call::kNone},
      {"/v2/models/m/", Call::kNone},
      {"/v2/models/m/versions/1/", Call::kNone},
      {"/v2/models/m/infer/", Call::kNone},
      {"/v2/models/m", Call::kModelMetadata, "m"},
      {"/v2/models/m/ready", Call::kModelReady, "m"},
      {"/v2/models/m/infer", Call::kInfer, "m"},
      {"/v2/models/m/versions/1", Call::kModelMetadata, "m", "1"},
      {"/v2/models/m/versions/1/ready", Call::kModelReady, "m", "1"},
      {"/v2/models/m/versions/1/infer", Call::kInfer, "m", "1"},
      {"/v2/models/m/versions", Call::kNone},
      {"/v2/models/m/versions//infer", Call::kNone},
      {"/v2/models/m/infer/x", Call::kNone},
      {"/v2/models/m/generate", Call::kNone},
      {"/v2/models/m/config", Call::kModelConfig, "m"},
      {"/v2/models/m/versions/3/config", Call::kModelConfig, "m", "3"},
      {"/v2/models/m/stats", Call::kStatistics, "m"},
      {"/v2/models/m/versions/1/stats", Call::kStatistics, "m", "1"},
      {"/v2/models/stats", Call::kStatistics},
      {"/v2/models/m/trace/setting", Call::kTrace, "m"},
      {"/v2/trace/setting", Call::kTrace},
      {"/v2/trace", Call::kNone},
      {"/v2/logging", Call::kLog},
      {"/v2/repository/index", Call::kIndex},
      {"/v2/repository/index/x", Call::kNone},
      {"/v2/repository/models/m/load", Call::kLoad, "m"},
      {"/v2/repository/models/m/unload", Call::kUnload, "m"},
      {"/v2/repository/models/m", Call::kNone},
      {"/v2/repository/models//load", Call::kNone},
      {"/v2/repository", Call::kNone},
      {"/v2/systemsharedmemory/status", Call::kSharedMemory},
      {"/v2/cudasharedmemory/region/r/register", Call::kSharedMemory},
      {"/v3", Call::kNone},
  };
  for (const Row& row : rows) {
    const Route route = ParsePath(row.path);
    EXPECT_EQ(route.call, row.call) << row.path;
    if (row.call == Call::kNone) continue;
    EXPECT_EQ(route.model, row.model) << row.path;
    EXPECT_EQ(route.version, row.version) << row.path;
  }
}

TEST(OipNames, AModelIsAServiceOrAWorkflowOrBoth) {
  const wf_plan& plan = test::TypesPlan();
  const Names names(plan);
  const auto find = [&](std::string_view name) { return names.Find(name) == nullptr ? nullptr : names.Find(name)->second; };
  EXPECT_EQ(find("Types"), &plan.workflows[0]);
  EXPECT_EQ(find("Types.All"), &plan.workflows[0]);
  EXPECT_EQ(find("Pair"), &plan.workflows[1]);
  EXPECT_EQ(find("Types.Pair"), &plan.workflows[1]);
  EXPECT_EQ(find("Types."), nullptr);
  EXPECT_EQ(find(""), nullptr);
  EXPECT_EQ(names.Nearest("Types.Piar"), "Types.Pair");
  EXPECT_EQ(names.Nearest("Types.Pear"), "") << "half of the letters";
  EXPECT_EQ(names.Nearest("Types.Pole"), "");
}

TEST(OipNames, EachWorkflowHasOneFullName) {
  EXPECT_EQ(Names(test::TypesPlan()).All(),
            (std::vector<std::string>{"Types.All", "Types.Grow", "Types.Half", "Types.Line", "Types.Pair", "Types.Text"}));
}

TEST(OipNames, AWorkflowOfTwoServicesNeedsItsService) {
  const wf_plan& types = test::TypesPlan();
  wf_workflow workflows[2] = {types.workflows[0], types.workflows[0]};
  workflows[1].service = {reinterpret_cast<const uint8_t*>("Other"), 5};
  wf_plan plan = types;
  plan.workflows = workflows;
  plan.n_workflows = 2;
  const Names names(plan);
  EXPECT_EQ(names.Find("All"), nullptr);
  EXPECT_EQ(names.Find("Other.All")->second, &workflows[1]);
  EXPECT_EQ(names.Find("Other")->second, &workflows[1]);
}

TEST(OipMetadata, StatusesComeFromOneTable) {
  EXPECT_EQ(OipStatus(base::kInvalidArgument), 400);
  EXPECT_EQ(OipStatus(base::kNotFound), 404);
  EXPECT_EQ(OipStatus(base::kResourceExhausted), 503);
  EXPECT_EQ(OipStatus(base::kDeadlineExceeded), 503);
  EXPECT_EQ(OipStatus(base::kUnavailable), 503);
  EXPECT_EQ(OipStatus(base::kUnimplemented), 501);
  EXPECT_EQ(OipStatus(base::kInternal), 500);
}

}  // namespace
}  // namespace wf::oip
