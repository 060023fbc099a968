#include "runtime/server/settings.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include "runtime/base/text.h"
#include "runtime/server/yaml.h"

namespace wf::server {
namespace {

// ---- the text of a value: an empty answer is fine, else what was expected ----

std::string Parse(const std::string& text, setting::Text* out) {
  *out = text;
  return {};
}

template <typename T>
bool ParseWhole(std::string_view text, T most, T* out) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty() || value < 0 || value > most) return false;
  *out = value;
  return true;
}

std::string Parse(const std::string& text, setting::Port* out) {
  int32_t port = 0;
  if (!ParseWhole<int32_t>(text, 65535, &port)) return "a port, 0 to 65535";
  *out = static_cast<uint16_t>(port);
  return {};
}

std::string Parse(const std::string& text, setting::Count* out) {
  return ParseWhole(text, std::numeric_limits<int32_t>::max(), out) ? "" : "a whole number";
}

std::string Parse(const std::string& text, setting::Seconds* out) {
  std::string_view number = text;
  if (number.ends_with("s")) number.remove_suffix(1);
  return ParseWhole<int64_t>(number, 1'000'000, &out->value) ? "" : "a whole number of seconds";
}

std::string Parse(const std::string& text, setting::Bytes* out) {
  struct Unit {
    std::string_view name;
    int64_t bytes;
  };
  constexpr Unit kUnits[] = {{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"B", 1}};
  std::string_view number = text;
  int64_t unit = 1;
  for (const Unit& at : kUnits) {
    if (!number.ends_with(at.name)) continue;
    number.remove_suffix(at.name.size());
    unit = at.bytes;
    break;
  }
  while (number.ends_with(" ")) number.remove_suffix(1);
  if (!ParseWhole<int64_t>(number, std::numeric_limits<int64_t>::max() / unit, &out->value)) return "a number of bytes, as `64MiB`";
  out->value *= unit;
  return {};
}

std::string Parse(const std::string& text, setting::Switch* out) {
  *out = text == "true";
  return text == "true" || text == "false" ? "" : "true or false";
}

template <typename Choice, size_t n>
std::string ParseChoice(const std::string& text, const std::string_view (&names)[n], Choice* out) {
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

std::string Parse(const std::string& text, setting::Schedule* out) {
  constexpr std::string_view kNames[] = {"auto", "inline", "pool"};
  return ParseChoice(text, kNames, out);
}

std::string Parse(const std::string& text, setting::LogLevel* out) {
  constexpr std::string_view kNames[] = {"error", "warning", "info", "debug"};
  return ParseChoice(text, kNames, out);
}

// ---- the table ----

struct Row {
  std::string_view key, default_text, doc;
  bool is_switch, reloadable;
  std::string (*store)(Settings& settings, const std::string& text);
};
const Row kRows[] = {
#define SETTING(member, type, key, default_text, reloadable, doc) \
  {key,        default_text,                                      \
   doc,        std::is_same_v<setting::type, setting::Switch>,    \
   reloadable, [](Settings& settings, const std::string& text) { return Parse(text, &settings.member); }},
#include "runtime/server/settings.def"
};
constexpr size_t kRowCount = std::size(kRows);

std::string FlagOf(const Row& row) {
  std::string flag = "--" + std::string(row.key);
  std::replace(flag.begin(), flag.end(), '_', '-');
  std::replace(flag.begin(), flag.end(), '.', '-');
  return flag;
}

std::string EnvironmentNameOf(const Row& row) {
  std::string name = "WF_" + std::string(row.key);
  for (char& c : name) c = c == '.' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return name;
}

// Every name of one kind, for look-ups and for suggestions.
template <typename NameOf>
std::map<std::string, size_t, std::less<>> NamesBy(NameOf&& name_of) {
  std::map<std::string, size_t, std::less<>> names;
  for (size_t i = 0; i < kRowCount; ++i) names.emplace(name_of(kRows[i]), i);
  return names;
}

std::string DidYouMean(std::string_view name, const std::map<std::string, size_t, std::less<>>& names) {
  std::vector<std::string_view> candidates;
  for (const auto& [candidate, row] : names) candidates.push_back(candidate);
  const std::string_view nearest = base::Nearest(name, candidates);
  return nearest.empty() ? "" : "; did you mean `" + std::string(nearest) + "`";
}

// ---- the four places, least first ----

class Loader {
 public:
  explicit Loader(Loaded* out) : out_(*out) {
    out_.settings.values.resize(kRowCount);
    out_.settings.sources.resize(kRowCount);
    for (size_t i = 0; i < kRowCount; ++i) Store(i, std::string(kRows[i].default_text), "default");
  }

  void ReadFlags(std::span<const char* const> arguments);
  void ReadEnvironment(const char* const* environment);
  void ReadFile(const std::string& path);
  void ApplyFlags();

  std::string config_path;

 private:
  struct Flag {
    size_t row;
    std::string name, value;
  };

  void Error(std::string text) { out_.errors.push_back(std::move(text)); }
  void Store(size_t row, const std::string& value, std::string source) {
    const std::string expected = kRows[row].store(out_.settings, value);
    if (!expected.empty()) {
      Error(source + ": expected " + expected + ", found `" + value + "`");
      return;
    }
    out_.settings.values[row] = value;
    out_.settings.sources[row] = std::move(source);
  }
  bool TakeWish(std::string_view argument);

  Loaded& out_;
  std::vector<Flag> flags_;
};

bool Loader::TakeWish(std::string_view argument) {
  constexpr std::pair<std::string_view, Wish> kWishes[] = {{"--help", Wish::kHelp},
                                                           {"-h", Wish::kHelp},
                                                           {"--version", Wish::kVersion},
                                                           {"--print-config", Wish::kPrintConfig},
                                                           {"--check-config", Wish::kCheckConfig}};
  for (const auto& [name, wish] : kWishes) {
    if (argument != name) continue;
    out_.wish = wish;
    return true;
  }
  return false;
}

void Loader::ReadFlags(std::span<const char* const> arguments) {
  auto names = NamesBy(FlagOf);
  const size_t config = kRowCount;
  names.emplace("--config", config);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (TakeWish(argument)) continue;
    const size_t equals = argument.find('=');
    const std::string name(argument.substr(0, equals));
    const auto row = names.find(name);
    if (row == names.end()) {
      out_.usage = true;
      Error((name.starts_with("-") ? "unknown flag `" : "unexpected argument `") + name + "`" + DidYouMean(name, names));
      continue;
    }
    std::string value;
    const bool is_switch = row->second != config && kRows[row->second].is_switch;
    if (equals != std::string_view::npos) {
      value = argument.substr(equals + 1);
    } else if (is_switch) {
      value = "true";
    } else if (i + 1 < arguments.size()) {
      value = arguments[++i];
    } else {
      out_.usage = true;
      Error("`" + name + "` needs a value");
      continue;
    }
    if (row->second == config)
      config_path = value;
    else
      flags_.push_back({row->second, name, value});
  }
}

void Loader::ReadEnvironment(const char* const* environment) {
  const auto names = NamesBy(EnvironmentNameOf);
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const size_t equals = entry.find('=');
    if (!entry.starts_with("WF_") || equals == std::string_view::npos) continue;
    const std::string name(entry.substr(0, equals));
    const auto row = names.find(name);
    if (row == names.end())
      out_.warnings.push_back("unknown environment variable `" + name + "`" + DidYouMean(name, names));
    else
      Store(row->second, std::string(entry.substr(equals + 1)), name);
  }
}

void Loader::ReadFile(const std::string& path) {
  constexpr size_t kMaxFileBytes = size_t{1} << 20;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxFileBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) return Error(path + ": the file cannot be read");
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kMaxFileBytes) return Error(path + ": the file is larger than 1 MiB");
  const auto entries = ReadYaml(text);
  if (!entries.ok()) return Error(path + ":" + entries.status().message());
  const auto names = NamesBy([](const Row& row) { return std::string(row.key); });
  std::map<std::string, int> seen;
  for (const YamlEntry& entry : *entries) {
    const std::string place = path + ":" + std::to_string(entry.line);
    const auto row = names.find(entry.key);
    if (entry.key.starts_with("nodes.")) {
      Error(place + ": `nodes` is not built yet");
    } else if (row == names.end()) {
      Error(place + ": unknown key `" + entry.key + "`" + DidYouMean(entry.key, names));
    } else if (const auto [first, fresh] = seen.emplace(entry.key, entry.line); !fresh) {
      Error(place + ": `" + entry.key + "` is already set on line " + std::to_string(first->second));
    } else {
      Store(row->second, entry.value, place);
    }
  }
}

void Loader::ApplyFlags() {
  const size_t before = out_.errors.size();
  for (const Flag& flag : flags_) Store(flag.row, flag.value, flag.name);
  out_.usage = out_.usage || out_.errors.size() != before;
}

}  // namespace

Loaded LoadSettings(std::span<const char* const> arguments, const char* const* environment) {
  Loaded loaded;
  Loader loader(&loaded);
  loader.ReadFlags(arguments);
  if (!loader.config_path.empty()) loader.ReadFile(loader.config_path);
  loader.ReadEnvironment(environment);
  loader.ApplyFlags();
  const Settings& settings = loaded.settings;
  if (!settings.grpc_port.empty() && settings.grpc_port != std::to_string(settings.http_port)) {
    loaded.errors.push_back("`grpc_port` differs from `http_port`: a socket of its own for gRPC is not built yet");
  }
  return loaded;
}

std::string HelpText(std::string_view program) {
  std::ostringstream text;
  text << "usage: " << program << " [--config server.yml] [settings]\n\n"
       << "Settings, each also in the file (key) and the environment (name); a flag wins over the environment, that over the file:\n";
  for (const Row& row : kRows) {
    text << "  " << FlagOf(row) << "  (" << row.key << ", " << EnvironmentNameOf(row) << "; default `" << row.default_text << "`"
         << (row.reloadable ? ", reloadable" : "") << ")\n      " << row.doc << "\n";
  }
  text << "\nInstead of serving:\n"
       << "  --check-config  say what is wrong with the settings, exit 1 if anything is\n"
       << "  --print-config  print every setting with the place that it comes from\n"
       << "  --version       print what this server was built from\n"
       << "  --help          this text\n";
  return text.str();
}

std::string ConfigText(const Settings& settings) {
  std::ostringstream text;
  std::string_view section;
  for (size_t i = 0; i < kRowCount; ++i) {
    const std::string_view key = kRows[i].key;
    const size_t dot = key.find('.');
    const std::string_view prefix = dot == std::string_view::npos ? std::string_view() : key.substr(0, dot);
    if (prefix != section && !prefix.empty()) text << prefix << ":\n";
    section = prefix;
    text << (prefix.empty() ? "" : "  ") << key.substr(dot == std::string_view::npos ? 0 : dot + 1) << ": "
         << (settings.values[i].empty() ? "\"\"" : settings.values[i]) << "  # " << settings.sources[i] << "\n";
  }
  return text.str();
}

}  // namespace wf::server
