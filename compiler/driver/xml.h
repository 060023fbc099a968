#pragma once

#include <string>
#include <string_view>

namespace wf::driver {

// Text as it stands in XML 1.0, between tags or in an attribute with double quotes. XML admits no control characters but tab and the line
// ends, and neither U+FFFE nor U+FFFF: U+FFFD stands for them.
std::string XmlText(std::string_view text);

}  // namespace wf::driver
