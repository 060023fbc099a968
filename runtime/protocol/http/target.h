#pragma once

#include <string_view>

namespace wf::http {

// `uri-host [":" port]` of RFC 9112 3.2: a name or an address, with nothing beside it. An empty host is none.
bool IsHost(std::string_view text);

// A scheme whose requests are served here, whatever the connection is: a proxy may have ended TLS before it.
bool IsScheme(std::string_view text);
inline constexpr std::string_view kOtherScheme = "a target that is not of http or https";

// Why a target's path and query are none that a client means: a fragment, bytes that no URI has, an escape that is none, a path that leaves
// the root. Empty: there is no reason. Cost: one pass.
std::string_view WhyNoTarget(std::string_view path_and_query);

}  // namespace wf::http
