#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace wf::base {

// An element of a fan-out: the path of its node, and which.
struct FanOutElement {
  std::string_view node;
  uint64_t number = 0;
};

// "Read/texts[3]/Recognise": the path of a node that stands inside elements of fan-outs, outermost first; so many are named.
inline constexpr size_t kMostElementsNamed = 4;
std::string NodePath(std::string_view node, std::span<const FanOutElement> around);

}  // namespace wf::base
