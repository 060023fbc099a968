#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace wf::server {

enum class Schedule : uint8_t { kAuto, kInline, kPool };
enum class LogLevel : uint8_t { kError, kWarning, kInfo, kDebug };

namespace setting {
using Text = std::string;
using Port = uint16_t;
using Count = int32_t;
struct Seconds {
  int64_t value = 0;
};
struct Bytes {
  int64_t value = 0;
};
using Switch = bool;
using Schedule = server::Schedule;
using LogLevel = server::LogLevel;
}  // namespace setting

// What a server was told, from four places: a flag wins over the environment, that over the file, that over the default.
// Thread: immutable once loaded.
struct Settings {
#define SETTING(member, type, key, default_text, reloadable, doc) setting::type member{};
#include "runtime/server/settings.def"
  std::vector<std::string> values, sources;  // by row: as text, and where from: "default", "server.yml:3", "WF_HTTP_PORT", "--http-port"
};

// What to do after reading the command line.
enum class Wish : uint8_t { kServe, kHelp, kVersion, kPrintConfig, kCheckConfig };

struct Loaded {
  Settings settings;
  Wish wish = Wish::kServe;
  bool usage = false;                         // an error is in the command line itself
  std::vector<std::string> errors, warnings;  // each a whole line; no errors: fine
};

// `arguments` without the program's name; `environment` as in environ, null-terminated.
Loaded LoadSettings(std::span<const char* const> arguments, const char* const* environment);

std::string HelpText(std::string_view program);
std::string ConfigText(const Settings& settings);  // --print-config: a YAML file with the source of each value as a comment

}  // namespace wf::server
