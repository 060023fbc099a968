#pragma once

#include <vector>

#include "compiler/driver/graph.h"

namespace wf::driver {

// Takes out of Node::after and Control::after what others in it wait for anyway.
void DropEarlierWaits(std::vector<Graph::Stage>& stages, std::vector<Graph::Control>& controls);

// Sets Stage::waits: the stages whose nodes decide whether a stage's nodes run, beside those in Stage::after. What one of these stages is
// behind itself is left out, so a chain of conditions leaves one each.
void ConnectWaits(std::vector<Graph::Stage>& stages, const std::vector<Graph::Control>& controls);

}  // namespace wf::driver
