#include "compiler/sema/stages.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "compiler/sema/reads.h"

namespace wf::sema {
namespace {

bool Yields(const Stmt& stmt) { return stmt.kind == StmtKind::kLet || stmt.kind == StmtKind::kNode; }

// Which statement each read of a statement goes to.
class Graph {
 public:
  explicit Graph(const Workflow& workflow) : reads_(workflow.body.size()) {
    std::map<LocalId, size_t> by_local;
    std::map<std::string, size_t> by_symbol;
    for (size_t i = 0; i < workflow.body.size(); ++i) {
      const Stmt& stmt = workflow.body[i];
      Reads reads;
      for (const ExprPtr* expr : {&stmt.value, &stmt.message, &stmt.fallback}) {
        if (*expr) CollectReads(**expr, reads);
      }
      for (const auto* exprs : {&stmt.conditions, &stmt.results}) {
        for (const ExprPtr& expr : *exprs) CollectReads(*expr, reads);
      }
      for (const LocalId local : reads.locals) {
        if (const auto at = by_local.find(local); at != by_local.end()) reads_[i].insert(at->second);
      }
      for (const std::string& symbol : reads.symbols) {
        if (const auto at = by_symbol.find(symbol); at != by_symbol.end()) reads_[i].insert(at->second);
      }
      if (!Yields(stmt)) continue;
      by_local.emplace(stmt.local, i);
      for (const FreshSymbol& fresh : stmt.value->fresh) by_symbol.emplace(fresh.symbol, i);
    }
  }
  const std::set<size_t>& reads(size_t stmt) const { return reads_[stmt]; }

 private:
  std::vector<std::set<size_t>> reads_;
};

std::vector<bool> LiveOf(const Workflow& workflow, const Graph& graph) {
  std::vector<bool> live(workflow.body.size());
  for (size_t i = workflow.body.size(); i-- > 0;) {
    if (!Yields(workflow.body[i])) live[i] = true;
    if (!live[i]) continue;
    for (const size_t read : graph.reads(i)) live[read] = true;
  }
  return live;
}

void DropDead(Workflow& workflow, std::vector<int>& written) {
  const std::vector<bool> live = LiveOf(workflow, Graph(workflow));
  std::vector<Stmt> kept;
  std::vector<int> kept_written;
  for (size_t i = 0; i < live.size(); ++i) {
    if (!live[i]) continue;
    kept.push_back(std::move(workflow.body[i]));
    kept_written.push_back(written[i]);
  }
  workflow.body = std::move(kept);
  written = std::move(kept_written);
}

// The nodes that a statement reads, through `let`s.
std::vector<std::set<size_t>> NodeReads(const Workflow& workflow, const Graph& graph) {
  std::vector<std::set<size_t>> nodes(workflow.body.size());
  for (size_t i = 0; i < workflow.body.size(); ++i) {
    for (const size_t read : graph.reads(i)) {
      if (workflow.body[read].kind == StmtKind::kNode) {
        nodes[i].insert(read);
      } else {
        nodes[i].insert(nodes[read].begin(), nodes[read].end());
      }
    }
  }
  return nodes;
}

// Levels of longest paths over nodes, along what they read and the control points that they wait for (docs/semantics.md 1); 0 for nodes
// that start at once. The nodes of a written stage are one step: what needs one of them is behind them all, so that no stages need each
// other.
class Levels {
 public:
  Levels(const Workflow& workflow, const Graph& graph, const std::vector<int>& written)
      : workflow_(workflow), graph_(graph), written_(written), level_(workflow.body.size(), 0), there_(workflow.body.size(), 0) {
    Block(0, 0, 0);
  }
  std::vector<int> Take() { return std::move(level_); }

 private:
  struct Passed {
    size_t next;  // the statement behind the block
    int level;    // where control has passed
    bool ends;    // it does not
  };

  // The statements of `block` from `index` on, which control reaches at `level`.
  Passed Block(size_t index, uint32_t block, int level) {
    bool ends = false;
    while (index < workflow_.body.size() && workflow_.body[index].block == block) {
      const Stmt& stmt = workflow_.body[index];
      ends = stmt.kind == StmtKind::kReturn || stmt.kind == StmtKind::kFail;
      if (stmt.kind == StmtKind::kIf) {
        const Passed arms = Arms(index, std::max(level, Readable(index)));
        index = arms.next;
        level = arms.level;
        ends = arms.ends;
        continue;
      }
      if (stmt.kind == StmtKind::kNode) {
        index = Nodes(index, level);
        continue;
      }
      there_[index] = Readable(index);
      if (stmt.kind == StmtKind::kRequire) level = std::max(level, there_[index]);
      ++index;
    }
    return {index, level, ends};
  }

  // What follows an `if` waits for the arms that control leaves again.
  Passed Arms(size_t index, int level) {
    const Stmt& stmt = workflow_.body[index];
    Passed result{index + 1, level, stmt.arms.size() > stmt.conditions.size()};
    for (const uint32_t arm : stmt.arms) {
      const Passed passed = Block(result.next, arm, level);
      result.next = passed.next;
      if (!passed.ends) result.level = std::max(result.level, passed.level);
      result.ends = result.ends && passed.ends;
    }
    return result;
  }

  // One node, or those of a written stage.
  size_t Nodes(size_t first, int level) {
    size_t end = first;
    do {
      level = std::max(level, Readable(end++));
    } while (written_[first] >= 0 && end < written_.size() && written_[end] == written_[first]);
    for (size_t i = first; i < end; ++i) {
      level_[i] = level;
      there_[i] = level + 1;
    }
    return end;
  }

  int Readable(size_t stmt) const {
    int level = 0;
    for (const size_t read : graph_.reads(stmt)) level = std::max(level, there_[read]);
    return level;
  }

  const Workflow& workflow_;
  const Graph& graph_;
  const std::vector<int>& written_;
  std::vector<int> level_, there_;  // per statement: of nodes, and from where on what reads it may stand
};

void ReportInside(Env& env, const Workflow& workflow, const std::vector<std::set<size_t>>& reads, const std::vector<int>& written) {
  for (size_t i = 0; i < workflow.body.size(); ++i) {
    if (written[i] < 0 || workflow.body[i].kind != StmtKind::kNode) continue;
    for (const size_t read : reads[i]) {
      if (written[read] != written[i]) continue;
      const Local& here = workflow.locals[workflow.body[i].local];
      const Local& there = workflow.locals[workflow.body[read].local];
      ReportStageDependency(env, here.name, here.span, there.name, there.span);
    }
  }
}

// Stages in the order of their levels, then of the text; inferred ones are s1, s2, .. without the names that are written.
void NameStages(Workflow& workflow, const std::vector<int>& levels, const std::vector<int>& written) {
  const std::vector<Workflow::Stage> given = std::move(workflow.stages);
  using Place = std::pair<int, int>;  // of a node: its level, and its written stage or -1
  std::map<Place, size_t> first_nodes;
  for (size_t i = 0; i < workflow.body.size(); ++i) {
    if (workflow.body[i].kind == StmtKind::kNode) first_nodes.emplace(Place{levels[i], written[i]}, i);
  }
  std::vector<std::tuple<int, size_t, Place>> places;  // level, first node
  for (const auto& [place, node] : first_nodes) places.emplace_back(place.first, node, place);
  std::sort(places.begin(), places.end());
  std::map<Place, uint32_t> stages;
  int number = 0;
  workflow.stages.clear();
  for (const auto& [level, node, place] : places) {
    stages[place] = static_cast<uint32_t>(workflow.stages.size());
    if (place.second >= 0) {
      workflow.stages.push_back(given[static_cast<size_t>(place.second)]);
      continue;
    }
    std::string name;
    do {
      name = "s" + std::to_string(++number);
    } while (std::any_of(given.begin(), given.end(), [&](const Workflow::Stage& stage) { return stage.name == name; }));
    workflow.stages.push_back({name, false});
  }
  for (size_t i = 0; i < workflow.body.size(); ++i) {
    Stmt& stmt = workflow.body[i];
    if (stmt.kind != StmtKind::kNode) continue;
    stmt.in_written_stage = written[i] >= 0;
    stmt.stage = stages[{levels[i], written[i]}];
  }
}

}  // namespace

void ReportStageDependency(Env& env, const std::string& node, const Span& span, const std::string& other, const Span& other_span) {
  env.Report(span, kStageDependency, {node, other}).Label(other_span, "in the same stage");
}

void FinishGraph(Env& env, Workflow& workflow, std::vector<int>& written) {
  {
    const Graph graph(workflow);
    ReportInside(env, workflow, NodeReads(workflow, graph), written);
  }
  DropDead(workflow, written);
  NameStages(workflow, Levels(workflow, Graph(workflow), written).Take(), written);
}

}  // namespace wf::sema
