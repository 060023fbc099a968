#include "compiler/sema/stages.h"

#include <algorithm>
#include <set>

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

// Levels of longest paths over nodes; 0 for nodes that read no other.
std::vector<int> Levels(const Workflow& workflow, const std::vector<std::set<size_t>>& reads) {
  std::vector<int> levels(workflow.body.size(), 0);
  for (size_t i = 0; i < workflow.body.size(); ++i) {
    if (workflow.body[i].kind != StmtKind::kNode) continue;
    for (const size_t read : reads[i]) levels[i] = std::max(levels[i], levels[read] + 1);
  }
  return levels;
}

void ReportInside(Env& env, const Workflow& workflow, const std::vector<std::set<size_t>>& reads, const std::vector<int>& written) {
  for (size_t i = 0; i < workflow.body.size(); ++i) {
    if (written[i] < 0 || workflow.body[i].kind != StmtKind::kNode) continue;
    for (const size_t read : reads[i]) {
      if (written[read] != written[i]) continue;
      const Local& here = workflow.locals[workflow.body[i].local];
      const Local& there = workflow.locals[workflow.body[read].local];
      env.Report(here.span, kStageDependency, {here.name, there.name}).Label(there.span, "in the same stage");
    }
  }
}

// Stages in the order in which their first nodes can start; inferred ones are s1, s2, .. without the names that are written.
void NameStages(Workflow& workflow, const std::vector<int>& levels, const std::vector<int>& written) {
  const std::vector<Workflow::Stage> given = std::move(workflow.stages);
  std::map<int, int> first_level;  // of written stages
  std::set<int> inferred;
  for (size_t i = 0; i < workflow.body.size(); ++i) {
    if (workflow.body[i].kind != StmtKind::kNode) continue;
    if (written[i] < 0) {
      inferred.insert(levels[i]);
    } else {
      const auto [at, fresh] = first_level.emplace(written[i], levels[i]);
      at->second = std::min(at->second, levels[i]);
    }
  }
  struct Entry {
    int level, kind, index;  // kind 0: inferred, index its level; 1: written
  };
  std::vector<Entry> entries;
  for (const int level : inferred) entries.push_back({level, 0, level});
  for (const auto& [stage, level] : first_level) entries.push_back({level, 1, stage});
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return std::tie(a.level, a.kind, a.index) < std::tie(b.level, b.kind, b.index); });
  std::map<int, uint32_t> of_level, of_written;
  int number = 0;
  workflow.stages.clear();
  for (const Entry& entry : entries) {
    const auto at = static_cast<uint32_t>(workflow.stages.size());
    if (entry.kind == 1) {
      of_written[entry.index] = at;
      workflow.stages.push_back(given[static_cast<size_t>(entry.index)]);
      continue;
    }
    std::string name;
    do {
      name = "s" + std::to_string(++number);
    } while (std::any_of(given.begin(), given.end(), [&](const Workflow::Stage& stage) { return stage.name == name; }));
    of_level[entry.index] = at;
    workflow.stages.push_back({name, false});
  }
  for (size_t i = 0; i < workflow.body.size(); ++i) {
    Stmt& stmt = workflow.body[i];
    if (stmt.kind != StmtKind::kNode) continue;
    stmt.in_written_stage = written[i] >= 0;
    stmt.stage = stmt.in_written_stage ? of_written[written[i]] : of_level[levels[i]];
  }
}

}  // namespace

void FinishGraph(Env& env, Workflow& workflow, std::vector<int>& written) {
  {
    const Graph graph(workflow);
    ReportInside(env, workflow, NodeReads(workflow, graph), written);
  }
  DropDead(workflow, written);
  const Graph graph(workflow);
  const auto reads = NodeReads(workflow, graph);
  NameStages(workflow, Levels(workflow, reads), written);
}

}  // namespace wf::sema
