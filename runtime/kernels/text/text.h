#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wf::kernels {

// Strings, which are numbers of Texts, element by element. A run fails where Texts has no room, and where a string is to be a number and is
// none.
struct TextOp {
  enum class What : uint8_t {
    kLower,  // of input 0
    kUpper,
    kJoin,        // input 0 and behind it input 1, which broadcast
    kMatch,       // bool: the whole string is one of `pattern`, as RE2 writes them
    kFromNumber,  // of input 0, which has numbers: the fewest digits that read back as the same; NaN, INF, -INF; True, False
    kToNumber,    // the type of output 0. Floats also from "1e-5", "nan", "inf", "+inf", "-inf" in any letter case
  };
  What what = What::kLower;
  std::string pattern;
};

// The string with its letters in the other case, by one character for one; bytes that are no UTF-8 stay.
std::string InCase(std::string_view text, bool upper);

}  // namespace wf::kernels
