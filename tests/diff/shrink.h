#pragma once

#include <functional>
#include <vector>

#include "tests/diff/program.h"

namespace wf::diff {

// The smallest workflow that was found for which `still_differs` holds, by asking for shorter and plainer answers.
// Cost: at most `most_tries` calls.
Workflow Shrink(Workflow workflow, uint32_t number, const std::function<bool(const Workflow&)>& still_differs, int most_tries);

// As few of the workflows as were found for which `still_differ` holds, at least one. Cost: at most `most_tries` calls.
std::vector<Workflow> Fewest(std::vector<Workflow> workflows, const std::function<bool(const std::vector<Workflow>&)>& still_differ,
                             int most_tries);

}  // namespace wf::diff
