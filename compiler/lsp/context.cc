#include "compiler/lsp/context.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <string_view>

#include "compiler/lsp/reach.h"

namespace wf::lsp {
namespace {

bool IsWord(std::string_view text) {
  return !text.empty() && (std::isalnum(static_cast<unsigned char>(text.back())) != 0 || text.back() == '_');
}

// The text of the hole that is open where a string, begun and not closed, ends; nothing: none is.
std::optional<std::string_view> OpenHole(std::string_view string) {
  std::optional<size_t> hole;
  for (size_t at = 1; at < string.size(); ++at) {
    if (string[at] == '\\') {
      at += string.substr(at + 1).starts_with("u{") ? 2 : 1;
    } else if (string[at] == '}') {
      hole.reset();
    } else if (string[at] == '{' && !hole) {
      if (string.substr(at + 1).starts_with('{')) {
        ++at;
      } else {
        hole = at + 1;
      }
    }
  }
  return hole ? std::optional(string.substr(*hole)) : std::nullopt;
}

// Its tokens but for a name that is being typed.
std::vector<std::string> WordsOfHole(std::string_view hole) {
  std::vector<std::string> words;
  bool in_word = false;
  for (const char c : hole) {
    const bool letter = IsWord(std::string_view(&c, 1));
    if (letter && in_word) words.back() += c;
    if (c != ' ' && !(letter && in_word)) words.emplace_back(1, c);
    in_word = letter;
  }
  if (in_word) words.pop_back();
  return words;
}

using Words = std::vector<std::string>;

// Of the brackets that are open behind the words.
std::string BracketsFor(const Words& words) {
  std::string closers;
  for (const std::string& word : words) {
    if (word == "(" || word == "[") closers.insert(closers.begin(), word == "(" ? ')' : ']');
    if ((word == ")" || word == "]") && !closers.empty()) closers.erase(closers.begin());
  }
  return closers;
}

// What ends the statement that the words begin, and its block needs then.
std::string_view EndFor(Block block, const Words& words) {
  const std::string head = words.empty() ? "" : words.front();
  if (block == Block::kFile) return std::find(words.begin(), words.end(), "=") != words.end() ? ";" : "";
  if (block == Block::kFn || block == Block::kOther) return head == "let" || head == "require" ? ";x" : "";  // it ends with its value
  return ";";
}

// The nearest word before the end that opens a block of an expression, with no other block since; empty: none.
std::string OpenerIn(const Words& words) {
  for (auto word = words.rbegin(); word != words.rend() && *word != "}"; ++word) {
    for (const std::string_view opener : {"if", "else", "for", "fold", "match"}) {
      if (*word == opener) return *word;
    }
  }
  return "";
}

// Follows the braces of a text and knows what each opens.
class BraceReader {
 public:
  void Read(const std::string& token) {
    if (token == "{") {
      open_.push_back({Opened(), std::move(words_), std::move(all_)});
      words_.clear();
      all_.clear();
    } else if (token == "}") {
      Close();
    } else if (token == ";") {
      words_.clear();
      if (block() != Block::kOther) all_.clear();
      after_stage_ = false;
    } else {
      words_.push_back(token);
      all_.push_back(token);
      after_stage_ = false;
    }
  }

  Block block() const { return open_.empty() ? Block::kFile : open_.back().block; }
  bool InMatch() const { return !open_.empty() && OpenerIn(open_.back().words) == "match"; }
  std::vector<std::string> TakeWords() { return std::move(words_); }
  std::vector<std::string> Around() const { return open_.empty() ? std::vector<std::string>() : open_.back().all; }

  std::string Closers() const {
    std::string closers = BracketsFor(words_) + std::string(EndFor(block(), words_));
    for (auto open = open_.rbegin(); open != open_.rend(); ++open) {
      const bool in_expression = open->block == Block::kOther;
      const Block outside = std::next(open) == open_.rend() ? Block::kFile : std::next(open)->block;
      closers += in_expression && OpenerIn(open->words) == "if" ? "}else{x}" : "}";
      closers += BracketsFor(open->words);
      if (in_expression) closers += EndFor(outside, open->words);
    }
    return closers;
  }

 private:
  struct Open {
    Block block;
    std::vector<std::string> words, all;  // of the statement that it stands in; `all`: with those of its blocks
  };

  void Close() {
    words_.clear();
    const std::vector<std::string> inner = std::move(all_);
    all_.clear();
    after_stage_ = false;
    if (open_.empty()) return;
    const Open closed = std::move(open_.back());
    open_.pop_back();
    after_stage_ = closed.block == Block::kStage;
    if (closed.block != Block::kOther) return;
    all_ = closed.all;
    all_.insert(all_.end(), inner.begin(), inner.end());
    words_ = closed.words;  // an expression goes on behind its block
    words_.emplace_back("}");
  }

  Block Opened() const {
    if (after_stage_ && words_.empty()) return Block::kStageSettings;
    const std::string head = words_.empty() ? "" : words_.front();
    if (!OpenerIn(words_).empty()) return block() == Block::kBody && head == "if" ? Block::kBody : Block::kOther;
    if (head == "node" && !open_.empty()) return Block::kNodeSettings;
    if (head == "stage") return Block::kStage;
    if (head == "model") return Block::kModelSettings;
    if (head == "remote") return Block::kRemoteSettings;
    if (head == "workflow") return Block::kBody;
    if (head == "fn") return Block::kFn;
    if (head == "test") return Block::kTest;
    if (head == "type") return Block::kRecord;
    return head == "service" ? Block::kService : Block::kOther;
  }

  std::vector<Open> open_;
  std::vector<std::string> words_, all_;
  bool after_stage_ = false;
};

}  // namespace

Context ContextAt(const Analysis& analysis, uint32_t byte) {
  const ast::File* tree = analysis.tree();
  if (tree == nullptr) return {};  // an empty file
  return ContextAt({analysis.sources().text(analysis.root()), tree->tokens, tree->comments}, byte);
}

Context ContextAt(const TokenText& tokens, uint32_t byte) {
  Context context;
  for (const ast::Comment& comment : tokens.comments) {
    if (comment.span.begin < byte && byte <= comment.span.end) context.inside = true;
  }
  BraceReader braces;
  Reach reach;
  for (const Span& token : tokens.tokens) {
    if (token.begin >= byte) break;
    const std::string text(tokens.Of(token));
    if (text.empty()) continue;
    const bool string = text.front() == '"' || text.starts_with("r\"");
    const bool is_open = text.front() == '"' && (byte < token.end || (byte == token.end && (text.size() == 1 || !text.ends_with('"'))));
    const auto hole = is_open ? OpenHole(std::string_view(text).substr(0, byte - token.begin)) : std::nullopt;
    if (hole) {
      context.in_hole = true;
      context.names = reach.Names();
      context.words = WordsOfHole(*hole);
      context.block = braces.block();
      context.closers = "}\"" + braces.Closers();
      return context;
    }
    if (byte <= token.end && (string ? byte < token.end || is_open : IsWord(text))) {
      context.inside = context.inside || string;
      if (string) context.string = text.substr(1, byte - token.begin - 1);
      break;
    }
    braces.Read(text);
    reach.Read(text);
  }
  context.names = reach.Names();
  context.block = braces.block();
  context.around = braces.Around();
  context.closers = braces.Closers();
  context.in_match = braces.InMatch();
  context.words = braces.TakeWords();
  return context;
}

bool SeemsBehindDot(std::string_view before) {
  while (IsWord(before)) before.remove_suffix(1);
  const size_t last = before.find_last_not_of(" \t\r\n");
  return last != std::string_view::npos && before[last] == '.';
}

}  // namespace wf::lsp
