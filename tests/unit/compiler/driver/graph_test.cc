#include "compiler/driver/graph.h"

#include <gtest/gtest.h>

#include <ctime>

namespace wf::driver {
namespace {

// One workflow of two nodes in two stages: `read` calls a model, `tidy` reads it and has a fallback.
ir::Program TwoNodes() {
  ir::Program program;
  const ir::TypeId text = program.types.String();
  program.source_name = "a \"b\".wf";
  program.models.push_back({.name = "Rec", .path = "rec.onnx", .batched = true});
  program.stages = {{"Read", "look", true}, {"Read", "s1", false}};
  program.nodes = {{.path = "Read", .line = 1},
                   {.path = "Read/read", .line = 2, .stage = ir::StageId{0}},
                   {.path = "Read/tidy", .line = 3, .stage = ir::StageId{1}, .reads = {ir::NodeId{1}}}};
  program.policies.push_back({.timeout_ns = 1'500'000, .delay_ns = 2'000'000, .batch_max = 32, .queue_max = 256, .retry = 2});
  program.slots = {{.name = "page", .type = text}, {.name = "read", .type = text}, {.name = "tidy", .type = text}};
  program.regions = {{.node = ir::NodeId{0}}, {.parent = ir::RegionId{0}, .on_error = ir::RegionId{2}}, {.parent = ir::RegionId{0}}};
  const auto task = [&](ir::TaskKind kind, uint16_t region, uint16_t node) {
    program.tasks.push_back({.kind = kind, .region = ir::RegionId{region}, .node = ir::NodeId{node}});
    return &program.tasks.back();
  };
  ir::Task* model = task(ir::TaskKind::kModel, 0, 1);
  model->model = ir::ModelId{0};
  model->policy = ir::PolicyId{0};
  model->in = {ir::SlotId{0}};
  model->out = ir::SlotId{1};
  ir::Task* enter = task(ir::TaskKind::kEnter, 0, 2);
  enter->targets = {ir::RegionId{1}};
  enter->in = {ir::SlotId{1}};
  enter->out = ir::SlotId{2};
  task(ir::TaskKind::kReturn, 0, 0)->in = {ir::SlotId{2}};
  program.workflows.push_back({.name = "Read",
                               .service = "S",
                               .in = {{.name = "page", .type = text}},
                               .out = {{.name = "text", .type = text}},
                               .root = ir::RegionId{0},
                               .is_default = true,
                               .timeout_ns = 30'000'000'000});
  return program;
}

TEST(Graph, ShowsNodesInStagesWithEffectiveSettings) {
  EXPECT_EQ(GraphText(GraphOf(TwoNodes()), Level::kNode), R"(S/Read (default)
  in   page: string
  out  text: string
  timeout 30s · inflight 256 · body 64MiB · rows 1024
  stage look
    read  model Rec
      batch 32 within 2ms · queue 256 · instances 1 · precision f32 · priority normal · timeout 1.5ms · retry 2
  stage s1 (inferred)  ← look
    tidy  ← read  else …
)");
}

TEST(Graph, ShowsWhatDiffersBetweenTheCallsOfANode) {
  ir::Program program = TwoNodes();
  program.models.push_back(program.models.front());
  program.models.back().name = "Other";
  program.policies.push_back({.delay_ns = 1'000'000, .batch_max = 8, .queue_max = 256});
  ir::Task other = program.tasks.front();
  other.model = ir::ModelId{1};
  other.policy = ir::PolicyId{1};
  program.tasks.push_back(other);
  const Graph graph = GraphOf(program);
  const std::string text = GraphText(graph, Level::kNode);
  EXPECT_NE(text.find(R"(    read  model Rec, Other
      queue 256 · instances 1 · precision f32 · priority normal
      Rec: batch 32 within 2ms · timeout 1.5ms · retry 2
      Other: batch 8 within 1ms
)"),
            std::string::npos)
      << text;
  const std::string json = GraphJson(graph, Level::kNode);
  EXPECT_NE(json.find(R"("calls":[{"model":"Rec","settings":{"batch":"32 within 2ms","timeout":"1.5ms","retry":"2"}},)"
                      R"({"model":"Other","settings":{"batch":"8 within 1ms"}}])"),
            std::string::npos)
      << json;
}

// Each node reads the one before it; or each calls a workflow of one node.
ir::Program ManyNodes(size_t count, bool calls) {
  ir::Program program;
  const ir::TypeId text = program.types.String();
  program.nodes = {{.path = "W", .line = 1}};
  program.regions = {{.node = ir::NodeId{0}}};
  const auto node = [&](const std::string& path) {
    program.nodes.push_back({.path = path, .line = 1});
    return static_cast<ir::NodeId>(program.nodes.size() - 1);
  };
  const auto stage = [&](const std::string& workflow, size_t number) {
    program.stages.push_back({workflow, "s" + std::to_string(number), false});
    return static_cast<ir::StageId>(program.stages.size() - 1);
  };
  const auto task = [&](ir::TaskKind kind, ir::NodeId of, std::vector<ir::SlotId> in) {
    program.slots.push_back({.name = "v", .type = text});
    const auto out = static_cast<ir::SlotId>(program.slots.size() - 1);
    program.tasks.push_back({.kind = kind, .region = ir::RegionId{0}, .node = of, .out = out, .in = std::move(in)});
    return out;
  };
  std::vector<ir::SlotId> before;
  for (size_t at = 0; at < count; ++at) {
    const std::string path = "W/n" + std::to_string(at);
    const ir::NodeId own = node(path);
    program.nodes.back().stage = stage("W", at + 1);
    if (calls) {
      const ir::NodeId called = node(path + "/L"), inside = node(path + "/L/a");
      program.nodes.back().stage = stage(path + "/L", 1);
      task(ir::TaskKind::kEnter, own, {task(ir::TaskKind::kReturn, called, {task(ir::TaskKind::kRun, inside, {})})});
    } else {
      if (at > 0) program.nodes.back().reads = {static_cast<ir::NodeId>(static_cast<size_t>(own) - 1)};
      before = {task(ir::TaskKind::kRun, own, before)};
    }
  }
  program.workflows.push_back({.name = "W", .service = "S", .root = ir::RegionId{0}});
  return program;
}

// What grew with the square of the nodes, or of the calls, took many seconds here.
TEST(Graph, LargeWorkflowsCostNoMoreThanTheirSize) {
  const std::clock_t start = std::clock();
  const Graph chain = GraphOf(ManyNodes(20'000, false));
  const Graph calls = GraphOf(ManyNodes(8'000, true));
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC,
            10);  // seconds of processor time, under a sanitizer; squares of these numbers would take minutes
  ASSERT_EQ(chain.workflows[0].stages.size(), 20'000u);
  EXPECT_EQ(chain.workflows[0].stages[19'999].after, std::vector<std::string>{"s19999"});
  ASSERT_EQ(calls.workflows[0].stages.size(), 16'000u);
}

TEST(Graph, ShowsTasksAndWhatTheyRead) {
  const std::string text = GraphText(GraphOf(TwoNodes()), Level::kTask);
  EXPECT_NE(text.find("      t0 model Rec\n"), std::string::npos) << text;
  EXPECT_NE(text.find("      t1 enter tidy ← t0\n"), std::string::npos);
  EXPECT_NE(text.find("  t2 return ← t1\n"), std::string::npos);
}

TEST(Graph, ShowsStagesAndWorkflowsAlone) {
  EXPECT_NE(GraphText(GraphOf(TwoNodes()), Level::kStage).find("  stage s1 (inferred)  ← look\n    tidy\n"), std::string::npos);
  EXPECT_EQ(GraphText(GraphOf(TwoNodes()), Level::kWorkflow).find("stage"), std::string::npos);
}

TEST(Graph, WritesDotWithQuotedNames) {
  const std::string dot = GraphDot(GraphOf(TwoNodes()), Level::kNode);
  EXPECT_EQ(dot.find(R"(digraph "a \"b\".wf" {)"), 0u);
  EXPECT_NE(dot.find(R"("S/Read/read" -> "S/Read/tidy";)"), std::string::npos);
  EXPECT_EQ(std::count(dot.begin(), dot.end(), '{'), std::count(dot.begin(), dot.end(), '}'));
}

TEST(Graph, WritesMermaidWithNumbersForNames) {
  EXPECT_EQ(GraphMermaid(GraphOf(TwoNodes()), Level::kStage), R"(flowchart LR
  subgraph g1["S/Read"]
    n0["look<br/>read"]
    n1["s1<br/>tidy"]
  end
  n0 --> n1
)");
  ir::Program program = TwoNodes();
  program.nodes[1].path = "Read/a\"<#;";
  EXPECT_NE(GraphMermaid(GraphOf(program), Level::kNode).find("n0[\"a#34;#60;#35;#59;<br/>model Rec<br/>"), std::string::npos);
}

size_t Count(const std::string& text, std::string_view word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST(Graph, DrawsNodesInFramesWithWires) {
  const std::string svg = *GraphSvg(GraphOf(TwoNodes()), Level::kNode);
  EXPECT_EQ(svg.find("<svg xmlns="), 0u);
  EXPECT_EQ(Count(svg, "class=\"wire\""), 1u);
  EXPECT_EQ(Count(svg, "class=\"stage\""), 1u);
  EXPECT_EQ(Count(svg, "class=\"inferred\""), 1u);
  EXPECT_EQ(Count(svg, "class=\"model\""), 1u);
  EXPECT_NE(svg.find("<title>a &quot;b&quot;.wf</title>"), std::string::npos);
  EXPECT_NE(svg.find(">stage look</text>"), std::string::npos);
}

TEST(Graph, DrawsEveryLevel) {
  EXPECT_EQ(Count(*GraphSvg(GraphOf(TwoNodes()), Level::kWorkflow), "<rect x="), 1u);
  EXPECT_EQ(Count(*GraphSvg(GraphOf(TwoNodes()), Level::kStage), "<rect x="), 2u);
  EXPECT_EQ(Count(*GraphSvg(GraphOf(TwoNodes()), Level::kTask), "<rect x="), 3u);
  EXPECT_EQ(Count(*GraphSvg({}, Level::kNode), "<rect x="), 0u);
}

// A chain whose last node reads all others.
Graph ReadingAll(size_t nodes) {
  Graph graph;
  graph.workflows.emplace_back();
  graph.workflows[0].stages.emplace_back();
  std::vector<Graph::Node>& chain = graph.workflows[0].stages[0].nodes;
  for (size_t at = 0; at < nodes; ++at) {
    Graph::Node node;
    node.name = "a" + std::to_string(at);
    if (at > 0) node.reads.push_back(chain.back().name);
    for (size_t other = 0; at + 1 == nodes && other + 2 < nodes; ++other) node.reads.push_back(chain[other].name);
    chain.push_back(std::move(node));
  }
  return graph;
}

TEST(Graph, DrawsNoMoreWiresThanAnybodyCouldFollow) {
  EXPECT_TRUE(GraphSvg(ReadingAll(400), Level::kNode).has_value());
  EXPECT_FALSE(GraphSvg(ReadingAll(500), Level::kNode).has_value());
  Graph twice = ReadingAll(400);
  twice.workflows.push_back(twice.workflows[0]);
  EXPECT_FALSE(GraphSvg(twice, Level::kNode).has_value()) << "workflows count together";
}

TEST(Graph, ShortensLongLabelsByCharacters) {
  ir::Program program = TwoNodes();
  program.models[0].name = std::string(30, 'm');
  for (int letter = 0; letter < 30; ++letter) program.models[0].name += "é";
  EXPECT_NE(GraphSvg(GraphOf(program), Level::kNode)->find("mééééééé…</text>"), std::string::npos);
}

TEST(Graph, WritesOneLineOfJsonForEveryLevel) {
  for (const Level level : {Level::kWorkflow, Level::kStage, Level::kNode, Level::kTask}) {
    const std::string json = GraphJson(GraphOf(TwoNodes()), level);
    EXPECT_EQ(json.find('\n'), std::string::npos);
    EXPECT_EQ(std::count(json.begin(), json.end(), '{'), std::count(json.begin(), json.end(), '}'));
    EXPECT_EQ(json.find(R"("nodes")") != std::string::npos, level != Level::kWorkflow);
    EXPECT_EQ(json.find(R"("tasks")") != std::string::npos, level == Level::kTask);
  }
}

TEST(Graph, SaysWhenNothingIsPublished) { EXPECT_EQ(GraphText({}, Level::kNode), "nothing is published\n"); }

}  // namespace
}  // namespace wf::driver
