#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/base/source.h"
#include "compiler/diag/emitter.h"

namespace wf::diag {

enum class Color { kNever, kAlways };

// One diagnostic for people: severity, code, message, then the lines it points into with carets and labels, then help and fixes. Ends with
// an empty line. Tabs, wide characters and very long lines keep the carets in place; control characters of the text are not passed on.
std::string RenderText(const Diagnostic& diagnostic, const source::SourceMap& sources, Color color);

// What a diagnostic says where no text of the program is shown with it: the message, the label of its place and its helps, a line each.
std::string FullMessage(const Diagnostic& diagnostic);

// The lines of a diagnostic for people without its head: where `place` is, carets and `label` under it, then notes, each a word and a text.
using Notes = std::vector<std::pair<std::string, std::string>>;
std::string RenderPlace(const source::Span& place, std::string_view label, const Notes& notes, const source::SourceMap& sources,
                        Color color);

// One diagnostic for programs, one line of JSON with its line break; columns in bytes from 1, ends exclusive.
std::string RenderJson(const Diagnostic& diagnostic, const source::SourceMap& sources);

// One diagnostic as a command of a GitHub workflow, which shows it beside the line; one line with its line break.
std::string RenderGithub(const Diagnostic& diagnostic, const source::SourceMap& sources);

std::string RenderGithubNotice(std::string_view text);  // that belongs to no place

// A log of SARIF 2.1.0 of one or several compilations; columns are counted in characters.
// What several of them have in common stands once.
// Thread: loop-confined.   Owns: what was added, as text.
class SarifLog {
 public:
  void Add(const Emitter& emitter, const source::SourceMap& sources);
  struct Surroundings {
    std::string version;                       // of wfc
    std::string folder;                        // from which paths count; empty: not known
    std::function<std::string(Code)> page_of;  // Markdown that explains a code
  };
  std::string Finish(const Surroundings& around) const;  // the whole document with its line break

 private:
  std::string results_;
  std::set<std::string> known_;
  std::vector<Code> codes_;  // that occur, sorted
};

std::string_view SeverityName(Severity severity);  // "error", "warning"
std::string CodeName(Code code);                   // "WF3001"

}  // namespace wf::diag
