#pragma once

#include "runtime/bus/bus.h"

namespace wf::plain {

// An empty array says nothing of the axes within it: their extents are what the signature's symbols are by other parameters, or as small as
// can be. body_bytes: of the request, so that loops over the axes of an empty tensor end.
wf_code FillOpenAxes(bus::Bus& bus, uint64_t body_bytes);

}  // namespace wf::plain
