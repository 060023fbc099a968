#include "compiler/sema/forward.h"

#include <string>
#include <utility>

#include "compiler/sema/names.h"

namespace wf::sema {

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
    const BlockNames::Declared* around = block->Around(use);
    const auto way = around == nullptr ? std::nullopt : block->WayTo(name, around->name->text);
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
