#include "tests/diff/shrink.h"

#include <algorithm>
#include <cstddef>

namespace wf::diff {
namespace {

bool IsSmaller(const Workflow& a, const Workflow& b) {
  return a.declarations.size() != b.declarations.size() ? a.declarations.size() < b.declarations.size() : a.choices < b.choices;
}

}  // namespace

Workflow Shrink(Workflow workflow, uint32_t number, const std::function<bool(const Workflow&)>& still_differs, int most_tries) {
  const auto takes = [&](std::vector<uint32_t> choices) {
    if (most_tries <= 0) return false;
    Workflow smaller = Generate(number, std::move(choices));
    if (!IsSmaller(smaller, workflow)) return false;
    --most_tries;
    if (!still_differs(smaller)) return false;
    workflow = std::move(smaller);
    return true;
  };
  for (bool is_smaller = true; is_smaller && most_tries > 0;) {
    is_smaller = false;
    for (size_t length = std::max<size_t>(workflow.choices.size() / 2, 1); length > 0; length /= 2) {
      for (size_t at = 0; at + length <= workflow.choices.size();) {
        std::vector<uint32_t> without = workflow.choices, plain = workflow.choices;
        without.erase(without.begin() + static_cast<std::ptrdiff_t>(at), without.begin() + static_cast<std::ptrdiff_t>(at + length));
        std::fill_n(plain.begin() + static_cast<std::ptrdiff_t>(at), length, 0);
        const bool taken = takes(std::move(without)) || takes(std::move(plain));
        is_smaller = is_smaller || taken;
        if (!taken) at += length;
      }
    }
  }
  return workflow;
}

std::vector<Workflow> Fewest(std::vector<Workflow> workflows, const std::function<bool(const std::vector<Workflow>&)>& still_differ,
                             int most_tries) {
  for (size_t length = workflows.size() / 2; length > 0; length /= 2) {
    for (size_t at = 0; at < workflows.size() && length < workflows.size() && most_tries > 0; --most_tries) {
      std::vector<Workflow> fewer = workflows;
      const auto from = fewer.begin() + static_cast<std::ptrdiff_t>(at);
      fewer.erase(from, from + static_cast<std::ptrdiff_t>(std::min(length, fewer.size() - at)));
      if (still_differ(fewer))
        workflows = std::move(fewer);
      else
        at += length;
    }
  }
  return workflows;
}

}  // namespace wf::diff
