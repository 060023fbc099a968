#include "compiler/sema/forward.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "compiler/sema/names.h"

namespace wf::sema {
namespace {

constexpr size_t kMostFollowed = 20'000;  // names of a body, in search of cycles

}  // namespace

std::optional<std::vector<Step>> WayTo(const std::string& from, const std::string& wanted, const Follow& follow) {
  std::map<std::string, Step> before;  // the step that led here
  std::vector<std::string> open{from};
  before.emplace(from, Step{});
  for (size_t at = 0; at < open.size(); ++at) {
    const std::string name = open[at];
    const auto mentioned = follow(name);
    if (!mentioned) continue;
    if (name == wanted) {
      std::vector<Step> way{{name, mentioned->span}};
      for (std::string up = name; up != from; up = way.back().name) way.push_back(before.at(up));
      std::reverse(way.begin(), way.end());
      return way;
    }
    for (const std::string& next : mentioned->names) {
      if (before.emplace(next, Step{name, mentioned->span}).second) open.push_back(next);
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
  if (FindEntity(body.module, name) != nullptr) return false;  // that the local has its name is told where it is declared
  for (auto block = body.blocks.rbegin(); block != body.blocks.rend(); ++block) {
    const BlockNames::Declared* target = block->Find(name);
    if (target == nullptr || (target->stmt->span.begin < use.begin && !Holds(target->stmt->span, use))) continue;
    if (!body.forward_reported.insert(name).second) return true;
    const Follow follow = [&](const std::string& step) -> std::optional<Mentioned> {
      const BlockNames::Declared* at = ++body.followed > kMostFollowed ? nullptr : block->Find(step);
      if (at == nullptr) return std::nullopt;
      Mentioned mentioned{at->name->span, {}};
      CollectNames(*at->stmt, mentioned.names);
      return mentioned;
    };
    const BlockNames::Declared* around = block->Around(use);
    const auto way = around == nullptr ? std::nullopt : WayTo(name, around->name->text, follow);
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
