#include "compiler/driver/dependencies.h"

#include <set>
#include <utility>

namespace wf::driver {
namespace {

std::string Escaped(const std::string& path) {
  std::string escaped;
  for (const char c : path) {
    if (c == ' ' || c == '#') escaped += '\\';
    if (c == '$') escaped += '$';
    escaped += c;
  }
  return escaped;
}

}  // namespace

std::string DependencyRule(const std::string& target, const std::vector<std::string>& files) {
  std::string rule = Escaped(target) + ":", empty_rules;
  std::set<std::string> seen;
  for (const std::string& file : files) {
    if (!seen.insert(file).second) continue;
    rule += " \\\n  " + Escaped(file);
    if (seen.size() > 1) empty_rules += "\n" + Escaped(file) + ":\n";
  }
  return rule + "\n" + empty_rules;
}

std::vector<std::string> FilesOfRule(std::string_view text) {
  std::vector<std::string> files;
  std::string file;
  const auto end = [&] {
    if (!file.empty()) files.push_back(std::exchange(file, ""));
  };
  const size_t colon = text.find(": ");
  for (size_t at = colon == std::string_view::npos ? text.size() : colon + 1; at < text.size(); ++at) {
    const char next = at + 1 < text.size() ? text[at + 1] : '\0';
    if (text[at] == '\\' && next == '\n') {
      end();
      ++at;
    } else if (text[at] == '\n') {
      break;
    } else if (text[at] == ' ') {
      end();
    } else {
      const bool escapes = (text[at] == '\\' && (next == ' ' || next == '#')) || (text[at] == '$' && next == '$');
      file += escapes ? text[++at] : text[at];
    }
  }
  end();
  return files;
}

}  // namespace wf::driver
