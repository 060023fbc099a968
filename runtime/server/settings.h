#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/abi/defaults.h"
#include "runtime/abi/plan.h"
#include "runtime/server/node_settings.h"
#include "runtime/server/setting_values.h"

namespace wf::server {

// What a server was told, from four places: a flag wins over the environment, that over the file, that over the default.
// Thread: immutable once loaded.
struct Settings {
#define SETTING(member, type, key, default_text, lowest, highest, reloadable, doc) setting::type member{};
#include "runtime/server/settings.def"
  std::vector<NodeSetting> nodes;            // of the file only, in its order
  std::vector<std::string> values, sources;  // by row: as text, and where from: "default", "server.yml:3", "WF_HTTP_PORT", "--http-port"
};

// Whether gRPC has a port of its own: one that is not HTTP's.
inline bool HasGrpcPort(const Settings& settings) { return settings.grpc_port.value.value_or(settings.http_port) != settings.http_port; }

// What to do after reading the command line.
enum class Wish : uint8_t { kServe, kHelp, kVersion, kPrintConfig, kCheckConfig };

struct Loaded {
  Settings settings;
  Wish wish = Wish::kServe;
  std::vector<std::string> errors, warnings;  // each a whole line; no errors: fine
  bool usage = false;                         // one of them is about the command line
  int exit_status() const { return errors.empty() ? 0 : usage ? 2 : 1; }
};

struct LoadFrom {
  std::span<const char* const> arguments;         // without the program's name
  const char* const* environment = nullptr;       // as in environ, null-terminated; null: empty
  const wf_plan* plan = nullptr;                  // what `nodes:` speaks of
  bool again = false;                             // while what was read before is running
  const std::string_view* config_text = nullptr;  // read instead of a file, under the name `config`; for tests
};
Loaded LoadSettings(const LoadFrom& from);

std::string HelpText(std::string_view program);
std::string ConfigText(const Settings& settings);  // --print-config: a YAML file with the source of each value as a comment

}  // namespace wf::server
