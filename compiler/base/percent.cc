#include "compiler/base/percent.h"

#include "compiler/base/ascii.h"
#include "runtime/base/ascii.h"

namespace wf::source {
namespace {

bool StandsForItself(char c) {
  return base::IsLetter(c) || base::IsDigit(c) || std::string_view("-._~/").find(c) != std::string_view::npos;
}

}  // namespace

std::string PercentEncoded(std::string_view path) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : path) {
    if (StandsForItself(c)) {
      encoded += c;
    } else {
      encoded += {'%', kHex[static_cast<unsigned char>(c) >> 4], kHex[static_cast<unsigned char>(c) & 15]};
    }
  }
  return encoded;
}

std::string PercentDecoded(std::string_view text) {
  std::string decoded;
  for (size_t at = 0; at < text.size(); ++at) {
    const int high = at + 2 < text.size() && text[at] == '%' ? base::HexValue(text[at + 1]) : -1;
    const int low = high >= 0 ? base::HexValue(text[at + 2]) : -1;
    decoded += low >= 0 ? static_cast<char>(high * 16 + low) : text[at];
    if (low >= 0) at += 2;
  }
  return decoded;
}

}  // namespace wf::source
