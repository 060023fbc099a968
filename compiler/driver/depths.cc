#include "compiler/driver/depths.h"

#include <tuple>
#include <utility>

namespace wf::driver {

std::vector<size_t> InOrder(const Reads& reads) {
  std::vector<size_t> order;
  std::vector<bool> seen(reads.size(), false);
  for (size_t start = 0; start < reads.size(); ++start) {
    if (seen[start]) continue;
    seen[start] = true;
    std::vector<std::pair<size_t, size_t>> open = {{start, 0}};  // and how many of its reads are done
    while (!open.empty()) {
      const size_t at = open.back().first, next = open.back().second++;
      if (next == reads[at].size()) {
        order.push_back(at);
        open.pop_back();
      } else if (const size_t read = reads[at][next]; !seen[read]) {
        seen[read] = true;
        open.emplace_back(read, 0);
      }
    }
  }
  return order;
}

namespace {

// The same number for those that read each other through others (Kosaraju).
std::vector<size_t> Circles(const Reads& reads) {
  Reads readers(reads.size());
  for (size_t at = 0; at < reads.size(); ++at) {
    for (const size_t read : reads[at]) readers[read].push_back(at);
  }
  const std::vector<size_t> order = InOrder(reads);
  std::vector<size_t> circle(reads.size(), reads.size());
  for (auto start = order.rbegin(); start != order.rend(); ++start) {
    std::vector<size_t> open = {*start};
    while (!open.empty()) {
      const size_t at = open.back();
      open.pop_back();
      if (circle[at] != reads.size()) continue;
      circle[at] = *start;
      for (const size_t reader : readers[at]) {
        if (circle[reader] == reads.size()) open.push_back(reader);
      }
    }
  }
  return circle;
}

}  // namespace

std::vector<size_t> Depths(const Reads& reads) {
  std::vector<size_t> depth(reads.size(), 0);
  for (size_t round = 0; round < reads.size(); ++round) {
    bool changed = false;
    for (size_t at = 0; at < reads.size(); ++at) {
      for (const size_t read : reads[at]) {
        if (depth[at] > depth[read] || depth[read] + 1 >= reads.size()) continue;
        depth[at] = depth[read] + 1;
        changed = true;
      }
    }
    if (!changed) break;
  }
  return depth;
}

std::vector<size_t> Depths(const Reads& reads, const Reads& waits, const std::vector<size_t>& rank) {
  const std::vector<size_t> depth = Depths(reads);
  Reads all = reads;
  for (size_t at = 0; at < all.size(); ++at) all[at].insert(all[at].end(), waits[at].begin(), waits[at].end());
  const std::vector<size_t> circle = Circles(all);
  const auto place = [&](size_t at) { return std::tuple(depth[at], rank[at], at); };
  for (size_t at = 0; at < all.size(); ++at) {
    std::erase_if(all[at], [&](size_t before) { return circle[before] == circle[at] && place(before) >= place(at); });
  }
  return Depths(all);
}

}  // namespace wf::driver
