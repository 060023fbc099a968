#pragma once

#include <string>
#include <string_view>

namespace wf::diag {

// As much of `text` as helps in a message: what users write may be megabytes long. What is cut ends in `…`, its quotes closed.
std::string Shorten(std::string_view text);

// The first line of code, without its comment, as `a + ..` where it goes on.
std::string FirstLine(std::string_view code);

}  // namespace wf::diag
