#include "compiler/interface/reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "compiler/interface/sample.h"
#include "compiler/interface/wire.h"
#include "runtime/base/error_codes.h"
#include "runtime/base/units.h"

namespace wf::interface {
namespace {

// A cell of a table: neither `|` nor a line break ends it.
std::string Cell(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : c == '\n' ? " " : std::string(1, c);
  return out;
}

// A cell in fixed width: more backticks around it than it has in a row.
std::string CodeCell(const std::string& text) {
  std::string ticks = "`";
  while (text.find(ticks) != std::string::npos) ticks += '`';
  const std::string space = ticks.size() > 1 ? " " : "";
  return ticks + space + Cell(text) + space + ticks;
}

// A text in Markdown with the fence that it leaves open.
std::string Closed(const std::string& text) {
  std::string open;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t at = std::min(line.find_first_not_of(' '), line.size());
    const size_t end = std::min(line.find_first_not_of(line[at], at), line.size());
    const bool is_fence = at < 4 && (line[at] == '`' || line[at] == '~') && end - at >= 3;
    if (!is_fence) continue;
    const std::string fence = line.substr(at, end - at);
    if (open.empty()) {
      const bool is_code = fence[0] == '`' && line.find('`', end) != std::string::npos;  // "```x``` is x": no fence
      if (!is_code) open = fence;
    } else if (fence.starts_with(open) && line.find_first_not_of(' ', end) == std::string::npos) {
      open.clear();
    }
  }
  return open.empty() ? text : text + "\n" + open;
}

std::string Paragraph(const std::string& text) { return text.empty() ? "" : Closed(text) + "\n\n"; }

class ReferenceWriter {
 public:
  explicit ReferenceWriter(const Interface& interface) : interface_(interface) {
    for (const auto& [name, call] : OipNames(interface)) names_[call].push_back("`/v2/models/" + name + "`");
  }

  std::string Run() {
    for (const Service& service : interface_.services) {
      text_ += fmt::format("# {}\n\n{}", service.name, Paragraph(service.doc));
      Limits(service);
      for (const Call& call : service.calls) Describe(service, call);
    }
    if (!interface_.records.empty()) text_ += "# Types\n\n";
    for (const Record& record : interface_.records) {
      text_ += fmt::format("## {}\n\n{}| member | type |\n| --- | --- |\n", record.name, Paragraph(record.doc));
      for (const Field& field : record.fields) text_ += fmt::format("| `{}` | `{}` |\n", Cell(field.name), Cell(ToString(field.type)));
      text_ += "\n";
    }
    return std::move(text_);
  }

 private:
  void Limits(const Service& service) {
    std::vector<std::string> limits;
    if (service.timeout_ns != 0) limits.push_back("a call may take " + base::DurationText(service.timeout_ns));
    if (service.body_bytes != 0) limits.push_back("a body may have " + base::SizeText(service.body_bytes));
    if (service.rows != 0) limits.push_back(fmt::format("a call may have {} samples", service.rows));
    if (!limits.empty()) text_ += fmt::format("Limits: {}.\n\n", fmt::join(limits, ", "));
  }

  void Describe(const Service& service, const Call& call) {
    const std::string path = service.name + "/" + call.name;
    text_ += fmt::format("## {}\n\n{}", call.name, Paragraph(call.doc));
    text_ += fmt::format("`POST /{}`, and on the Open Inference Protocol {}.{}\n\n", path, fmt::join(names_[path], ", "),
                         call.is_model ? fmt::format(" A model; versions: {}.", call.versions) : "");
    text_ += fmt::format("    {}\n\n", SampleCurl(interface_, service, call, "localhost:8080"));
    Parameters(call);
    if (!call.out.empty()) {
      text_ += "| result | type |\n| --- | --- |\n";
      for (const Port& port : call.out) text_ += fmt::format("| `{}` | `{}` |\n", Cell(port.name), Cell(ToString(port.type)));
      text_ += "\n";
    }
    Errors(call);
    if (!call.meta.empty()) {
      text_ += "| header or OIP parameter | type | default |\n| --- | --- | --- |\n";
      for (const Meta& meta : call.meta) {
        text_ += fmt::format("| `{}` | `{}` | {} |\n", Cell(meta.key), ToString(meta.type),
                             meta.written.empty() ? "computed" : CodeCell(meta.written));
      }
      text_ += "\n";
    }
    if (!call.annotations.empty()) text_ += fmt::format("Answers carry the headers `wf-{}`.\n\n", fmt::join(call.annotations, "`, `wf-"));
  }

  void Parameters(const Call& call) {
    if (call.in.empty()) return;
    text_ += "| parameter | type | default |\n| --- | --- | --- |\n";
    for (const Port& port : call.in) {
      std::string otherwise = port.required ? "required" : port.written.empty() ? "optional" : CodeCell(port.written);
      if (&port == RawBody(call)) otherwise += "; or the body itself, the others in the query";
      text_ += fmt::format("| `{}` | `{}` | {} |\n", Cell(port.name), Cell(ToString(port.type)), otherwise);
    }
    text_ += "\n";
  }

  void Errors(const Call& call) {
    if (call.errors.empty()) return;
    text_ += "| code | error | HTTP | means |\n| --- | --- | --- | --- |\n";
    for (const int32_t code : call.errors) {
      const Error* declared = interface_.FindError(code);
      const base::CodeInfo known = base::CodeInfoOf(code);
      const auto status = declared != nullptr ? static_cast<base::StatusCode>(declared->status) : known.status;
      text_ += fmt::format("| {} | `{}` | {} | {} |\n", code, declared != nullptr ? declared->name : std::string(known.name),
                           base::HttpStatus(status), declared != nullptr ? Cell(declared->message) : "one of the framework's");
    }
    text_ += "\n";
  }

  const Interface& interface_;
  std::map<std::string, std::vector<std::string>> names_;  // of the Open Inference Protocol, by "Service/call"
  std::string text_;
};

}  // namespace

std::string Reference(const Interface& interface) { return ReferenceWriter(interface).Run(); }

}  // namespace wf::interface
