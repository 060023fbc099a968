#include "runtime/server/settings_table.h"

#include <algorithm>
#include <sstream>
#include <type_traits>

#include "runtime/base/text.h"
#include "runtime/server/node_settings.h"

namespace wf::server {
namespace {

constexpr SettingRow kRows[] = {
#define SETTING(member, type, key, default_text, lowest, highest, reloadable, doc)                                                       \
  {key,                                                                                                                                  \
   default_text,                                                                                                                         \
   doc,                                                                                                                                  \
   {lowest, highest},                                                                                                                    \
   std::is_same_v<setting::type, setting::Switch>,                                                                                       \
   std::is_same_v<setting::type, setting::Secret>,                                                                                       \
   std::is_same_v<setting::type, setting::Secret> || std::is_same_v<setting::type, setting::KeyFile>,                                    \
   reloadable,                                                                                                                           \
   [](Settings& settings, std::string_view text, const setting::Range& range) { return setting::Parse(text, range, &settings.member); }, \
   [](const Settings& a, const Settings& b) { return a.member == b.member; },                                                            \
   [](Settings& settings, const Settings& running) { settings.member = running.member; }},
#include "runtime/server/settings.def"
};

bool IsPlain(std::string_view value) {
  const auto is_plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '/' || c == '_' || c == '-';
  };
  return !value.empty() && value != "null" && value.front() != '-' && std::all_of(value.begin(), value.end(), is_plain);
}

// The code point at `text` and its bytes; what is not UTF-8 is U+FFFD, which is the nearest that a file can hold.
uint32_t TakeCodePoint(std::string_view* text) {
  const auto* begin = reinterpret_cast<const uint8_t*>(text->data());
  const size_t size = begin[0] < 0x80 ? 1 : begin[0] < 0xe0 ? 2 : begin[0] < 0xf0 ? 3 : 4;
  if (size > text->size() || base::FindBadUtf8(begin, begin + size) != begin + size) {
    text->remove_prefix(1);
    return 0xfffd;
  }
  constexpr uint32_t kFirstBits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
  uint32_t code = begin[0] & kFirstBits[size];
  for (size_t i = 1; i < size; ++i) code = code << 6 | (begin[i] & 0x3f);
  text->remove_prefix(size);
  return code;
}

// May stand in quotes as it is: YAML refuses controls and folds line ends.
bool IsPrintable(uint32_t code) {
  if (code < 0xa0) return code >= 0x20 && code < 0x7f;
  return code != 0x2028 && code != 0x2029 && code != 0xfeff && code != 0xfffe && code != 0xffff;
}

// As a scalar that the file's reader takes for the same text.
std::string Scalar(std::string_view value) {
  if (IsPlain(value)) return std::string(value);
  std::string text = "\"";
  while (!value.empty()) {
    const std::string_view before = value;
    const uint32_t code = TakeCodePoint(&value);
    if (code == '"' || code == '\\') {
      (text += '\\') += static_cast<char>(code);
    } else if (code == 0xfffd) {
      text += "\xef\xbf\xbd";
    } else if (IsPrintable(code)) {
      text += before.substr(0, before.size() - value.size());
    } else {
      constexpr char kHex[] = "0123456789abcdef";
      text += "\\u";
      for (int shift = 12; shift >= 0; shift -= 4) text += kHex[code >> shift & 15];
    }
  }
  return text + "\"";
}

void PutNode(const NodeSetting& node, std::ostringstream* text) {
  *text << "  " << Scalar(node.path) << ":  # " << node.source << "\n";
  const auto put = [text](std::string_view name, const std::optional<int64_t>& value, bool is_time = false) {
    if (value) *text << "    " << name << ": " << (is_time ? base::DurationText(*value) : std::to_string(*value)) << "\n";
  };
  put("batch", node.batch);
  put("within", node.within_ns, true);
  put("timeout", node.timeout_ns, true);
  put("instances", node.instances);
  put("threads", node.threads);
  put("queue", node.queue);
  for (size_t i = 0; i < node.pad.size(); ++i) *text << (i == 0 ? "    pad: " : ", ") << node.pad[i];
  if (!node.pad.empty()) *text << "\n";
  if (node.priority) *text << "    priority: " << PriorityName(*node.priority) << "\n";
}

}  // namespace

std::span<const SettingRow> SettingRows() { return kRows; }

std::string SettingRow::flag() const {
  std::string name = "--" + std::string(key);
  std::replace(name.begin(), name.end(), '_', '-');
  std::replace(name.begin(), name.end(), '.', '-');
  return name;
}

std::string SettingRow::environment_name() const {
  std::string name = "WF_" + std::string(key);
  for (char& c : name) c = c == '.' ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return name;
}

std::string HelpText(std::string_view program) {
  std::ostringstream text;
  text << "usage: " << program << " [--config server.yml] [settings]\n\n"
       << "  --config  (WF_CONFIG)\n      file to read settings from\n\n"
       << "Settings, each also in the environment (WF_..) and in the file; a flag wins over the environment, that over the file:\n";
  for (const SettingRow& row : kRows) {
    text << "  " << row.flag() << "  (" << row.environment_name() << ", " << row.key << ": " << Scalar(row.default_text) << ")\n      "
         << row.doc << "\n";
  }
  text << "\nOf single nodes, in the file alone: nodes: {NODE: {";
  for (size_t i = 0; i < kNodeMembers.size(); ++i) text << (i == 0 ? "" : ", ") << kNodeMembers[i];
  text << "}}\n"
       << "\nInstead of serving:\n"
       << "  --check-config  say what is wrong with the settings, certificates, addresses and models, exit 1 if anything is\n"
       << "  --print-config  print every setting with the place that it comes from, as a file that --config takes\n"
       << "  --version       print what this server was built from\n"
       << "  --help          this text\n";
  return text.str();
}

std::string ConfigText(const Settings& settings) {
  std::ostringstream text;
  std::string_view section;
  for (size_t i = 0; i < std::size(kRows); ++i) {
    const std::string_view key = kRows[i].key;
    const size_t dot = key.find('.');
    const std::string_view prefix = dot == std::string_view::npos ? std::string_view() : key.substr(0, dot);
    if (prefix != section && !prefix.empty()) text << prefix << ":\n";
    section = prefix;
    const bool is_left_out = kRows[i].lets_in && settings.values[i].empty();  // there it would be refused
    text << (prefix.empty() ? "" : "  ") << (is_left_out ? "# " : "") << key.substr(dot == std::string_view::npos ? 0 : dot + 1) << ": "
         << Scalar(settings.values[i]) << "  # " << settings.sources[i] << "\n";
  }
  if (!settings.nodes.empty()) text << "nodes:\n";
  for (const NodeSetting& node : settings.nodes) PutNode(node, &text);
  return text.str();
}

}  // namespace wf::server
