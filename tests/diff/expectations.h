#pragma once

#include <string>
#include <vector>

#include "tests/diff/oracle.h"

namespace wf::diff {

// A line of JSON that says how a server must answer a call: {"path", "body", "metadata": {..}, then "values": {..}, "annotations": {..} or
// "failures": [[code, path]]}. A float is {"f32": its bits}, so that nothing is lost on the way; a value that JSON cannot say (NaN,
// infinities) makes the failure 9000.
std::string Expectation(const ir::Program& program, size_t workflow, const Input& asked, const Ending& ending,
                        const std::vector<Reported>& known);

}  // namespace wf::diff
