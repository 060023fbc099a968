#include "compiler/driver/graph_waits.h"

#include <algorithm>
#include <cstdint>
#include <queue>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "compiler/driver/depths.h"

namespace wf::driver {
namespace {

// Numbers of stages.
class StageSet {
 public:
  explicit StageSet(size_t size) : words_((size + 63) / 64, 0) {}
  void Insert(size_t at) { words_[at / 64] |= uint64_t{1} << (at % 64); }
  bool Has(size_t at) const { return (words_[at / 64] >> (at % 64) & 1) != 0; }
  void Add(const StageSet& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  bool HoldsAll(const StageSet& other) const {
    for (size_t i = 0; i < words_.size(); ++i) {
      if ((other.words_[i] & ~words_[i]) != 0) return false;
    }
    return true;
  }

 private:
  std::vector<uint64_t> words_;
};

// Controls by their numbers, and those that each waits for.
class EarlierWaits {
 public:
  explicit EarlierWaits(const std::vector<Graph::Control>& controls)
      : after_(controls.size()), place_(controls.size()), seen_by_(controls.size(), 0) {
    for (size_t at = 0; at < controls.size(); ++at) numbers_.emplace(controls[at].name, at);
    for (size_t at = 0; at < controls.size(); ++at) after_[at] = NumbersOf(controls[at].after);
    size_t place = 0;
    for (const size_t at : InOrder(after_)) place_[at] = place++;
  }

  // Nothing that stands before all of `names` is looked at.
  void Drop(std::vector<std::string>& names) {
    std::vector<size_t> open = NumbersOf(names);
    if (open.size() < 2) return;
    const auto is_earlier = [&](size_t a, size_t b) { return place_[a] < place_[b]; };
    const size_t first = place_[*std::min_element(open.begin(), open.end(), is_earlier)];
    ++reader_;
    while (!open.empty()) {
      const size_t at = open.back();
      open.pop_back();
      for (const size_t before : after_[at]) {
        if (place_[before] < first || std::exchange(seen_by_[before], reader_) == reader_) continue;
        open.push_back(before);
      }
    }
    std::erase_if(names, [&](const std::string& name) {
      const auto number = numbers_.find(name);
      return number != numbers_.end() && seen_by_[number->second] == reader_;
    });
  }

 private:
  std::vector<size_t> NumbersOf(const std::vector<std::string>& names) const {
    std::vector<size_t> numbers;
    for (const std::string& name : names) {
      if (const auto number = numbers_.find(name); number != numbers_.end()) numbers.push_back(number->second);
    }
    return numbers;
  }

  std::unordered_map<std::string, size_t> numbers_;
  Reads after_;
  std::vector<size_t> place_;    // each behind what it waits for
  std::vector<size_t> seen_by_;  // the last list of names that has it behind one of them
  size_t reader_ = 0;
};

// Stages by their numbers, then the controls.
class WaitReader {
 public:
  WaitReader(const std::vector<Graph::Stage>& stages, const std::vector<Graph::Control>& controls)
      : n_stages_(stages.size()), leads_to_(stages.size() + controls.size()), place_(leads_to_.size()) {
    std::unordered_map<std::string_view, size_t> stage_of, control_of;
    std::unordered_map<std::string_view, std::set<size_t>> holding;  // a node of that name
    for (size_t at = 0; at < stages.size(); ++at) {
      stage_of.emplace(stages[at].name, at);
      for (const Graph::Node& node : stages[at].nodes) holding[node.name].insert(at);
    }
    for (size_t at = 0; at < controls.size(); ++at) control_of.emplace(controls[at].name, n_stages_ + at);
    const auto add_controls = [&](size_t at, const std::vector<std::string>& names) {
      for (const std::string& name : names) {
        if (const auto control = control_of.find(name); control != control_of.end()) leads_to_[at].push_back(control->second);
      }
    };
    for (size_t at = 0; at < stages.size(); ++at) {
      for (const std::string& name : stages[at].after) leads_to_[at].push_back(stage_of.at(name));
      for (const Graph::Node& node : stages[at].nodes) add_controls(at, node.after);
    }
    for (size_t at = 0; at < controls.size(); ++at) {
      for (const std::string& read : controls[at].reads) {
        const auto stages_of = holding.find(read);
        if (stages_of != holding.end())
          leads_to_[n_stages_ + at].insert(leads_to_[n_stages_ + at].end(), stages_of->second.begin(), stages_of->second.end());
      }
      add_controls(n_stages_ + at, controls[at].after);
    }
    FindBehind();
  }

  // In the order of their numbers.
  std::vector<size_t> Waits(size_t stage) const {
    const auto is_earlier = [&](size_t a, size_t b) { return place_[a] < place_[b]; };
    std::priority_queue<size_t, std::vector<size_t>, decltype(is_earlier)> open(is_earlier);  // what is behind others comes before them
    std::set<size_t> seen{stage}, read, waits;
    const auto add = [&](size_t at) {
      if (seen.insert(at).second) open.push(at);
    };
    for (const size_t at : leads_to_[stage]) {
      if (IsStage(at)) read.insert(at);
      add(at);
    }
    for (StageSet known(n_stages_); !open.empty();) {
      const size_t at = open.top();
      open.pop();
      if (!IsStage(at)) {
        if (!known.HoldsAll(behind_[at])) std::for_each(leads_to_[at].begin(), leads_to_[at].end(), add);
        continue;
      }
      if (!read.contains(at) && !known.Has(at)) waits.insert(at);
      if (behind_[at].Has(stage)) continue;  // in a circle each says its own
      known.Insert(at);
      known.Add(behind_[at]);
    }
    return {waits.begin(), waits.end()};
  }

 private:
  bool IsStage(size_t at) const { return at < n_stages_; }
  void FindBehind() {
    behind_.assign(leads_to_.size(), StageSet(n_stages_));
    size_t place = 0;
    for (const size_t at : InOrder(leads_to_)) {
      place_[at] = place++;
      for (const size_t other : leads_to_[at]) {
        if (IsStage(other)) behind_[at].Insert(other);
        behind_[at].Add(behind_[other]);
      }
    }
  }

  size_t n_stages_;
  Reads leads_to_;
  std::vector<StageSet> behind_;  // of each, the stages that it leads to
  std::vector<size_t> place_;     // each behind what it leads to, but for circles
};

}  // namespace

void DropEarlierWaits(std::vector<Graph::Stage>& stages, std::vector<Graph::Control>& controls) {
  EarlierWaits earlier(controls);
  for (Graph::Stage& stage : stages) {
    for (Graph::Node& node : stage.nodes) earlier.Drop(node.after);
  }
  for (Graph::Control& control : controls) earlier.Drop(control.after);
}

void ConnectWaits(std::vector<Graph::Stage>& stages, const std::vector<Graph::Control>& controls) {
  const WaitReader reader(stages, controls);
  for (size_t at = 0; at < stages.size(); ++at) {
    for (const size_t other : reader.Waits(at)) stages[at].waits.push_back(stages[other].name);
  }
}

}  // namespace wf::driver
