#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "compiler/driver/depths.h"
#include "compiler/driver/graph.h"
#include "compiler/driver/layers.h"
#include "compiler/driver/xml.h"
#include "compiler/ir/policy_text.h"

namespace wf::driver {
namespace {

constexpr double kLetter = 7.3, kLineHeight = 17, kPadding = 10;  // of 12 px in a font of fixed width
constexpr double kFrame = 14, kFrameTitle = 24, kMargin = 24, kTitle = 24;
constexpr size_t kLongestLine = 44;

size_t Length(std::string_view text) {  // in characters
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string Shortened(const std::string& text, size_t longest) {
  if (Length(text) <= longest) return text;
  size_t at = 0;
  for (size_t kept = 0; kept + 1 < longest; ++kept) {
    do ++at;
    while ((static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  }
  return text.substr(0, at) + "…";
}

struct Line {
  std::string text;
  std::string_view style;  // a class of the style sheet
};

struct Label {
  std::vector<Line> lines;
  std::string_view style;
};

struct Frame {
  std::string title;
  bool written = false, has_border = false;
  std::vector<size_t> boxes;
};

// One workflow as boxes, wires and frames.
struct Drawing {
  std::string title;
  std::vector<std::string> notes;
  Layers layers;
  std::vector<Label> labels;  // of the boxes
  std::vector<Frame> frames;

  size_t Add(Label label, size_t column) {
    size_t longest = 0;
    for (Line& line : label.lines) {
      line.text = Shortened(line.text, kLongestLine);
      longest = std::max(longest, Length(line.text));
    }
    const double height = static_cast<double>(label.lines.size()) * kLineHeight + 2 * kPadding - 4;
    layers.boxes.push_back({.column = column, .width = static_cast<double>(longest) * kLetter + 2 * kPadding, .height = height});
    labels.push_back(std::move(label));
    return layers.boxes.size() - 1;
  }
};

Label LabelOf(const Graph::Node& node) {
  Label label{{{node.name, "name"}}, node.models.empty() ? "node" : "model"};
  if (!node.models.empty()) label.lines.push_back({fmt::format("model {}", fmt::join(node.models, ", ")), "what"});
  for (const auto& [name, value] : node.settings) label.lines.push_back({name + " " + value, "setting"});
  for (const Graph::Call& call : node.calls) label.lines.push_back({Spelling(call), "setting"});
  for (const Graph::Measured& one : node.measured) label.lines.push_back({Spelling(one), "what"});
  if (node.fallback) label.lines.push_back({"else …", "setting"});
  for (const std::string& block : node.inside) label.lines.push_back({"in " + block, "setting"});
  return label;
}

void AddWires(Drawing& drawing, const Reads& reads, bool dashed = false) {
  for (size_t to = 0; to < reads.size(); ++to) {
    for (const size_t from : reads[to]) drawing.layers.wires.push_back({from, to, {}, dashed});
  }
}

using Numbers = std::map<std::string, size_t>;

// Those of `names` that are boxes, but for the box itself.
std::vector<size_t> Find(const Numbers& numbers, const std::vector<std::string>& names, size_t self) {
  std::vector<size_t> found;
  for (const std::string& name : names) {
    if (const auto known = numbers.find(name); known != numbers.end() && known->second != self) found.push_back(known->second);
  }
  return found;
}

void DrawWorkflow(const Graph::Workflow& workflow, Drawing& drawing) {
  Label label{{{workflow.name, "name"}}, "node"};
  for (const Graph::Port& port : workflow.in) label.lines.push_back({Spelling(port), "setting"});
  for (const Graph::Port& port : workflow.out) label.lines.push_back({"→ " + Spelling(port), "what"});
  drawing.Add(std::move(label), 0);
}

void DrawStages(const Graph::Workflow& workflow, Drawing& drawing) {
  Numbers numbers;
  for (const Graph::Stage& stage : workflow.stages) numbers.emplace(stage.name, numbers.size());
  Reads reads, waits;
  for (const Graph::Stage& stage : workflow.stages) {
    const size_t self = reads.size();
    reads.push_back(Find(numbers, stage.after, self));
    waits.push_back(Find(numbers, stage.waits, self));
  }
  const std::vector<size_t> depths = Depths(reads, waits, std::vector<size_t>(reads.size(), 0));
  for (size_t at = 0; at < workflow.stages.size(); ++at) {
    const Graph::Stage& stage = workflow.stages[at];
    const bool calls = std::any_of(stage.nodes.begin(), stage.nodes.end(), [](const Graph::Node& node) { return !node.models.empty(); });
    const std::string_view style = stage.written ? (calls ? "model" : "node") : (calls ? "model dashed" : "node dashed");
    Label label{{{stage.name.empty() ? "(no stage)" : stage.name, "name"}}, style};
    for (const Graph::Node& node : stage.nodes) label.lines.push_back({node.name, "setting"});
    for (const Graph::Measured& one : stage.measured) label.lines.push_back({Spelling(one), "what"});
    drawing.Add(std::move(label), depths[at]);
  }
  AddWires(drawing, reads);
  AddWires(drawing, waits, true);
}

// The nodes and controls of a workflow before they have places. A group, which is a stage or one control, stands in columns of its own.
struct Pieces {
  Numbers numbers;
  std::vector<Label> labels;
  std::vector<size_t> groups;  // of each
  std::vector<Frame> frames;   // of the groups; a control's has no border
  Reads reads, waits;
};

Pieces PiecesOf(const Graph::Workflow& workflow) {
  Pieces all;
  const auto add = [&](const std::string& name, Label label) {
    all.frames.back().boxes.push_back(all.labels.size());
    all.groups.push_back(all.frames.size() - 1);
    all.numbers.emplace(name, all.labels.size());
    all.labels.push_back(std::move(label));
  };
  for (const Graph::Stage& stage : workflow.stages) {
    const std::string title = stage.name.empty() ? "" : stage.written ? "stage " + stage.name : stage.name + " (inferred)";
    all.frames.push_back({title, stage.written, true, {}});
    for (const Graph::Node& node : stage.nodes) add(node.name, LabelOf(node));
  }
  for (const Graph::Control& control : workflow.controls) {
    all.frames.emplace_back();
    Label label{{{control.name, "name"}}, "control"};
    for (const std::string& block : control.inside) label.lines.push_back({"in " + block, "setting"});
    add(control.name, std::move(label));
  }
  const auto connect = [&](const auto& one) {
    const size_t self = all.reads.size();
    all.reads.push_back(Find(all.numbers, one.reads, self));
    all.waits.push_back(Find(all.numbers, one.after, self));
  };
  for (const Graph::Stage& stage : workflow.stages) std::for_each(stage.nodes.begin(), stage.nodes.end(), connect);
  std::for_each(workflow.controls.begin(), workflow.controls.end(), connect);
  return all;
}

// What lies between groups, by their numbers, and what lies within them, by those of the pieces.
Reads Between(const Pieces& all, const Reads& reads) {
  Reads between(all.frames.size());
  for (size_t at = 0; at < reads.size(); ++at) {
    for (const size_t read : reads[at]) {
      if (all.groups[read] != all.groups[at]) between[all.groups[at]].push_back(all.groups[read]);
    }
  }
  return between;
}
Reads Within(const Pieces& all, Reads reads) {
  for (size_t at = 0; at < reads.size(); ++at) {
    std::erase_if(reads[at], [&](size_t read) { return all.groups[read] != all.groups[at]; });
  }
  return reads;
}

// Groups from left to right, those of one depth with controls first.
std::vector<std::pair<size_t, size_t>> Ordered(const Pieces& all) {
  const std::vector<size_t> depths = Depths(all.reads, all.waits, std::vector<size_t>(all.reads.size(), 0));
  std::vector<size_t> rank(all.frames.size(), SIZE_MAX);
  for (size_t at = 0; at < depths.size(); ++at) rank[all.groups[at]] = std::min(rank[all.groups[at]], depths[at]);
  const std::vector<size_t> places = Depths(Between(all, all.reads), Between(all, all.waits), rank);
  std::vector<std::pair<size_t, size_t>> order;  // depth and group
  for (size_t group = 0; group < places.size(); ++group) order.emplace_back(places[group], group);
  const auto key = [&](const auto& one) { return std::tuple(one.first, all.frames[one.second].has_border, one.second); };
  std::sort(order.begin(), order.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  return order;
}

// The column of each. A group takes as many as its pieces read each other, which is one for a written stage; controls of one depth share
// one.
std::vector<size_t> PlacePieces(Pieces& all, Drawing& drawing) {
  const std::vector<size_t> inner = Depths(Within(all, all.reads));
  std::vector<size_t> columns(all.labels.size());
  size_t free = 0, shared_depth = SIZE_MAX;
  for (const auto& [depth, group] : Ordered(all)) {
    Frame& frame = all.frames[group];
    if (frame.boxes.empty()) continue;
    const bool shares = !frame.has_border && depth == shared_depth;
    const size_t first = shares ? free - 1 : free;
    for (const size_t box : frame.boxes) {
      columns[box] = first + inner[box];
      free = std::max(free, columns[box] + 1);
    }
    shared_depth = frame.has_border ? SIZE_MAX : depth;
    if (!frame.has_border) continue;
    drawing.layers.least_widths.resize(free, 0);
    drawing.layers.least_widths[first] = static_cast<double>(Length(frame.title)) * kLetter * 0.92 + 2 * (kPadding - kFrame);
    drawing.frames.push_back(std::move(frame));
  }
  return columns;
}

void DrawNodes(const Graph::Workflow& workflow, Drawing& drawing) {
  Pieces all = PiecesOf(workflow);
  const std::vector<size_t> columns = PlacePieces(all, drawing);
  for (size_t at = 0; at < columns.size(); ++at) drawing.Add(std::move(all.labels[at]), columns[at]);
  AddWires(drawing, all.reads);
  AddWires(drawing, all.waits, true);
}

void DrawTasks(const Graph::Workflow& workflow, Drawing& drawing) {
  std::vector<std::pair<const Graph::Task*, std::string>> tasks;  // and the node that it is part of
  for (const Graph::Stage& stage : workflow.stages) {
    for (const Graph::Node& node : stage.nodes) {
      for (const Graph::Task& task : node.tasks) tasks.emplace_back(&task, node.name);
    }
  }
  for (const Graph::Task& task : workflow.own_tasks) tasks.emplace_back(&task, "");
  Numbers numbers;
  for (const auto& [task, node] : tasks) numbers.emplace(task->id, numbers.size());
  Reads reads, enters;
  for (const auto& [task, node] : tasks) {
    const size_t self = reads.size();
    reads.push_back(Find(numbers, task->reads, self));
    enters.push_back(task->begins ? Find(numbers, {task->inside}, self) : std::vector<size_t>());
  }
  const std::vector<size_t> depths = Depths(reads, enters, std::vector<size_t>(reads.size(), 0));
  for (size_t at = 0; at < tasks.size(); ++at) {
    const auto& [task, node] = tasks[at];
    Label label{{{task->id + " " + task->kind, "name"}}, task->kind == "model" ? "model" : "node"};
    if (!task->what.empty() && task->what != node) label.lines.push_back({task->what, "what"});
    if (!node.empty()) label.lines.push_back({"of " + node, "setting"});
    if (!task->marks.empty()) label.lines.push_back({fmt::format("{}", fmt::join(task->marks, ", ")), "setting"});
    drawing.Add(std::move(label), depths[at]);
  }
  AddWires(drawing, reads);
  AddWires(drawing, enters, true);
}

std::string Ports(std::string_view word, const std::vector<Graph::Port>& ports) {
  std::string text;
  for (const Graph::Port& port : ports) text += (text.empty() ? "" : ", ") + Spelling(port);
  return fmt::format("{} {}", word, text);
}

Drawing DrawingOf(const Graph::Workflow& workflow, Level level) {
  Drawing drawing;
  drawing.title = fmt::format("{}{}", Spelling(workflow), workflow.is_default ? " (default)" : "");
  if (level != Level::kWorkflow) drawing.notes = {Ports("in ", workflow.in), Ports("out", workflow.out)};
  if (!workflow.settings.empty()) drawing.notes.push_back(ir::Joined(workflow.settings));
  for (const Graph::Measured& one : workflow.measured) drawing.notes.push_back(Spelling(one));
  switch (level) {
    case Level::kWorkflow:
      DrawWorkflow(workflow, drawing);
      break;
    case Level::kStage:
      DrawStages(workflow, drawing);
      break;
    case Level::kNode:
      drawing.layers.column_gap += 2 * kFrame;
      DrawNodes(workflow, drawing);
      break;
    case Level::kTask:
      DrawTasks(workflow, drawing);
      break;
  }
  return drawing;
}

// Writes drawings below each other.
class SvgWriter {
 public:
  void Write(const Drawing& drawing);
  std::string Finish(const std::string& source) const;

 private:
  void Text(double x, double y, std::string_view style, const std::string& text) {
    body_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>\n", x, y, style, XmlText(text));
  }
  void Rectangle(double x, double y, double width, double height, std::string_view style) {
    body_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"6\" class=\"{}\"/>\n", x, y, width,
                         height, style);
  }
  void FrameOf(const Frame& frame, const Drawing& drawing, double top);
  void WireOf(const Layers::Wire& wire, double top);
  void BoxOf(const Layers::Box& box, const Label& label, double top);
  void Reach(double right) { width_ = std::max(width_, right + kMargin); }

  std::string body_;
  double y_ = kMargin, width_ = 0;
};

void SvgWriter::FrameOf(const Frame& frame, const Drawing& drawing, double top) {
  double left = 1e9, right = 0;
  for (const size_t number : frame.boxes) {
    const Layers::Column& column = drawing.layers.columns[drawing.layers.boxes[number].column];
    left = std::min(left, column.left);
    right = std::max(right, column.right);
  }
  Rectangle(kMargin + left, top - kFrameTitle, right - left + 2 * kFrame, drawing.layers.height + kFrameTitle + kFrame,
            frame.written ? "stage" : "inferred");
  Text(kMargin + left + kPadding, top - kFrameTitle + 16, "title2", frame.title);
}

void SvgWriter::WireOf(const Layers::Wire& wire, double top) {
  const double dx = kMargin + kFrame;
  std::string path;
  for (size_t at = 0; at + 1 < wire.points.size(); at += 2) {
    const auto [ax, ay] = wire.points[at];
    const auto [bx, by] = wire.points[at + 1];
    const double bend = std::max(24.0, (bx - ax) / 2);  // also where a wire goes back
    path += fmt::format("{}{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", at == 0 ? "M" : "L", ax + dx, ay + top, ax + dx + bend,
                        ay + top, bx + dx - bend, by + top, bx + dx, by + top);
  }
  body_ += fmt::format("<path d=\"{}\" class=\"{}\" marker-end=\"url(#tip)\"/>\n", path, wire.dashed ? "wait" : "wire");
}

void SvgWriter::BoxOf(const Layers::Box& box, const Label& label, double top) {
  const double x = box.x + kMargin + kFrame, y = box.y + top;
  Rectangle(x, y, box.width, box.height, label.style);
  for (size_t at = 0; at < label.lines.size(); ++at) {
    Text(x + kPadding, y + kPadding + 9 + static_cast<double>(at) * kLineHeight, label.lines[at].style, label.lines[at].text);
  }
}

void SvgWriter::Write(const Drawing& drawing) {
  Text(kMargin, y_ + 14, "title", drawing.title);
  Reach(kMargin + static_cast<double>(Length(drawing.title)) * kLetter * 1.25);
  y_ += kTitle;
  for (const std::string& note : drawing.notes) {
    Text(kMargin, y_ + 12, "setting", note);
    Reach(kMargin + static_cast<double>(Length(note)) * kLetter * 0.92);
    y_ += kLineHeight;
  }
  const double top = y_ + kFrameTitle + 12;
  for (const Frame& frame : drawing.frames) FrameOf(frame, drawing, top);
  for (const Layers::Wire& wire : drawing.layers.wires) WireOf(wire, top);
  for (size_t at = 0; at < drawing.labels.size(); ++at) BoxOf(drawing.layers.boxes[at], drawing.labels[at], top);
  Reach(drawing.layers.width + kMargin + 2 * kFrame);
  y_ = top + drawing.layers.height + kFrame + 2 * kMargin;
}

std::string SvgWriter::Finish(const std::string& source) const {
  return fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" viewBox="0 0 {0:.0f} {1:.0f}">
<title>{2}</title>
<style>
text {{ font: 12px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2937 }}
.title {{ font-size: 15px; font-weight: bold }}
.title2 {{ font-size: 11px; fill: #4b5563 }}
.name {{ font-weight: bold }}
.what {{ fill: #1d4ed8 }}
.setting {{ font-size: 11px; fill: #6b7280 }}
.node {{ fill: #ffffff; stroke: #9ca3af }}
.model {{ fill: #eff6ff; stroke: #3b82f6; stroke-width: 1.5 }}
.stage {{ fill: #f3f4f6; stroke: #d1d5db }}
.inferred {{ fill: #fafafa; stroke: #e5e7eb; stroke-dasharray: 4 3 }}
.dashed {{ stroke-dasharray: 4 3 }}
.control {{ fill: #fffbeb; stroke: #d97706; stroke-dasharray: 3 2 }}
.wire {{ fill: none; stroke: #6b7280; stroke-width: 1.3 }}
.wait {{ fill: none; stroke: #d97706; stroke-width: 1.1; stroke-dasharray: 4 3 }}
</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#6b7280"/></marker></defs>
<rect width="100%" height="100%" fill="#ffffff"/>
{3}</svg>
)",
                     std::max(width_, 200.0), y_, XmlText(source), body_);
}

}  // namespace

std::optional<std::string> GraphSvg(const Graph& graph, Level level) {
  SvgWriter writer;
  size_t steps = 0;
  for (const Graph::Workflow& workflow : graph.workflows) {
    Drawing drawing = DrawingOf(workflow, level);
    steps += Steps(drawing.layers);
    if (steps > kMostSteps) return std::nullopt;
    Arrange(drawing.layers);
    writer.Write(drawing);
  }
  return writer.Finish(graph.source);
}

}  // namespace wf::driver
