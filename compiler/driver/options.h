#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/units.h"

namespace wf::driver {

enum class Format : uint8_t { kText, kJson, kDot, kMermaid, kSvg, kSarif, kGithub, kTap, kJunit, kOpenApi, kProto };
enum class ColorWhen : uint8_t { kAuto, kAlways, kNever };
enum class Level : uint8_t { kWorkflow, kStage, kNode, kTask };
enum class Emit : uint8_t { kAst, kSema, kHeader, kIr, kLlvm, kAsm, kObj, kExe };
enum class Phase : uint8_t { kParse, kCheck, kIr, kPasses, kLower, kObject, kLink };  // in the order they run

struct Options {
  std::vector<std::string> inputs;
  std::vector<std::string> server_arguments;  // after `--`
  std::vector<std::string> flags;             // as they were understood: `--name` or `--name=value`
  std::string output;
  Format format = Format::kText;
  ColorWhen color = ColorWhen::kAuto;
  Level level = Level::kNode;
  std::optional<Emit> emit;
  Phase stop_after = Phase::kLink;
  std::string dump_after;  // name of a pass
  std::string target_cpu = "generic";
  int optimize = 2;
  size_t error_limit = 50;
  std::string filter;                            // part of a test's name
  int64_t timeout_ns = 30 * base::kNsPerSecond;  // of a test, of a request
  std::vector<std::string> headers;              // "name: value"
  std::string from;                              // URL of a server
  std::string data;                              // a body, or @FILE
  std::string admin;                             // HOST:PORT
  std::string workflow;                          // NAME or SERVICE/NAME; empty: the only one
  int connections = 0;                           // 0: as suits the load
  double rate = 0;                               // requests a second; 0: as answers come
  int64_t warm_up_ns = 2 * base::kNsPerSecond, duration_ns = 10 * base::kNsPerSecond;
  std::string against;     // a .wf file or a server
  std::string service;     // name; empty: the only one
  std::string time_trace;  // a file; empty: none
  std::string template_name = "hello";
  bool verbose = false, list = false, help = false, version = false;
  bool dependencies = false, watch = false, fix = false, write = false, check = false, diff = false;
};

// A row of flags.def. Of `wfc model bench` the command is called model-bench there, "model bench" elsewhere.
struct FlagInfo {
  std::string_view name, value, commands, help;
};
bool AppliesTo(const FlagInfo& flag, std::string_view command);
bool IsFlag(const std::string& argument);  // of some command, with its value or without
std::vector<FlagInfo> FlagsOf(std::string_view command);
std::vector<std::string_view> WordsAmong(const FlagInfo& flag);  // that it takes, other values beside them or not
std::vector<std::string_view> WordsOf(const FlagInfo& flag);     // the only values that it takes; none when there are others

// Reads the arguments that follow a command. Nothing and a message in `error` when they are not understood.
std::optional<Options> ParseOptions(std::string_view command, const std::vector<std::string>& arguments, std::string& error);

std::string OptionsHelp(std::string_view command);  // one line for each flag of the command

}  // namespace wf::driver
