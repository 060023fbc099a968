#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/interface/interface.h"

namespace wf::interface {

// A request that a server reads, as plain JSON: one that a test of the program makes; else the required parameters alone, ones, short
// texts, the smallest shapes that fit the signature with extents of at least `least`. Nothing where a tensor is too large to be shown.
std::optional<std::string> SampleBody(const Interface& interface, const Call& call, int64_t least = 1);

// A call by curl, in one line; a body that is too large to be shown is a file.
std::string SampleCurl(const Interface& interface, const Service& service, const Call& call, const std::string& url, int64_t least = 1);
std::vector<std::string> SampleCurls(const Interface& interface, const std::string& url, int64_t least = 1);  // of every call

}  // namespace wf::interface
