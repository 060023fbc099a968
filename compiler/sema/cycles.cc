#include "compiler/sema/cycles.h"

#include <algorithm>

namespace wf::sema {
namespace {

constexpr size_t kMostFollowed = 100'000;

}  // namespace

const NameSet& Cycles::MentionedBy(const DeclaredBy& declared) {
  const auto [at, fresh] = mentioned_.try_emplace(declared.tree);
  if (fresh) std::visit([&](const auto* tree) { CollectNames(*tree, at->second); }, declared.tree);
  return at->second;
}

std::optional<std::vector<Step>> Cycles::WayTo(const std::string& from, const std::string& wanted, const Find& find) {
  std::map<std::string, Step> before;  // the step that led here
  std::vector<std::string> open{from};
  before.emplace(from, Step{});
  for (size_t at = 0; at < open.size(); ++at) {
    const std::string name = open[at];
    const auto declared = find(name);
    if (declared && name == wanted) {
      std::vector<Step> way{{name, declared->span}};
      for (std::string up = name; up != from; up = way.back().name) way.push_back(before.at(up));
      std::reverse(way.begin(), way.end());
      return way;
    }
    if (++n_followed_ > kMostFollowed) return std::nullopt;
    if (!declared) continue;
    for (const std::string& next : MentionedBy(*declared)) {
      if (before.emplace(next, Step{name, declared->span}).second) open.push_back(next);
    }
  }
  return std::nullopt;
}

}  // namespace wf::sema
