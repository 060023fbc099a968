#pragma once

#include <string>
#include <string_view>

namespace wf::diag {

// As much of `text` as helps in a message: what users write may be megabytes long. What is cut ends in `…`, its quotes closed.
std::string Shorten(std::string_view text);

}  // namespace wf::diag
