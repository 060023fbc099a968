#include "compiler/sema/forward.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace wf::sema {
namespace {

// A `let` or a node of a block.
struct Declared {
  const ast::Name* name;
  const ast::Stmt* stmt;
};

std::optional<Declared> DeclaredBy(const ast::Stmt& stmt) {
  if (const auto* let = ast::DynAs<ast::LetStmt>(stmt)) return Declared{&let->name, &stmt};
  if (const auto* node = ast::DynAs<ast::NodeStmt>(stmt)) return Declared{&node->name, &stmt};
  return std::nullopt;
}

// What a block declares, the nodes of its stages included.
std::vector<Declared> DeclaredIn(const std::vector<ast::StmtPtr>& statements) {
  std::vector<Declared> found;
  for (const ast::StmtPtr& stmt : statements) {
    if (const auto declared = DeclaredBy(*stmt)) found.push_back(*declared);
    const auto* stage = ast::DynAs<ast::StageStmt>(*stmt);
    for (size_t i = 0; stage != nullptr && i < stage->nodes.size(); ++i) {
      if (const auto declared = DeclaredBy(*stage->nodes[i])) found.push_back(*declared);
    }
  }
  return found;
}

using ByName = std::map<std::string_view, const Declared*>;

const Declared* Find(const ByName& all, const std::string& name) {
  const auto at = all.find(name);
  return at == all.end() ? nullptr : at->second;
}

bool Holds(const Span& outer, const Span& inner) {
  return outer.file == inner.file && outer.begin <= inner.begin && inner.end <= outer.end;
}

}  // namespace

std::optional<std::vector<Step>> WayTo(const std::string& from, const std::string& wanted, const Follow& follow) {
  std::map<std::string, Step> before;  // the step that led here
  std::vector<std::string> open{from};
  before.emplace(from, Step{});
  for (size_t at = 0; at < open.size(); ++at) {
    const std::string name = open[at];
    const auto mentions = follow(name);
    if (!mentions) continue;
    if (name == wanted) {
      std::vector<Step> way{{name, mentions->span}};
      for (std::string up = name; up != from; up = way.back().name) way.push_back(before.at(up));
      std::reverse(way.begin(), way.end());
      return way;
    }
    for (const std::string& next : mentions->names) {
      if (before.emplace(next, Step{name, mentions->span}).second) open.push_back(next);
    }
  }
  return std::nullopt;
}

diag::Builder ReportCycle(Env& env, const Span& use, const std::vector<Step>& way) {
  constexpr size_t kMostSteps = 8;  // of a long way, its first and its last
  const std::string& whole = way.back().name;
  std::vector<std::pair<Span, std::string>> steps;
  for (size_t i = 0; i + 1 < way.size(); ++i) {
    if (i == kMostSteps - 1 && way.size() > kMostSteps + 1) i = way.size() - 2;
    steps.emplace_back(way[i].span, "`" + way[i].name + "` uses `" + way[i + 1].name + "`");
  }
  std::string path = way.size() > 1 ? "`" + whole + "` uses `" + way.front().name + "`" : "it stands in its own declaration";
  for (size_t i = 0; i < steps.size(); ++i) {
    const bool gap = i + 1 == kMostSteps && way.size() > kMostSteps + 1;
    path += (gap ? ", and so on for " + std::to_string(way.size() - 1 - kMostSteps) + " more, " : ", ") + steps[i].second;
  }
  auto builder = env.Report(use, kRecursion, {whole, path});
  for (const auto& [span, text] : steps) builder.Label(span, text);
  builder.Label(way.back().span, "declared here");
  return builder;
}

bool ReportForwardLocal(Body& body, const std::string& name, const Span& use) {
  for (auto block = body.blocks.rbegin(); block != body.blocks.rend(); ++block) {
    const std::vector<Declared> declared = DeclaredIn(**block);
    const auto target = std::find_if(declared.begin(), declared.end(), [&](const Declared& one) { return one.name->text == name; });
    if (target == declared.end() || (target->stmt->span.begin < use.begin && !Holds(target->stmt->span, use))) continue;
    if (!body.forward_reported.insert(name).second) return true;
    const auto around = std::find_if(declared.begin(), declared.end(), [&](const Declared& one) { return Holds(one.stmt->span, use); });
    ByName by_name;
    for (const Declared& one : declared) by_name.emplace(one.name->text, &one);
    const Follow follow = [&](const std::string& step) -> std::optional<Mentions> {
      const Declared* at = Find(by_name, step);
      if (at == nullptr) return std::nullopt;
      Mentions mentions{at->name->span, {}};
      CollectNames(*at->stmt, mentions.names);
      return mentions;
    };
    const auto way = around == declared.end() ? std::nullopt : WayTo(name, around->name->text, follow);
    if (way) {
      for (const Step& step : *way) body.forward_reported.insert(step.name);
      ReportCycle(body.env, use, *way);
    } else {
      body.env.Report(use, kUsedBeforeDeclared, {name}).Label(target->name->span, "declared here");
    }
    return true;
  }
  return false;
}

}  // namespace wf::sema
