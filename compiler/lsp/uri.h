#pragma once

#include <string>
#include <string_view>

namespace wf::lsp {

// The path that a `file:` URI names; any other URI is its own path, which no file has.
std::string PathOf(std::string_view uri);
std::string UriOf(std::string_view path);

}  // namespace wf::lsp
