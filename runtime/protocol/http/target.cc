#include "runtime/protocol/http/target.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "runtime/base/ascii.h"

namespace wf::http {
namespace {

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// By byte, since every request asks for each of its target's and host's.
using ByteSet = std::array<bool, 256>;
template <typename Is>
constexpr ByteSet SetOf(Is is) {
  ByteSet set = {};
  for (size_t i = 0; i < set.size(); ++i) set[i] = is(static_cast<char>(i));
  return set;
}
constexpr ByteSet kNameBytes = SetOf([](char c) {
  constexpr std::string_view kMarks = "-._~!$&'()*+,;=";
  return IsDigit(c) || (base::Lower(c) >= 'a' && base::Lower(c) <= 'z') || kMarks.find(c) != std::string_view::npos;
});
// Those that say nothing against a target, wherever they stand.
constexpr ByteSet kPlainBytes = SetOf([](char c) { return c > ' ' && c < 0x7f && c != '#' && c != '%' && c != '.'; });
bool Has(const ByteSet& set, char c) { return set[static_cast<uint8_t>(c)]; }

bool IsNameByte(char c) { return Has(kNameBytes, c); }
bool IsAddressByte(char c) { return c == ':' || IsNameByte(c); }
bool All(std::string_view text, bool (*is)(char)) { return std::all_of(text.begin(), text.end(), is); }

// `%` and two digits, of a byte above 0.
bool IsEscape(std::string_view text) {
  if (text.size() < 3 || base::HexValue(text[1]) < 0 || base::HexValue(text[2]) < 0) return false;
  return text[1] != '0' || text[2] != '0';
}

// The length of the one or two points, escaped or not, that are the whole of `segment`; 0: it is another.
int Points(std::string_view segment) {
  int points = 0;
  while (!segment.empty()) {
    const bool escaped = segment.size() >= 3 && segment[0] == '%' && segment[1] == '2' && base::Lower(segment[2]) == 'e';
    if (!escaped && segment[0] != '.') return 0;
    segment.remove_prefix(escaped ? 3 : 1);
    if (++points > 2) return 0;
  }
  return points;
}

bool LeavesRoot(std::string_view path) {
  int depth = 0;
  while (!path.empty()) {
    path.remove_prefix(1);  // the slash
    const std::string_view segment = path.substr(0, path.find('/'));
    const int points = Points(segment);
    if (points == 2 && --depth < 0) return true;
    if (points == 0 && !segment.empty()) ++depth;
    path.remove_prefix(segment.size());
  }
  return false;
}

}  // namespace

bool IsScheme(std::string_view text) { return base::EqualIgnoringCase(text, "http") || base::EqualIgnoringCase(text, "https"); }

bool IsHost(std::string_view text) {
  size_t host = 0;
  if (text.starts_with('[')) {
    host = text.find(']') + 1;  // 0: there is none
    if (host < 3 || !All(text.substr(1, host - 2), IsAddressByte)) return false;
  } else {
    for (; host < text.size() && text[host] != ':'; ++host)
      if (!IsNameByte(text[host]) && !IsEscape(text.substr(host))) return false;
    if (host == 0) return false;
  }
  const std::string_view port = text.substr(host);
  return port.empty() || (port[0] == ':' && All(port.substr(1), IsDigit));
}

std::string_view WhyNoTarget(std::string_view path_and_query) {
  const std::string_view path = path_and_query.substr(0, path_and_query.find('?'));
  bool points = false;  // that a segment of nothing else may begin with
  for (size_t i = 0; i < path_and_query.size(); ++i) {
    const char c = path_and_query[i];
    if (Has(kPlainBytes, c)) continue;
    if (c == '#') return "a target has no fragment";
    if ((c & 0x80) != 0) return "the target holds a byte beyond ASCII; percent-encode it";
    if (c <= ' ' || c == 0x7f) return "the target holds a space or a control character; percent-encode it";
    if (i >= path.size()) continue;
    if (c == '%' && !IsEscape(path.substr(i))) return "a `%` in the path begins no escape of a byte above 0";
    points = points || c == '%' || (i != 0 && path[i - 1] == '/');
  }
  if (points && path.starts_with('/') && LeavesRoot(path)) return "the path leaves the root";
  return {};
}

}  // namespace wf::http
