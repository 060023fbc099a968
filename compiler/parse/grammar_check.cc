#include "compiler/parse/grammar_check.h"

#include <fmt/format.h>

#include "compiler/parse/tokens.h"
#include "grammar/WfParser.h"

namespace wf::parse {
namespace {

class ConflictListener : public antlr4::DiagnosticErrorListener {
 public:
  ConflictListener() : DiagnosticErrorListener(/*exactOnly=*/false) {}
  void syntaxError(antlr4::Recognizer*, Token*, size_t line, size_t, const std::string& message, std::exception_ptr) override {
    found.push_back(fmt::format("line {}: {}", line, message));
  }
  std::vector<std::string> found;
};

void Collect(antlr4::tree::ParseTree* tree, const grammar::WfParser& parser, std::set<std::string>& names) {
  if (auto* leaf = dynamic_cast<antlr4::tree::TerminalNode*>(tree)) {
    names.insert(std::string(parser.getVocabulary().getSymbolicName(leaf->getSymbol()->getType())));
    return;
  }
  auto* rule = static_cast<antlr4::ParserRuleContext*>(tree);
  names.insert(parser.getRuleNames()[rule->getRuleIndex()]);
  for (antlr4::tree::ParseTree* child : rule->children) Collect(child, parser, names);
}

}  // namespace

std::vector<std::string> PredictionConflicts(const std::string& text) {
  ByteStream stream(text, 0);
  grammar::WfLexer lexer(&stream);
  antlr4::CommonTokenStream tokens(&lexer);
  grammar::WfParser parser(&tokens);
  ConflictListener listener;
  parser.removeErrorListeners();
  parser.addErrorListener(&listener);
  parser.getInterpreter<antlr4::atn::ParserATNSimulator>()->setPredictionMode(antlr4::atn::PredictionMode::LL_EXACT_AMBIG_DETECTION);
  parser.file();
  return listener.found;
}

std::set<std::string> ConstructsOf(const std::string& text) {
  ByteStream stream(text, 0);
  grammar::WfLexer lexer(&stream);
  antlr4::CommonTokenStream tokens(&lexer);
  grammar::WfParser parser(&tokens);
  std::set<std::string> names;
  Collect(parser.file(), parser, names);
  return names;
}

std::set<std::string> AllConstructs() {
  ByteStream stream("", 0);
  grammar::WfLexer lexer(&stream);
  antlr4::CommonTokenStream tokens(&lexer);
  grammar::WfParser parser(&tokens);
  const auto& rules = parser.getRuleNames();
  std::set<std::string> names(rules.begin(), rules.end());
  for (size_t type = 1; type <= parser.getVocabulary().getMaxTokenType(); ++type) {
    names.insert(std::string(parser.getVocabulary().getSymbolicName(type)));
  }
  for (const char* hidden : {"BAD", "BAD_STRING", "COMMENT", "SPACE"}) names.erase(hidden);
  return names;
}

}  // namespace wf::parse
