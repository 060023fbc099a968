#include "compiler/parse/tokens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/parse/words.h"
#include "tests/unit/support/source_path.h"

namespace wf::parse {
namespace {

// One token as its type and its bytes.
struct Seen {
  size_t type, begin, end;
  bool operator==(const Seen&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Seen& seen) { return out << seen.type << " at " << seen.begin << " to " << seen.end; }

// What the grammar alone makes of a text: its comments among the other tokens, spaces left out.
std::vector<Seen> ByGrammar(std::string_view bytes) {
  ByteStream stream(bytes, 0);
  grammar::WfLexer lexer(&stream);
  lexer.removeErrorListeners();
  std::vector<Seen> seen;
  for (const std::unique_ptr<Token>& token : lexer.getAllTokens()) {
    seen.push_back({token->getType(), token->getStartIndex(), token->getStopIndex() + 1});
  }
  return seen;
}

std::vector<Seen> ByReader(std::string_view bytes) {
  const Text text{source::FileId{0}, bytes, 0};
  ByteStream stream(bytes, 0);
  grammar::WfLexer lexer(&stream);
  lexer.removeErrorListeners();
  diag::Emitter emitter;
  const std::optional<TokenList> tokens = ReadTokens(text, lexer, emitter);
  std::vector<Seen> seen;
  if (!tokens) return seen;
  for (const Token* token : tokens->all) {
    if (token->getType() != Token::EOF) seen.push_back({token->getType(), token->getStartIndex(), token->getStopIndex() + 1});
  }
  for (const ast::Comment& comment : tokens->comments) {
    EXPECT_EQ(comment.text, bytes.substr(comment.span.begin, comment.span.end - comment.span.begin));
    seen.push_back({T::COMMENT, comment.span.begin, comment.span.end});
  }
  std::sort(seen.begin(), seen.end(), [](const Seen& a, const Seen& b) { return a.begin < b.begin; });
  return seen;
}

TEST(ReadTokens, TakesSpacesAndCommentsAsTheGrammarDoes) {
  for (const std::string_view bytes :
       {"", " ", "// only", "//", "//\n", "//\n//\n", " // a\r\n\t// b\r\nconst a = 1; // c", "a/b", "a//b\nc", "a / / b", "\"//\" // x",
        "r\"//\"//", "a // \xC3\xA9 \xE2\x82\xAC\nb", "///doc\nfn", "\r\n\r\n \t", "1//2", "/", "a /", "=>//\n->"}) {
    EXPECT_EQ(ByReader(bytes), ByGrammar(bytes)) << bytes;
  }
}

TEST(ReadTokens, TakesWordsAsTheGrammarDoes) {
  std::string keywords;
  for (const std::string& word : Keywords()) keywords += word + " " + word + "s _" + word + " " + word + "1 1" + word + " ";
  for (const std::string_view bytes :
       std::initializer_list<std::string_view>{keywords, "r r1 r\"a\" rr\"b\" R\"c\" r \"e\" r", "_ __ a_1 A9z 0x1F 2ms 1e5 1e 3.a x.y",
                                               "name", "fn", "r", "a//b", "x=>y??z|>w||v"}) {
    EXPECT_EQ(ByReader(bytes), ByGrammar(bytes)) << bytes;
  }
}

TEST(ReadTokens, ReadsTheLibraryAndTheExamplesAsTheGrammarDoes) {
  size_t comments = 0;
  for (const char* folder : {"stdlib", "examples", "tests/lang/parse"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(SourcePath(folder))) {
      const std::string name = entry.path().filename().string();
      if (!name.ends_with(".wf") || name.starts_with("fail_")) continue;  // mistakes are read as what is meant
      std::ifstream file(entry.path());
      std::stringstream text;
      text << file.rdbuf();
      const std::vector<Seen> seen = ByReader(text.str());
      EXPECT_EQ(seen, ByGrammar(text.str())) << entry.path();
      comments += static_cast<size_t>(std::count_if(seen.begin(), seen.end(), [](const Seen& one) { return one.type == T::COMMENT; }));
    }
  }
  EXPECT_GT(comments, 100u);
}

}  // namespace
}  // namespace wf::parse
