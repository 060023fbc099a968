#pragma once

#include <string>
#include <string_view>

namespace wf::source {

// A path as the path of a URI: all but letters, digits and `-._~/` as `%` and two digits.
std::string PercentEncoded(std::string_view path);
std::string PercentDecoded(std::string_view text);  // escapes that are none stay as they are

}  // namespace wf::source
