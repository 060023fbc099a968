#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace wf::http {

// Why a server ends a connection of which nothing more can be read, or which costs more than it is worth.
enum class Breach : uint8_t {
  kProtocol,  // what came is not the protocol
  kLimit,     // more came, of what costs the peer nothing, than a limit lets it
  kSlow,      // the head of a request did not come in time
};
inline constexpr std::string_view kBreaches[] = {"protocol", "limit", "slow"};  // as metrics name them
inline constexpr size_t kBreachCount = std::size(kBreaches);

}  // namespace wf::http
