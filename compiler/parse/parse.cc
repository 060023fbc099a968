#include "compiler/parse/parse.h"

#include <fmt/format.h>

#include "compiler/base/utf8.h"
#include "compiler/parse/braces.h"
#include "compiler/parse/build.h"
#include "compiler/parse/recovery.h"
#include "compiler/parse/report.h"
#include "compiler/parse/tokens.h"

namespace wf::parse {
namespace {

bool CheckEncoding(source::FileId file, std::string_view bytes, diag::Emitter& emitter) {
  const auto bad = source::FirstBadByte(bytes);
  if (!bad) return true;
  const auto at = static_cast<uint32_t>(*bad);
  auto built = emitter.Emit({file, at, at + 1}, diag::kNotUtf8, {fmt::format("0x{:02X}", static_cast<unsigned char>(bytes[*bad]))});
  if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) built.Help("the file looks like UTF-16; save it as UTF-8");
  if (bytes.starts_with("\177ELF")) built.Help("the file is a program; `wfc inspect` shows what a server holds");
  return false;
}

// What stands behind a return is a line of its own in an editor, and of the line before in a terminal and a diff, where it may look like a
// comment.
bool CheckLineEnds(source::FileId file, std::string_view bytes, diag::Emitter& emitter) {
  std::optional<uint32_t> first;
  uint32_t last = 0;
  std::string mended;  // from the first to the last
  for (source::LineEnd line = source::EndOfLine(bytes, 0); line.next > line.end; line = source::EndOfLine(bytes, line.next)) {
    const bool is_lone = bytes[line.end] == '\r' && line.next == line.end + 1;
    const auto at = static_cast<uint32_t>(line.end);
    if (is_lone && !first) first = last = at;
    if (!is_lone || !first) continue;
    mended += bytes.substr(last, at - last);
    if (!bytes.substr(line.next).starts_with("\r\n")) mended += '\n';  // "\r\r\n" ends one line
    last = at + 1;
  }
  if (!first) return true;
  emitter.Emit({file, *first, *first + 1}, diag::kLoneReturn)
      .Help("lines end with a line feed, or with both, as editors write them")
      .Fix({file, *first, last}, mended);
  return false;
}

std::string HelpForEmpty(Role role) {
  return role == Role::kImport ? "what is imported declares at least one thing that others use, as a `fn`, a `type` or a `workflow`"
                               : "a program declares at least one `workflow` and a `service` that publishes it";
}

// As the parser sees them.
std::optional<TokenList> TokensOf(const Text& text, grammar::WfLexer& lexer, diag::Emitter& emitter, Role role) {
  if (!CheckEncoding(text.file, text.bytes, emitter) || !CheckLineEnds(text.file, text.bytes, emitter)) return std::nullopt;
  std::optional<TokenList> tokens = ReadTokens(text, lexer, emitter);
  if (!tokens) return std::nullopt;
  if (role != Role::kText && tokens->all.size() == 1 && tokens->damaged.empty()) {
    const auto at = static_cast<uint32_t>(text.begin);
    emitter.Emit({text.file, at, at}, diag::kEmptyFile).Help(HelpForEmpty(role));
    return std::nullopt;
  }
  RepairBraces(text, *tokens, emitter);
  return tokens;
}

}  // namespace

std::optional<ast::File> Parse(source::FileId file, const source::SourceMap& sources, diag::Emitter& emitter, Role role) {
  return Parse(file, sources.text(file), emitter, role);
}

std::optional<ast::File> Parse(source::FileId file, std::string_view bytes, diag::Emitter& emitter, Role role) {
  const Text text{file, bytes, source::ByteOrderMarkLength(bytes)};
  ByteStream stream(text.bytes, text.begin);
  grammar::WfLexer lexer(&stream);
  lexer.removeErrorListeners();
  std::optional<TokenList> tokens = TokensOf(text, lexer, emitter, role);
  if (!tokens) return std::nullopt;
  antlr4::ListTokenSource source(std::move(tokens->owned));
  antlr4::CommonTokenStream token_stream(&source);
  grammar::WfParser parser(&token_stream);
  parser.removeErrorListeners();
  parser.getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(antlr4::atn::PredictionMode::SLL);
  Reporter reporter(text, *tokens, lexer.getVocabulary(), emitter);
  parser.setErrorHandler(std::make_shared<Recovery>(text, *tokens, reporter));
  try {
    grammar::WfParser::FileContext* tree = parser.file();
    return TreeBuilder(text, *tokens, emitter).File(*tree);
  } catch (const antlr4::ParseCancellationException&) {
    return std::nullopt;  // too many mistakes; each is reported
  } catch (const antlr4::RecognitionException&) {
    return std::nullopt;  // left the outermost rule; reported
  }
}

std::optional<Lexed> Lex(std::string_view bytes) {
  const Text text{source::FileId::kNone, bytes, source::ByteOrderMarkLength(bytes)};
  ByteStream stream(text.bytes, text.begin);
  grammar::WfLexer lexer(&stream);
  lexer.removeErrorListeners();
  diag::Emitter unheard;
  std::optional<TokenList> tokens = TokensOf(text, lexer, unheard, Role::kProgram);
  if (!tokens) return std::nullopt;
  return Lexed{SpansOf(text, *tokens), std::move(tokens->comments)};
}

}  // namespace wf::parse
