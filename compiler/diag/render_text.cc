#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "compiler/diag/excerpt.h"
#include "compiler/diag/render.h"

namespace wf::diag {
namespace {

using source::FileId;
using source::Position;
using source::Span;

// A stretch of one line to mark.
struct Mark {
  size_t begin, end;  // bytes of the line
  bool primary;
  std::string_view label;
};
struct Line {
  std::vector<Mark> marks;
  size_t focus = 0;
};
using Lines = std::map<uint32_t, Line>;  // by number

class TextRenderer {
 public:
  TextRenderer(const source::SourceMap& sources, Color color) : sources_(sources), color_(color) {}
  std::string Render(const Diagnostic& diagnostic);
  std::string Place(const Diagnostic& diagnostic, const wf::diag::Notes& notes);

 private:
  void Head(const Diagnostic& diagnostic);
  void Snippet(const Diagnostic& diagnostic, FileId file, bool first);
  void SourceLine(FileId file, uint32_t number, const Line& line);
  void MarkLines(const Excerpt& excerpt, std::vector<Mark> marks);
  void Snippets(const Diagnostic& diagnostic);
  void AddNotes(const Diagnostic& diagnostic);
  void AddNote(std::string_view word, std::string_view text, size_t margin);
  std::string Gutter(std::string_view inside) const { return Paint(fmt::format("{:>{}} |", inside, gutter_), kBlue); }

  static constexpr std::string_view kRed = "1;31", kYellow = "1;33", kBlue = "1;34", kBold = "1";
  std::string Paint(std::string_view text, std::string_view style) const {
    return color_ == Color::kAlways ? fmt::format("\x1b[{}m{}\x1b[0m", style, text) : std::string(text);
  }

  const source::SourceMap& sources_;
  const Color color_;
  std::string_view primary_style_ = kRed;
  size_t gutter_ = 1;
  std::string out_;
};

// The marks of one file, by line. A span over several lines is marked on its first.
Lines LinesOf(const Diagnostic& diagnostic, FileId file, const source::SourceMap& sources) {
  Lines lines;
  const auto add = [&](const Span& span, bool primary, std::string_view label) {
    if (span.file != file) return;
    const Position begin = sources.PositionOf(file, span.begin);
    const size_t length = sources.Line(file, begin.line).size();
    const size_t from = std::min<size_t>(begin.column - 1, length);
    const size_t to = std::min<size_t>(from + (span.end - span.begin), length);
    Line& line = lines[begin.line];
    if (primary || line.marks.empty()) line.focus = from;
    line.marks.push_back({from, to, primary, label});
  };
  add(diagnostic.span, true, diagnostic.span_label);
  for (const Label& label : diagnostic.labels) add(label.span, false, label.text);
  return lines;
}

std::vector<FileId> FilesOf(const Diagnostic& diagnostic) {
  std::vector<FileId> files;
  const auto add = [&](FileId file) {
    if (file != FileId::kNone && std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
  };
  add(diagnostic.span.file);
  for (const Label& label : diagnostic.labels) add(label.span.file);
  return files;
}

// Whether a "did you mean" shows the fix already.
bool SaysSo(const std::vector<std::string>& help, const Edit& fix) {
  return std::find(help.begin(), help.end(), fmt::format("did you mean `{}`?", fix.replacement)) != help.end();
}

std::string TextOfFix(const Edit& fix) {
  if (fix.replacement.find('\n') != std::string::npos) return "end the lines with line feeds";
  if (fix.span.empty()) return fmt::format("insert `{}`", Shorten(fix.replacement));
  return fix.replacement.empty() ? "remove it" : fmt::format("write `{}`", Shorten(fix.replacement));
}

void TextRenderer::Head(const Diagnostic& diagnostic) {
  const std::string what = fmt::format("{}[{}]", SeverityName(diagnostic.severity), CodeName(diagnostic.code));
  out_ += Paint(what, primary_style_) + Paint(": " + Harmless(diagnostic.message), kBold) + "\n";
}

void TextRenderer::Snippet(const Diagnostic& diagnostic, FileId file, bool first) {
  const Lines lines = LinesOf(diagnostic, file, sources_);
  const Span* span = &diagnostic.span;
  for (const Label& label : diagnostic.labels) {
    if (span->file != file) span = &label.span;
  }
  const Position at = sources_.ShownPosition(file, span->begin);
  out_ += std::string(gutter_, ' ') + Paint(first ? "-->" : ":::", kBlue);
  out_ += fmt::format(" {}:{}:{}\n", Harmless(sources_.name(file)), at.line, at.column) + Gutter("") + "\n";
  uint32_t previous = 0;
  for (const auto& [number, line] : lines) {
    if (previous != 0 && number > previous + 1) out_ += Paint("...", kBlue) + "\n";
    SourceLine(file, number, line);
    previous = number;
  }
}

void TextRenderer::SourceLine(FileId file, uint32_t number, const Line& line) {
  const Excerpt excerpt(sources_.Line(file, number), line.focus);
  out_ += Gutter(std::to_string(number));
  if (!excerpt.text().empty()) out_ += " " + excerpt.text();
  out_ += "\n";
  MarkLines(excerpt, line.marks);
}

// Carets under the primary stretch, dashes under the others; the label of the rightmost stands beside it, the others below, right to left.
void TextRenderer::MarkLines(const Excerpt& excerpt, std::vector<Mark> marks) {
  const auto key = [](const Mark& mark) { return std::tuple(mark.begin, mark.end, mark.primary, mark.label); };
  std::sort(marks.begin(), marks.end(), [&](const Mark& a, const Mark& b) { return key(a) < key(b); });
  struct Cell {
    char sign = ' ';
    bool primary = false;
  };
  std::vector<Cell> cells;
  const auto draw = [&](const Mark& mark) {
    const size_t from = excerpt.ColumnOf(mark.begin);
    const size_t to = std::max(from + 1, excerpt.ColumnOf(mark.end));
    if (cells.size() < to) cells.resize(to);
    for (size_t at = from; at < to; ++at) cells[at] = {mark.primary ? '^' : '-', mark.primary};
  };
  for (const Mark& mark : marks) draw(mark);
  for (const Mark& mark : marks) {
    if (mark.primary) draw(mark);  // over what it shares with others
  }
  const auto style = [&](bool primary) { return primary ? primary_style_ : kBlue; };
  std::string signs;
  for (size_t at = 0; at < cells.size();) {
    size_t end = at;
    while (end < cells.size() && cells[end].sign == cells[at].sign) ++end;
    const std::string stretch(end - at, cells[at].sign);
    signs += cells[at].sign == ' ' ? stretch : Paint(stretch, style(cells[at].primary));
    at = end;
  }
  const Mark& last = marks.back();
  out_ += Gutter("") + " " + signs;
  if (!last.label.empty()) out_ += " " + Paint(Harmless(last.label), style(last.primary));
  out_ += "\n";
  for (size_t at = marks.size() - 1; at-- > 0;) {
    if (marks[at].label.empty()) continue;
    const std::string indent(excerpt.ColumnOf(marks[at].begin), ' ');
    out_ += Gutter("") + " " + indent + Paint("|", style(marks[at].primary)) + "\n";
    out_ += Gutter("") + " " + indent + Paint(Harmless(marks[at].label), style(marks[at].primary)) + "\n";
  }
}

void TextRenderer::AddNote(std::string_view word, std::string_view text, size_t margin) {
  out_ += std::string(margin, ' ') + Paint("=", kBlue) + " " + Paint(fmt::format("{}:", word), kBold) + " " + Harmless(text) + "\n";
}

void TextRenderer::AddNotes(const Diagnostic& diagnostic) {
  const size_t margin = diagnostic.span.file != FileId::kNone ? gutter_ + 1 : 1;
  for (const std::string& help : diagnostic.help) AddNote("help", help, margin);
  for (const Edit& fix : diagnostic.fixes) {
    if (!SaysSo(diagnostic.help, fix)) AddNote("fix", TextOfFix(fix), margin);
  }
}

std::string TextRenderer::Render(const Diagnostic& diagnostic) {
  primary_style_ = diagnostic.severity == Severity::kError ? kRed : kYellow;
  Head(diagnostic);
  Snippets(diagnostic);
  AddNotes(diagnostic);
  return std::move(out_) + "\n";
}

std::string TextRenderer::Place(const Diagnostic& diagnostic, const wf::diag::Notes& notes) {
  Snippets(diagnostic);
  for (const auto& [word, text] : notes) AddNote(word, text, gutter_ + 1);
  return std::move(out_);
}

void TextRenderer::Snippets(const Diagnostic& diagnostic) {
  const std::vector<FileId> files = FilesOf(diagnostic);
  for (const FileId file : files) {
    const Lines lines = LinesOf(diagnostic, file, sources_);
    gutter_ = std::max(gutter_, std::to_string(lines.rbegin()->first).size());
  }
  for (size_t at = 0; at < files.size(); ++at) Snippet(diagnostic, files[at], at == 0);
}

}  // namespace

std::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
  }
  return "";
}

std::string CodeName(Code code) { return fmt::format("WF{:04}", static_cast<int>(code)); }

std::string FullMessage(const Diagnostic& diagnostic) {
  std::string text = diagnostic.message;
  if (!diagnostic.span_label.empty()) text += "\n" + diagnostic.span_label;
  for (const std::string& help : diagnostic.help) text += "\nhelp: " + help;
  return text;
}

std::string RenderText(const Diagnostic& diagnostic, const source::SourceMap& sources, Color color) {
  return TextRenderer(sources, color).Render(diagnostic);
}

std::string RenderPlace(const Span& place, std::string_view label, const Notes& notes, const source::SourceMap& sources, Color color) {
  Diagnostic diagnostic{};
  diagnostic.span = place;
  diagnostic.span_label = label;
  return TextRenderer(sources, color).Place(diagnostic, notes);
}

}  // namespace wf::diag
