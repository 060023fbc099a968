#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/units.h"

// The types of settings and how their values are written. Parse answers an empty text, or what was expected: "a duration from 1 s to 1 h,
// as `30s`". Thread: thread-safe.
namespace wf::server {

enum class Schedule : uint8_t { kAuto, kInline, kPool };
enum class LogLevel : uint8_t { kError, kWarning, kInfo, kDebug };
enum class TlsVersion : uint8_t { k1_2, k1_3 };
enum class AuthFree : uint8_t { kNothing, kProbes, kHealth };

namespace setting {

using Text = std::string;
struct Address : std::string {};  // numeric, in its shortest form: `127.0.0.1`, `::1`
using Port = uint16_t;
using Count = int32_t;
using Switch = bool;  // true, false
using Schedule = server::Schedule;
using LogLevel = server::LogLevel;
using TlsVersion = server::TlsVersion;
using AuthFree = server::AuthFree;

struct Secret {  // from the environment alone, and never shown
  std::string text;
  bool operator==(const Secret&) const = default;
};
struct KeyFile : std::string {};  // which, unless it is left out, has a name
struct UnixFile {                 // `unix:/run/a.sock`
  std::string path;
  bool operator==(const UnixFile&) const = default;
};
struct FileMode {  // `0660`
  uint32_t bits = 0;
  bool operator==(const FileMode&) const = default;
};
struct Origins {  // `https://a.example, http://localhost:3000`, or `*`
  std::vector<std::string> list;
  bool any() const { return list.size() == 1 && list.front() == "*"; }
  bool Has(std::string_view origin) const;
  bool operator==(const Origins&) const = default;
};
struct Collector {   // `http://localhost:4318`, `http://[::1]:4318/v1/traces`
  std::string host;  // empty: none
  uint16_t port = 0;
  std::string path;
  bool operator==(const Collector&) const = default;
};
struct Ratio {  // `0.01`
  double value = 0;
  bool operator==(const Ratio&) const = default;
};
struct HeaderNames : std::string {};  // `retry-after, wf-seen`, or `*`

struct OptionalPort {
  std::optional<uint16_t> value;  // none: empty text
  bool operator==(const OptionalPort&) const = default;
};
struct Duration {  // `75s`, `1.5ms`, as programs have them; 0 needs no unit
  int64_t ns = 0;
  int64_t ms() const { return ns / base::kNsPerMs; }
  bool operator==(const Duration&) const = default;
};
struct Seconds : Duration {};  // a Duration; a bare number is in seconds
struct Bytes {                 // `64MiB`, as programs have them; 0 needs no unit
  int64_t value = 0;
  bool operator==(const Bytes&) const = default;
};
struct AutoBytes : Bytes {};  // Bytes, or 0: the server works it out

// Of numbers, durations (ns) and sizes; both 0: the type's own.
struct Range {
  int64_t lowest = 0, highest = 0;
};

std::string Parse(std::string_view text, const Range& range, Text* out);
std::string Parse(std::string_view text, const Range& range, Address* out);
std::string Parse(std::string_view text, const Range& range, Port* out);
std::string Parse(std::string_view text, const Range& range, OptionalPort* out);
std::string Parse(std::string_view text, const Range& range, Count* out);
std::string Parse(std::string_view text, const Range& range, Duration* out);
std::string Parse(std::string_view text, const Range& range, Seconds* out);
std::string Parse(std::string_view text, const Range& range, Bytes* out);
std::string Parse(std::string_view text, const Range& range, AutoBytes* out);
std::string Parse(std::string_view text, const Range& range, Switch* out);
std::string Parse(std::string_view text, const Range& range, Schedule* out);
std::string Parse(std::string_view text, const Range& range, LogLevel* out);
std::string Parse(std::string_view text, const Range& range, TlsVersion* out);
std::string Parse(std::string_view text, const Range& range, AuthFree* out);
std::string Parse(std::string_view text, const Range& range, Secret* out);
std::string Parse(std::string_view text, const Range& range, KeyFile* out);
std::string Parse(std::string_view text, const Range& range, UnixFile* out);
std::string Parse(std::string_view text, const Range& range, FileMode* out);
std::string Parse(std::string_view text, const Range& range, Origins* out);
std::string Parse(std::string_view text, const Range& range, HeaderNames* out);
std::string Parse(std::string_view text, const Range& range, Collector* out);
std::string Parse(std::string_view text, const Range& range, Ratio* out);

}  // namespace setting
}  // namespace wf::server
