#include "runtime/server/settings.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>
#include <utility>

#include "runtime/base/text.h"
#include "runtime/server/config_file.h"
#include "runtime/server/settings_table.h"

namespace wf::server {
namespace {

constexpr char kDefault[] = "default";  // the source of what nobody set
constexpr size_t kMostTold = 20;        // mistakes, and as many warnings: who makes more reads no more

// Names of one kind, for look-ups and suggestions. The row after the last is the file itself: --config, WF_CONFIG.
class Names {
 public:
  template <typename NameOf>
  explicit Names(NameOf&& name_of) {
    for (size_t i = 0; i < SettingRows().size(); ++i) Add(std::string(name_of(SettingRows()[i])), i);
  }
  void Add(std::string name, size_t row) {
    names_.push_back(name);
    rows_.emplace(std::move(name), row);
  }
  // The row of the name, or null.
  const size_t* Find(std::string_view name) const {
    const auto at = rows_.find(name);
    return at == rows_.end() ? nullptr : &at->second;
  }
  bool HasSection(const std::string& key) const {
    const auto at = rows_.lower_bound(key + ".");
    return at != rows_.end() && at->first.starts_with(key + ".");
  }
  std::string Suggestion(std::string_view name) const { return DidYouMean(name, names_); }
  // Of the sections that stand where `key` does.
  std::string SectionSuggestion(const std::string& key) const {
    const auto dots = static_cast<size_t>(std::count(key.begin(), key.end(), '.'));
    std::vector<std::string> sections;
    if (dots == 0) sections.emplace_back("nodes");
    for (const std::string& name : names_) {
      size_t end = name.find('.');
      for (size_t i = 0; i < dots && end != std::string::npos; ++i) end = name.find('.', end + 1);
      if (end != std::string::npos && (sections.empty() || sections.back() != name.substr(0, end))) sections.push_back(name.substr(0, end));
    }
    return DidYouMean(key, sections);
  }

 private:
  std::map<std::string, size_t, std::less<>> rows_;
  std::vector<std::string> names_;
};

// Do two addresses take a port from each other?
bool Overlap(const std::string& a, const std::string& b) {
  const auto takes_all = [](const std::string& all, const std::string& other) {
    return all == "::" || (all == "0.0.0.0" && other.find(':') == std::string::npos);
  };
  return a == b || takes_all(a, b) || takes_all(b, a);
}

// Fills the settings from the four places, least first.
class Loader {
 public:
  explicit Loader(const LoadFrom& from) : from_(from) {
    out_.settings.values.resize(rows_.size());
    out_.settings.sources.resize(rows_.size());
    refused_.resize(rows_.size());
  }

  Loaded Load() {
    for (size_t i = 0; i < rows_.size(); ++i) Store(i, rows_[i].default_text, kDefault, kDefault);
    FindFlags();
    FindVariables();
    ReadFile();
    for (const Given& given : variables_) Store(given.row, given.value, given.name, given.name);
    for (const Given& given : flags_)
      out_.usage |= Shows(given.row, given.value, given.name) || !Store(given.row, given.value, given.name, given.name);
    CheckTogether();
    if (mistakes_ > kMostTold) out_.errors.push_back("and " + std::to_string(mistakes_ - kMostTold) + " more mistakes");
    if (warnings_ > kMostTold) out_.warnings.push_back("and " + std::to_string(warnings_ - kMostTold) + " more");
    return std::move(out_);
  }

 private:
  struct Given {
    size_t row;
    std::string name, value;
  };

  void Error(std::string text) {
    if (++mistakes_ <= kMostTold) out_.errors.push_back(std::move(text));
  }
  bool tells() const { return mistakes_ < kMostTold; }
  void UsageError(std::string text) {
    out_.usage = true;
    Error(std::move(text));
  }
  void Warn(std::string text) {
    if (++warnings_ <= kMostTold) out_.warnings.push_back(std::move(text));
  }
  // `where`: how a message about the value begins.
  bool Store(size_t row, std::string_view value, const std::string& source, const std::string& where);
  bool Shows(size_t row, std::string_view value, const std::string& where);
  bool TakeWish(std::string_view argument);
  void FindFlags();
  void FindVariables();
  void ReadFile();
  void TakeEntry(const ConfigEntry& entry, const std::string& file, const Names& names);
  bool IsInUnknownSection(const ConfigEntry& entry, const std::string& file, const Names& names);
  size_t RowOf(std::string_view key) const;
  std::string Together(std::initializer_list<std::string_view> keys, std::string_view problem) const;
  bool AnyRefused(std::initializer_list<std::string_view> keys) const;
  void ErrorTogether(std::initializer_list<std::string_view> keys, std::string_view problem);
  void WarnTogether(std::initializer_list<std::string_view> keys, std::string_view problem);
  void CheckTogether();

  const LoadFrom from_;
  const std::span<const SettingRow> rows_ = SettingRows();
  Loaded out_;
  size_t mistakes_ = 0, warnings_ = 0;
  std::string config_path_;
  std::set<std::string> unknown_sections_;  // the first key of each tells of it
  bool config_is_flag_ = false;
  std::vector<Given> flags_, variables_;
  std::vector<bool> refused_;  // by row: what was given last is none of its values, and one before it stands there
};

// What others may read is no place for a secret.
bool Loader::Shows(size_t row, std::string_view value, const std::string& where) {
  if (!rows_[row].is_secret || value.empty()) return false;
  Error(where + ": others may read it there; set `" + rows_[row].environment_name() + "`, or `auth.keys_file`");
  return true;
}

bool Loader::Store(size_t row, std::string_view value, const std::string& source, const std::string& where) {
  refused_[row] = true;
  if (!base::IsUtf8(value)) {
    Error(where + ": the value " + (rows_[row].is_secret ? "" : Quoted(value) + " ") + "is not UTF-8");
    return false;
  }
  if (rows_[row].lets_in && value.empty() && source != kDefault) {
    Error(where + ": is set and empty, and without keys everybody would be let in; leave it out where that is meant");
    return false;
  }
  const std::string expected = rows_[row].store(out_.settings, value, rows_[row].range);
  if (!expected.empty()) {
    Error(where + ": expected " + expected + ", found " + Quoted(value));
    return false;
  }
  const bool hides = rows_[row].is_secret && !value.empty();
  out_.settings.values[row] = hides ? "" : value;
  out_.settings.sources[row] = source + (hides ? ", not shown" : "");
  refused_[row] = false;
  return true;
}

constexpr std::pair<std::string_view, Wish> kWishes[] = {{"--help", Wish::kHelp},
                                                         {"-h", Wish::kHelp},
                                                         {"--version", Wish::kVersion},
                                                         {"--print-config", Wish::kPrintConfig},
                                                         {"--check-config", Wish::kCheckConfig}};

bool IsWish(std::string_view name) {
  return std::any_of(std::begin(kWishes), std::end(kWishes), [name](const auto& wish) { return wish.first == name; });
}

bool Loader::TakeWish(std::string_view argument) {
  for (const auto& [name, wish] : kWishes) {
    if (argument != name) continue;
    const bool is_answer = wish == Wish::kHelp || wish == Wish::kVersion;
    if (!is_answer && out_.wish != Wish::kServe && out_.wish != wish) UsageError("`--print-config` and `--check-config`: give one of them");
    if (is_answer || out_.wish == Wish::kServe) out_.wish = wish;
    return true;
  }
  return false;
}

void Loader::FindFlags() {
  Names names([](const SettingRow& row) { return row.flag(); });
  const size_t config = rows_.size();
  names.Add("--config", config);
  Names known = names;
  for (const char* wish : {"--help", "--version", "--print-config", "--check-config"}) known.Add(wish, config);
  const auto& arguments = from_.arguments;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (TakeWish(argument)) continue;
    const size_t equals = argument.find('=');
    const std::string name(argument.substr(0, equals));
    const size_t* const row = names.Find(name);
    if (row == nullptr && equals != std::string::npos && IsWish(name)) {
      UsageError(name + ": takes no value");
      continue;
    }
    if (row == nullptr) {
      UsageError((name.starts_with("-") ? "unknown flag " : "unexpected argument ") + Quoted(name) +
                 (tells() ? known.Suggestion(name) : ""));
      const bool has_value = name.starts_with("-") && equals == std::string_view::npos && i + 1 < arguments.size();
      if (has_value && arguments[i + 1][0] != '-') ++i;  // most likely its value: one mistake, one message
      continue;
    }
    const bool is_switch = *row != config && rows_[*row].is_switch;
    std::string value;
    if (equals != std::string_view::npos) {
      value = argument.substr(equals + 1);
    } else if (is_switch) {
      const std::string_view next = i + 1 < arguments.size() ? arguments[i + 1] : "";
      const bool written = next == "true" || next == "false";  // nothing else here stands without a flag
      value = written ? arguments[++i] : "true";
    } else if (i + 1 < arguments.size()) {
      value = arguments[++i];
    } else {
      UsageError(name + ": needs a value");
      continue;
    }
    const auto is_same = [&row](const Given& flag) { return flag.row == *row; };
    if (*row == config ? config_is_flag_ : std::any_of(flags_.begin(), flags_.end(), is_same)) UsageError(name + ": is given twice");
    if (*row != config) {
      flags_.push_back({*row, name, std::move(value)});
    } else {
      if (value.empty()) UsageError("--config: expected the name of a file, found ``; leave the flag out to read none");
      config_path_ = std::move(value);
      config_is_flag_ = true;
    }
  }
}

// An unknown name is a warning alone: others may use the prefix for what they start.
void Loader::FindVariables() {
  Names names([](const SettingRow& row) { return row.environment_name(); });
  const size_t config = rows_.size();
  names.Add("WF_CONFIG", config);
  for (const char* const* at = from_.environment; at != nullptr && *at != nullptr; ++at) {
    const std::string_view entry = *at;
    const size_t equals = entry.find('=');
    if (!entry.starts_with("WF_") || equals == std::string_view::npos) continue;
    const std::string name(entry.substr(0, equals));
    std::string value(entry.substr(equals + 1));
    const size_t* const row = names.Find(name);
    if (row == nullptr) {
      Warn("unknown environment variable " + Quoted(name) + names.Suggestion(name));
    } else if (*row != config) {
      variables_.push_back({*row, name, std::move(value)});
    } else if (value.empty()) {
      Error("`WF_CONFIG` is empty; leave it out where no file is meant");
    } else if (!config_is_flag_) {
      config_path_ = std::move(value);
    }
  }
}

void Loader::ReadFile() {
  std::string name = config_path_, text;
  if (from_.config_text != nullptr) {
    name = "config";
    text = *from_.config_text;
  } else if (name.empty()) {
    return;
  } else {
    if (!base::IsUtf8(name)) return Error("the name of the configuration file, " + Quoted(name) + ", is not UTF-8");
    auto read = ReadConfigFile(name, from_.again);
    if (!read.ok()) return Error(read.status().message());
    text = *std::move(read);
  }
  const auto is_control = [](unsigned char c) { return c < ' ' || c == 0x7f; };
  std::replace_if(name.begin(), name.end(), is_control, '?');  // it stands in messages, and in a comment behind each value
  const Names names([](const SettingRow& row) { return row.key; });
  for (const ConfigEntry& entry : ReadConfig(text)) TakeEntry(entry, name, names);
  if (from_.plan == nullptr) return;
  for (const NodeSetting& node : out_.settings.nodes) {
    if (std::string problem = CheckNodeSetting(*from_.plan, node); !problem.empty()) Error(node.source + ": " + problem);
  }
}

// A mapping whose key is none, or takes a value: what stands in it is told by that key, once.
bool Loader::IsInUnknownSection(const ConfigEntry& entry, const std::string& file, const Names& names) {
  const size_t n_sections = entry.path.size() - (entry.is_section ? 0 : 1);
  std::string section;
  for (size_t i = 0; i < n_sections; ++i) {
    section += (i == 0 ? "" : ".") + entry.path[i];
    if (names.HasSection(section)) continue;
    const int line = i < entry.section_lines.size() ? entry.section_lines[i] : entry.line;
    const std::string place = file + ":" + std::to_string(line) + ": ";
    if (!unknown_sections_.insert(section).second) return true;
    if (!tells()) {
      Error({});
    } else if (names.Find(section) != nullptr) {
      Error(place + "expected a value for " + Quoted(section) + ", found a mapping");
    } else {
      const std::string meant = names.SectionSuggestion(section);
      const bool needs_none = names.Find(entry.path.back()) != nullptr;
      const std::string key =
          needs_none ? "; " + Quoted(entry.path.back()) + " stands outside of all sections" : names.Suggestion(entry.key());
      Error(place + "unknown section " + Quoted(section) + (meant.empty() ? key : meant));
    }
    return true;
  }
  return false;
}

void Loader::TakeEntry(const ConfigEntry& entry, const std::string& file, const Names& names) {
  const std::string place = file + ":" + std::to_string(entry.line), key = entry.key();
  if (entry.path.empty()) return Error(place + ": " + entry.problem);
  const bool is_of_nodes = entry.path.front() == "nodes";
  if (entry.is_section && (is_of_nodes ? entry.path.size() == 1 : names.HasSection(key))) return;
  if (is_of_nodes) {
    const bool has_node = from_.plan != nullptr && entry.path.size() > 1 && HasNode(*from_.plan, entry.path[1]);
    const bool is_unknown = from_.plan != nullptr && entry.path.size() > 1 && !has_node;
    const int line = entry.section_lines.size() > 1 ? entry.section_lines[1] : entry.line;
    if (is_unknown && !unknown_sections_.insert("nodes." + entry.path[1]).second) return;
    if (!tells() && !has_node) return Error({});
    const std::string problem = from_.plan == nullptr ? "there is no program whose nodes these could be"
                                                      : AddNodeSetting(*from_.plan, entry, place, &out_.settings.nodes);
    if (!problem.empty()) Error((is_unknown ? file + ":" + std::to_string(line) : place) + ": " + problem);
    return;
  }
  if (IsInUnknownSection(entry, file, names)) return;
  const size_t* const row = names.Find(key);
  if (row == nullptr) {
    if (!tells()) return Error({});
    if (names.HasSection(key)) return Error(place + ": " + Quoted(key) + " is a section: it takes keys below it, not a value");
    return Error(place + ": unknown key " + Quoted(key) + names.Suggestion(key));
  }
  refused_[*row] = true;
  if (!entry.problem.empty()) return Error(place + ": " + entry.problem);
  if (entry.no_value) return Error(place + ": " + Quoted(key) + " has no value; leave the line out for the default");
  if (entry.path.size() == 1 && key.find('.') != std::string::npos)
    return Error(place + ": write " + Quoted(key) + " as a key inside the section before its dot");
  const std::string where = place + ": " + Quoted(key);
  if (!Shows(*row, entry.value, where)) Store(*row, entry.value, place, where);
}

size_t Loader::RowOf(std::string_view key) const {
  return static_cast<size_t>(std::find_if(rows_.begin(), rows_.end(), [key](const SettingRow& at) { return at.key == key; }) -
                             rows_.begin());
}

// What is wrong with two settings: it stands where the first of them was set that somebody set, and says both values.
std::string Loader::Together(std::initializer_list<std::string_view> keys, std::string_view problem) const {
  std::string place, text;
  for (const std::string_view key : keys) {
    const std::string& source = out_.settings.sources[RowOf(key)];
    if (place.empty() && source != kDefault) place = source;
  }
  for (const std::string_view key : keys) {
    const std::string &value = out_.settings.values[RowOf(key)], &source = out_.settings.sources[RowOf(key)];
    text += (text.empty() ? "" : " and ") + Quoted(key) + (value.empty() ? " is not set" : " is " + Quoted(value));
    if (source != place && !value.empty()) text += " (" + source + ")";
  }
  return place + ": " + text + ": " + std::string(problem);
}

bool Loader::AnyRefused(std::initializer_list<std::string_view> keys) const {
  return std::any_of(keys.begin(), keys.end(), [this](std::string_view key) { return refused_[RowOf(key)]; });
}

// One that a flag has a part in is a mistake on the command line. Nothing is told of a setting that was refused: its value is not known.
void Loader::ErrorTogether(std::initializer_list<std::string_view> keys, std::string_view problem) {
  if (AnyRefused(keys)) return;
  for (const std::string_view key : keys)
    out_.usage |= std::any_of(flags_.begin(), flags_.end(), [row = RowOf(key)](const Given& flag) { return flag.row == row; });
  Error(Together(keys, problem));
}

void Loader::WarnTogether(std::initializer_list<std::string_view> keys, std::string_view problem) {
  if (!AnyRefused(keys)) Warn(Together(keys, problem));
}

void Loader::CheckTogether() {
  const Settings& settings = out_.settings;
  const auto check_port = [&](std::string_view key, int64_t port) {
    if (port != 0 && port == settings.admin_port && Overlap(settings.host, settings.admin_host) &&
        !AnyRefused({"host", "admin_host", "listen"}))
      ErrorTogether({"admin_port", key}, "give each its own");
  };
  if (settings.listen.path.empty()) check_port("http_port", settings.http_port);
  if (HasGrpcPort(settings)) check_port("grpc_port", *settings.grpc_port.value);
  if (!settings.listen.path.empty() && settings.http_port != 0 && settings.sources[RowOf("http_port")] != kDefault)
    WarnTogether({"http_port", "listen"}, "the file is served on, and no port of HTTP");
  if (settings.default_timeout.ns > settings.timeout_cap.ns)
    ErrorTogether({"default_timeout", "limits.timeout"}, "a default is at most what may be asked for");
  if (settings.request_line_bytes.value > settings.header_bytes.value)
    ErrorTogether({"limits.request_line_bytes", "limits.header_bytes"}, "the line is a part of the headers");
  if (settings.tls_cert.empty() != settings.tls_key.empty())
    ErrorTogether({"tls.cert", "tls.key"}, "TLS takes both");
  else if (settings.tls_cert.empty() && !settings.tls_client_ca.empty())
    ErrorTogether({"tls.client_ca", "tls.cert"}, "without TLS nobody shows a certificate");
  if (settings.memory_bytes.value > 0 && settings.body_bytes.value > settings.memory_bytes.value)
    WarnTogether({"limits.body_bytes", "limits.memory_bytes"}, "all requests share the memory, so a body that long is refused");
}

}  // namespace

Loaded LoadSettings(const LoadFrom& from) { return Loader(from).Load(); }

}  // namespace wf::server
