#include "compiler/lsp/context.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace wf::lsp {
namespace {

bool IsWord(std::string_view text) {
  return !text.empty() && (std::isalnum(static_cast<unsigned char>(text.back())) != 0 || text.back() == '_');
}

// Follows the braces of a text and knows what each opens.
class BraceReader {
 public:
  void Read(const std::string& token) {
    if (token == "{") {
      open_.push_back({Opened(), std::move(words_)});
      words_.clear();
    } else if (token == "}") {
      Close();
    } else if (token == ";") {
      words_.clear();
      after_stage_ = false;
    } else {
      words_.push_back(token);
      after_stage_ = false;
    }
  }

  Block block() const { return open_.empty() ? Block::kFile : open_.back().block; }
  std::vector<std::string> TakeWords() { return std::move(words_); }

 private:
  struct Open {
    Block block;
    std::vector<std::string> words;  // of the statement that it stands in
  };

  void Close() {
    words_.clear();
    after_stage_ = false;
    if (open_.empty()) return;
    const Open closed = std::move(open_.back());
    open_.pop_back();
    after_stage_ = closed.block == Block::kStage;
    if (closed.block != Block::kOther) return;
    words_ = closed.words;  // an expression goes on behind its block
    words_.emplace_back("}");
  }

  // `if x {`, `for a in b {`: the nearest such word, with no other block since, opens a block of an expression.
  bool OpensExpression() const {
    for (auto word = words_.rbegin(); word != words_.rend() && *word != "}"; ++word) {
      for (const std::string_view opener : {"if", "else", "for", "fold", "match"}) {
        if (*word == opener) return true;
      }
    }
    return false;
  }

  Block Opened() const {
    if (after_stage_ && words_.empty()) return Block::kStageSettings;
    const std::string head = words_.empty() ? "" : words_.front();
    if (OpensExpression()) return block() == Block::kBody && head == "if" ? Block::kBody : Block::kOther;
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
  std::vector<std::string> words_;
  bool after_stage_ = false;
};

}  // namespace

Context ContextAt(const Analysis& analysis, uint32_t byte) {
  Context context;
  if (analysis.tree() == nullptr) return context;  // an empty file
  const ast::File& file = *analysis.tree();
  for (const ast::Comment& comment : file.comments) {
    if (comment.span.begin < byte && byte <= comment.span.end) context.inside = true;
  }
  BraceReader braces;
  for (const Span& token : file.tokens) {
    if (token.begin >= byte) break;
    const std::string text(analysis.sources().Text(token));
    if (text.empty()) continue;
    const bool string = text.front() == '"' || text.starts_with("r\"");
    if (byte <= token.end && (string ? byte < token.end : IsWord(text))) {
      context.inside = context.inside || string;
      break;
    }
    braces.Read(text);
  }
  context.block = braces.block();
  context.words = braces.TakeWords();
  return context;
}

}  // namespace wf::lsp
