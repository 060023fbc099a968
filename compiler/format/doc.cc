#include "compiler/format/doc.h"

#include <algorithm>

#include "compiler/format/align.h"

namespace wf::format {
namespace {

constexpr size_t kStep = 2;

size_t Width(std::string_view text) {  // in characters
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

Doc Docs::Add(Node node) {
  for (const Doc part : node.parts) node.forced = node.forced || (*this)[part].forced;
  nodes_.push_back(std::move(node));
  return Doc{static_cast<uint32_t>(nodes_.size() - 1)};
}

Doc Docs::Text(std::string_view text) { return Add({.kind = Kind::kText, .text = text}); }
Doc Docs::Line() { return Add({.kind = Kind::kLine}); }
Doc Docs::SoftLine() { return Add({.kind = Kind::kSoftLine}); }
Doc Docs::HardLine() { return Add({.kind = Kind::kHardLine, .forced = true}); }
Doc Docs::Blank() { return Add({.kind = Kind::kBlank}); }
Doc Docs::IfBroken(std::string_view text) { return Add({.kind = Kind::kIfBroken, .text = text}); }
Doc Docs::Concat(std::vector<Doc> parts) { return Add({.kind = Kind::kConcat, .parts = std::move(parts)}); }
Doc Docs::Nest(Doc inner) { return Add({.kind = Kind::kNest, .parts = {inner}}); }
Doc Docs::Group(Doc inner, bool broken) { return Add({.kind = Kind::kGroup, .forced = broken, .parts = {inner}}); }
Doc Docs::TrailingComment(std::string_view text) { return Add({.kind = Kind::kTrailing, .forced = true, .text = text}); }
Doc Docs::OwnComment(std::string_view text) { return Add({.kind = Kind::kOwn, .forced = true, .text = text}); }

// One run of Print. Line breaks are held back until the text after them, whose margin they take: none is followed by spaces alone.
class Printer {
 public:
  Printer(const Docs& docs, size_t width) : docs_(docs), width_(width) {}
  std::string Run(Doc root);

 private:
  using Kind = Docs::Kind;
  struct Item {
    Doc doc;
    size_t margin;
    bool broken;
  };
  void Step(const Item& item);
  void Put(std::string_view text, size_t margin);
  void Comment(const Docs::Node& node, size_t margin);
  void Break(size_t lines) { pending_ = std::max(pending_, lines); }
  bool Fits(const Item& item) const;
  static void PushParts(const std::vector<Doc>& parts, size_t margin, bool broken, std::vector<Item>& stack) {
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) stack.push_back({*part, margin, broken});
  }

  const Docs& docs_;
  const size_t width_;
  std::vector<Item> stack_;
  std::string out_;
  size_t column_ = 0, pending_ = 0;
  bool after_comment_ = false;
  std::vector<size_t> trailing_;  // where in out_ trailing comments begin
};

void Printer::Put(std::string_view text, size_t margin) {
  if (text.empty()) return;
  if (pending_ > 0) {
    if (!out_.empty()) out_.append(pending_, '\n');
    out_.append(margin, ' ');
    column_ = margin;
    pending_ = 0;
  }
  out_ += text;
  column_ += Width(text);
  after_comment_ = false;
}

// A trailing one stays on the line of what stands before it, also where that line was about to end.
void Printer::Comment(const Docs::Node& node, size_t margin) {
  while (pending_ == 0 && out_.ends_with(' ')) out_.pop_back();
  if (node.kind == Kind::kTrailing && !after_comment_ && !out_.empty()) {
    out_ += ' ';
    trailing_.push_back(out_.size());
    out_ += node.text;
  } else {
    Break(1);
    Put(node.text, margin);
  }
  after_comment_ = true;
  Break(1);
}

// Whether the item on one line, and what follows it up to the next possible line break, ends before the width.
bool Printer::Fits(const Item& item) const {
  size_t left = width_ - std::min(width_, pending_ > 0 ? item.margin : column_);
  size_t rest = stack_.size();
  std::vector<Item> stack = {{item.doc, item.margin, false}};
  while (!stack.empty() || rest > 0) {
    if (stack.empty()) stack.push_back(stack_[--rest]);
    const Item next = stack.back();
    stack.pop_back();
    const Docs::Node& node = docs_[next.doc];
    const auto take = [&](size_t columns) { return columns <= left ? (left -= columns, true) : false; };
    switch (node.kind) {
      case Kind::kText:
        if (!take(Width(node.text))) return false;
        break;
      case Kind::kLine:
      case Kind::kSoftLine:
        if (next.broken) return true;
        if (node.kind == Kind::kLine && !take(1)) return false;
        break;
      case Kind::kIfBroken:
        if (next.broken && !take(Width(node.text))) return false;
        break;
      case Kind::kHardLine:
      case Kind::kTrailing:
      case Kind::kOwn:
        return true;
      case Kind::kBlank:
        break;
      case Kind::kConcat:
      case Kind::kNest:
        PushParts(node.parts, next.margin, next.broken, stack);
        break;
      case Kind::kGroup:
        PushParts(node.parts, next.margin, next.broken || node.forced, stack);
        break;
    }
  }
  return true;
}

void Printer::Step(const Item& item) {
  const Docs::Node& node = docs_[item.doc];
  switch (node.kind) {
    case Kind::kText:
      return Put(node.text, item.margin);
    case Kind::kLine:
    case Kind::kSoftLine:
      if (item.broken) return Break(1);
      if (node.kind == Kind::kLine && pending_ == 0) Put(" ", item.margin);
      return;
    case Kind::kHardLine:
      return Break(1);
    case Kind::kBlank:
      if (item.broken && pending_ > 0) Break(2);
      return;
    case Kind::kIfBroken:
      if (item.broken) Put(node.text, item.margin);
      return;
    case Kind::kTrailing:
    case Kind::kOwn:
      return Comment(node, item.margin);
    case Kind::kConcat:
      return PushParts(node.parts, item.margin, item.broken, stack_);
    case Kind::kNest:
      return PushParts(node.parts, item.margin + kStep, item.broken, stack_);
    case Kind::kGroup:
      return PushParts(node.parts, item.margin, node.forced || (item.broken && !Fits(item)), stack_);
  }
}

std::string Printer::Run(Doc root) {
  stack_.push_back({root, 0, true});
  while (!stack_.empty()) {
    const Item item = stack_.back();
    stack_.pop_back();
    Step(item);
  }
  out_ += '\n';
  return AlignComments(std::move(out_), trailing_);
}

std::string Docs::Print(Doc root, size_t width) const { return Printer(*this, width).Run(root); }

}  // namespace wf::format
