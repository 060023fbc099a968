#include "runtime/server/setting_values.h"

#include <arpa/inet.h>
#include <sys/un.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <span>

#include "runtime/base/ascii.h"
#include "runtime/base/units.h"

namespace wf::server::setting {
namespace {

using base::kSizeUnits;
using base::kTimeUnits;

// Without zeros in front: whoever writes `010` may mean 8, as some readers of YAML do.
bool ParseNumber(std::string_view text, int64_t* out) {
  if (text.empty() || text.front() < '0' || text.front() > '9' || (text.front() == '0' && text.size() > 1)) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

bool Within(int64_t value, const Range& range) {
  return (range.lowest == 0 && range.highest == 0) || (value >= range.lowest && value <= range.highest);
}

// How values of a type are written.
struct Notation {
  std::string_view what;
  std::span<const base::Unit> units;
  std::string (*text_of)(int64_t);
  std::string_view bare;      // the unit of a number without one; empty: it needs one
  std::string_view likely;    // the unit that is meant where none stands
  std::string_view examples;  // where nothing is known of what is meant
};
constexpr Notation kDuration = {"a duration", kTimeUnits, base::DurationText, "", "s", "1s"};
constexpr Notation kSeconds = {"a duration", kTimeUnits, base::DurationText, "s", "s", "30` (seconds) or `2m"};
constexpr Notation kSize = {"a size", kSizeUnits, base::SizeText, "", "B", "64MiB"};

// 0 is that of whatever unit.
std::optional<int64_t> Read(std::string_view text, const Notation& notation) {
  return text == "0" ? 0 : base::ReadMeasure(text, notation.units, notation.bare);
}

std::string Expected(std::string_view what, const Range& range, std::string (*text_of)(int64_t)) {
  std::string text(what);
  if (range.lowest == 0 && range.highest == 0) return text;
  return text + " from " + text_of(range.lowest) + " to " + text_of(range.highest);
}

// Nothing for what is only out of range.
std::string HowToWrite(std::string_view text, const Range& range, const Notation& notation) {
  if (Read(text, notation)) return {};
  const std::string meant = base::MeasureMeant(text, notation.units, notation.likely);
  const bool fits = !meant.empty() && Within(*Read(meant, notation), range);
  return ", as `" + (fits ? meant : std::string(notation.examples)) + "`";
}

// What is no such value leaves `out` as it was, so that it is not told again as one that does not fit others.
std::string ParseMeasure(std::string_view text, const Range& range, const Notation& notation, int64_t* out) {
  const std::optional<int64_t> value = Read(text, notation);
  if (!value || !Within(*value, range)) return Expected(notation.what, range, notation.text_of) + HowToWrite(text, range, notation);
  *out = *value;
  return {};
}

template <typename Choice, size_t n>
std::string ParseChoice(std::string_view text, const std::string_view (&names)[n], Choice* out) {
  std::string expected;
  for (size_t i = 0; i < n; ++i) {
    if (text == names[i]) {
      *out = static_cast<Choice>(i);
      return {};
    }
    expected += (i == 0 ? "" : i + 1 == n ? " or " : ", ") + std::string(names[i]);
  }
  return expected;
}

}  // namespace

std::string Parse(std::string_view text, const Range&, Text* out) {
  *out = text;
  return text.find('\0') == std::string_view::npos ? "" : "a text without zero bytes";
}

std::string Parse(std::string_view text, const Range&, Address* out) {
  const std::string written(text);
  for (const int family : {AF_INET, AF_INET6}) {
    in6_addr address;
    char shortest[INET6_ADDRSTRLEN];
    if (text.find('\0') != std::string_view::npos || inet_pton(family, written.c_str(), &address) != 1) continue;
    out->assign(inet_ntop(family, &address, shortest, sizeof shortest));
    return {};
  }
  return "a numeric address, as `127.0.0.1` or `::1`";
}

std::string Parse(std::string_view text, const Range&, Port* out) {
  int64_t port = 0;
  if (!ParseNumber(text, &port) || port > 65'535) return "a port, 0 to 65535";
  *out = static_cast<uint16_t>(port);
  return {};
}

std::string Parse(std::string_view text, const Range& range, OptionalPort* out) {
  out->value.reset();
  if (text.empty()) return {};
  uint16_t port = 0;
  std::string expected = Parse(text, range, &port);
  if (expected.empty()) out->value = port;
  return expected;
}

std::string Parse(std::string_view text, const Range& range, Count* out) {
  int64_t count = 0;
  if (!ParseNumber(text, &count) || count > std::numeric_limits<int32_t>::max() || !Within(count, range))
    return Expected("a whole number", range, [](int64_t bound) { return std::to_string(bound); });
  *out = static_cast<int32_t>(count);
  return {};
}

std::string Parse(std::string_view text, const Range& range, Duration* out) { return ParseMeasure(text, range, kDuration, &out->ns); }

std::string Parse(std::string_view text, const Range& range, Seconds* out) { return ParseMeasure(text, range, kSeconds, &out->ns); }

std::string Parse(std::string_view text, const Range& range, Bytes* out) { return ParseMeasure(text, range, kSize, &out->value); }

std::string Parse(std::string_view text, const Range& range, AutoBytes* out) {
  if (text == "0") {
    out->value = 0;
    return {};
  }
  const std::string expected = Parse(text, range, static_cast<Bytes*>(out));
  return expected.empty() ? "" : "0 or " + expected;
}

std::string Parse(std::string_view text, const Range&, Switch* out) {
  *out = text == "true";
  return text == "true" || text == "false" ? "" : "true or false";
}

std::string Parse(std::string_view text, const Range&, Schedule* out) {
  constexpr std::string_view kNames[] = {"auto", "inline", "pool"};
  return ParseChoice(text, kNames, out);
}

std::string Parse(std::string_view text, const Range&, LogLevel* out) {
  constexpr std::string_view kNames[] = {"error", "warning", "info", "debug"};
  return ParseChoice(text, kNames, out);
}

std::string Parse(std::string_view text, const Range&, TlsVersion* out) {
  constexpr std::string_view kNames[] = {"1.2", "1.3"};
  return ParseChoice(text, kNames, out);
}

std::string Parse(std::string_view text, const Range&, AuthFree* out) {
  constexpr std::string_view kNames[] = {"nothing", "probes", "health"};
  return ParseChoice(text, kNames, out);
}

std::string Parse(std::string_view text, const Range& range, KeyFile* out) { return Parse(text, range, static_cast<Text*>(out)); }

std::string Parse(std::string_view text, const Range&, Secret* out) {
  out->text = text;
  return {};
}

std::string Parse(std::string_view text, const Range&, UnixFile* out) {
  constexpr std::string_view kScheme = "unix:";
  constexpr size_t kMostBytes = sizeof(sockaddr_un::sun_path) - 1;
  out->path = text.starts_with(kScheme) ? text.substr(kScheme.size()) : std::string_view();
  if (text.empty()) return {};
  const bool fits = !out->path.empty() && out->path.size() <= kMostBytes && text.find('\0') == std::string_view::npos;
  return fits ? "" : "`unix:` and the name of a file, of " + std::to_string(kMostBytes) + " bytes at most";
}

std::string Parse(std::string_view text, const Range&, FileMode* out) {
  constexpr uint32_t kAll = 0777;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out->bits, 8);
  const bool reads = error == std::errc() && end == text.data() + text.size() && out->bits <= kAll;
  return reads ? "" : "permissions in octal, as `0660`";
}

namespace {

std::vector<std::string_view> ItemsOf(std::string_view text) {
  std::vector<std::string_view> items;
  while (!text.empty()) {
    items.push_back(base::TakeUpTo(',', &text));
  }
  return items;
}

// As a browser writes it: in lower case, without a path; its port where that is not the usual one.
bool IsOrigin(std::string_view text) {
  const size_t scheme = text.find("://");
  if (scheme == std::string_view::npos || scheme == 0 || scheme + 3 == text.size()) return false;
  const std::string_view usual = text.starts_with("https:") ? ":443" : text.starts_with("http:") ? ":80" : "/";
  if (text.ends_with(usual)) return false;
  const auto fits = [](char c) { return c > ' ' && c <= '~' && !(c >= 'A' && c <= 'Z') && c != '/' && c != '*' && c != '"'; };
  return std::all_of(text.begin() + static_cast<ptrdiff_t>(scheme) + 3, text.end(), fits) &&
         std::all_of(text.begin(), text.begin() + static_cast<ptrdiff_t>(scheme), fits);
}

}  // namespace

bool Origins::Has(std::string_view origin) const { return any() || std::find(list.begin(), list.end(), origin) != list.end(); }

std::string Parse(std::string_view text, const Range&, Origins* out) {
  out->list.clear();
  for (const std::string_view item : ItemsOf(text)) {
    if (!IsOrigin(item) && text != "*")
      return "origins in lower case without a path or the port that goes without saying, as `https://a.example`, or `*` alone";
    out->list.emplace_back(item);
  }
  return {};
}

std::string Parse(std::string_view text, const Range&, HeaderNames* out) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  const auto fits = [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || kMarks.find(c) != std::string_view::npos;
  };
  for (const std::string_view item : ItemsOf(text))
    if (item.empty() || !std::all_of(item.begin(), item.end(), fits)) return "names of fields behind commas, or `*`";
  out->assign(text);
  return {};
}

namespace {

bool ParseCollector(std::string_view text, Collector* out) {
  constexpr std::string_view kScheme = "http://", kPath = "/v1/traces", kSigns = "-_.:~%/";
  constexpr uint16_t kPort = 4318;
  if (!text.starts_with(kScheme)) return false;
  text.remove_prefix(kScheme.size());
  const auto is_plain = [kSigns](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || kSigns.find(c) != std::string_view::npos;
  };
  std::string_view place = text.substr(0, text.find('/'));
  const std::string_view path = text.substr(place.size());
  const size_t bracket = place.starts_with('[') ? place.find(']') : 0;
  if (bracket == std::string_view::npos) return false;
  const size_t colon = place.find(':', bracket);
  const std::string_view host = bracket == 0 ? place.substr(0, colon) : place.substr(1, bracket - 1);
  int64_t port = kPort;
  if (bracket != 0 && colon != bracket + 1 && bracket + 1 != place.size()) return false;
  if (colon != std::string_view::npos && (!ParseNumber(place.substr(colon + 1), &port) || port < 1 || port > 65'535)) return false;
  if (host.empty() || !std::all_of(host.begin(), host.end(), is_plain) || !std::all_of(path.begin(), path.end(), is_plain)) return false;
  *out = {std::string(host), static_cast<uint16_t>(port), std::string(path.size() <= 1 ? kPath : path)};
  return true;
}

}  // namespace

std::string Parse(std::string_view text, const Range&, Collector* out) {
  *out = {};
  if (text.empty() || ParseCollector(text, out)) return {};
  return "a collector, as `http://localhost:4318` or `http://[::1]:4318/v1/traces`";
}

std::string Parse(std::string_view text, const Range&, Ratio* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out->value, std::chars_format::fixed);
  const bool reads = error == std::errc() && end == text.data() + text.size() && out->value >= 0 && out->value <= 1;
  return reads ? "" : "a part from 0 to 1, as `0.01`";
}

}  // namespace wf::server::setting
