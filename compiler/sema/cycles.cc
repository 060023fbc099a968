#include "compiler/sema/cycles.h"

#include <algorithm>
#include <utility>

#include "compiler/sema/mentions.h"

namespace wf::sema {
namespace {

constexpr uint64_t kMostLookedAt = 10'000'000;

}  // namespace

Cycles::Id Cycles::IdOf(const std::string& name, const Find& find) {
  const auto [at, fresh] = ids_.try_emplace(name, static_cast<Id>(known_.size()));
  if (fresh) known_.push_back({.name = name, .declared = find(name)});
  return at->second;
}

void Cycles::Read(Id id, const Find& find) {
  NameSet names;
  std::visit([&](const auto* tree) { CollectNames(*tree, names); }, known_[id].declared->tree);
  for (const std::string& name : names) {
    const Id use = IdOf(name, find);
    if (!known_[use].declared) continue;
    known_[id].uses.push_back(use);
    known_[use].used_by.push_back(id);
  }
}

// Depth first, each use once: what leads back to what it was reached by is of one circle with all between (Tarjan).
void Cycles::Follow(Id first, const Find& find) {
  std::vector<std::pair<Id, size_t>> path;  // and how many of its uses have been followed
  const auto enter = [&](Id id) {
    Read(id, find);
    known_[id].order = known_[id].reaches = ++n_followed_;
    open_.push_back(id);
    path.emplace_back(id, 0);
  };
  if (known_[first].order == 0) enter(first);
  while (!path.empty()) {
    const Id id = path.back().first;
    Known& at = known_[id];
    if (path.back().second < at.uses.size()) {
      const Id use = at.uses[path.back().second++];
      if (known_[use].order == 0)
        enter(use);
      else if (known_[use].circle == kNone)
        at.reaches = std::min(at.reaches, known_[use].order);
      continue;
    }
    path.pop_back();
    if (!path.empty()) known_[path.back().first].reaches = std::min(known_[path.back().first].reaches, at.reaches);
    if (at.reaches != at.order) continue;
    const auto begin = std::find(open_.rbegin(), open_.rend(), id).base() - 1;
    std::for_each(begin, open_.end(), [&](Id one) { known_[one].circle = id; });
    open_.erase(begin, open_.end());
  }
}

// The steps to `wanted` from all of its circle.
void Cycles::Measure(Id wanted) {
  if (known_[wanted].towards == wanted) return;
  std::vector<Id> nearest_first{wanted};
  known_[wanted].towards = wanted;
  known_[wanted].steps = 0;
  for (size_t i = 0; i < nearest_first.size(); ++i) {
    const Known& at = known_[nearest_first[i]];
    n_looked_at_ += at.used_by.size();
    for (const Id by : at.used_by) {
      Known& before = known_[by];
      if (before.circle != at.circle || before.towards == wanted) continue;
      before.towards = wanted;
      before.steps = at.steps + 1;
      nearest_first.push_back(by);
    }
  }
}

std::optional<std::vector<Step>> Cycles::WayTo(const std::string& from, const std::string& wanted, const Find& find) {
  const Id end = IdOf(wanted, find);
  Id at = IdOf(from, find);
  if (!known_[at].declared || !known_[end].declared) return std::nullopt;
  Follow(at, find);
  if (known_[at].circle != known_[end].circle) return std::nullopt;
  const auto step_of = [this](Id id) { return Step{known_[id].name, known_[id].declared->span}; };
  std::vector<Step> way{step_of(at)};
  if (at == end) return way;
  if (n_looked_at_ > kMostLookedAt) return std::nullopt;
  Measure(end);
  while (at != end) {
    const Known& here = known_[at];
    const auto is_nearer = [&](Id use) { return known_[use].towards == end && known_[use].steps + 1 == here.steps; };
    at = *std::find_if(here.uses.begin(), here.uses.end(), is_nearer);
    n_looked_at_ += here.uses.size();
    way.push_back(step_of(at));
  }
  return way;
}

}  // namespace wf::sema
