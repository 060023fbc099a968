#include "compiler/lsp/reach.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <iterator>

#include "compiler/parse/words.h"

namespace wf::lsp {
namespace {

using Words = std::vector<std::string>;

bool IsIn(const Words& words, std::string_view word) { return std::find(words.begin(), words.end(), word) != words.end(); }
bool IsOneOf(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Keywords among them stand in no place where names are looked for, but for these.
bool IsName(std::string_view word) {
  const bool shaped = !word.empty() && word != "_" && (std::isalpha(static_cast<unsigned char>(word[0])) != 0 || word[0] == '_');
  return shaped && !IsOneOf(word, {"true", "false", "none"});
}

bool BeginsStatement(std::string_view word) {
  static const Words kStarters = parse::Starters(parse::kDeclarations | parse::kStatements);
  return IsIn(kStarters, word);
}

char OpenerOf(std::string_view closer) { return closer == ")" ? '(' : closer == "]" ? '[' : '{'; }

// Those that the parts between commas begin with. `labels`: where a type or another name follows, alone.
Words FirstNames(const Words& words, bool labels) {
  Words names;
  for (size_t at = 0; at < words.size(); ++at) {
    const bool first = at == 0 || words[at - 1] == ",";
    const bool labelled = at + 1 < words.size() && IsOneOf(words[at + 1], {":", "as"});
    if (first && IsName(words[at]) && (!labels || labelled)) names.push_back(words[at]);
  }
  return names;
}

// Of `for a, b in` and `fold a =`, before their block.
Words NamesOfLoop(const Words& words) {
  Words names;
  for (auto word = words.begin(); word != words.end(); ++word) {
    if (*word == "fold" && word + 1 != words.end()) names.push_back(*(word + 1));
    if (*word != "for") continue;
    for (++word; word != words.end() && *word != "in"; ++word) {
      if (IsName(*word)) names.push_back(*word);
    }
    if (word == words.end()) break;
  }
  return names;
}

// Takes away the word that a block belongs to, once that has ended: the names of its loop are none of the next block's.
void ForgetOpener(Words& words) {
  const auto last =
      std::find_if(words.rbegin(), words.rend(), [](const std::string& word) { return IsOneOf(word, {"if", "else", "match", "for"}); });
  if (last == words.rend()) return;
  const bool loop = *last == "for";
  words.erase(std::prev(last.base()));
  const auto fold = loop ? std::find(words.rbegin(), words.rend(), "fold") : words.rend();
  if (fold != words.rend()) words.erase(std::prev(fold.base()));
}

void Append(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

}  // namespace

void Reach::Read(std::string_view token) {
  const bool after_block = !top().words.empty() && top().words.back() == "}";
  if (after_block && BeginsStatement(token)) EndStatement();  // no `;` follows a block
  if (IsOneOf(token, {"(", "[", "{"})) return Open(token);
  if (IsOneOf(token, {")", "]", "}"})) return Close(token);
  if (token == ";") return EndStatement();
  if (token == ",") top().of_value.clear();
  if (token == "if" && top().opener == '[') Append(top().of_value, NamesOfLoop(top().words));  // `[x for x in xs if ..`
  if (token == "=>" && !top().words.empty()) {
    const std::string& before = top().words.back();
    top().of_value = before == "]" ? top().in_brackets : IsName(before) ? Words{before} : Words();
  }
  top().words.emplace_back(token);
}

std::vector<std::string> Reach::Names() const {
  Words names;
  for (const Frame& frame : frames_) {
    for (const Words* some : {&frame.declared, &frame.of_statement, &frame.of_value}) Append(names, *some);
  }
  return names;
}

void Reach::Open(std::string_view opener) {
  Frame inner;
  inner.opener = opener[0];
  if (opener == "{") inner.declared = NamesOfLoop(top().words);
  if (opener == "(" && !top().words.empty() && top().words.back() == "]") inner.declared = top().in_brackets;  // of a reducer
  frames_.push_back(std::move(inner));
}

void Reach::Close(std::string_view closer) {
  const char opener = OpenerOf(closer);
  while (frames_.size() > 1 && top().opener != opener && (closer == "}" || top().opener != '{')) frames_.pop_back();
  if (top().opener != opener) return;  // it closes nothing
  const Frame inner = std::move(top());
  frames_.pop_back();
  const std::string head = top().words.empty() ? "" : top().words.front();
  if (closer == "]") {
    top().in_brackets = FirstNames(inner.words, false);
    Append(top().dims, FirstNames(inner.words, false));
  } else if (closer == ")" && IsOneOf(head, {"fn", "workflow", "stub"}) && !IsIn(top().words, ")")) {
    top().of_statement = FirstNames(inner.words, true);
    Append(top().of_statement, inner.dims);
  } else if (closer == "}" && head == "stage") {
    Append(top().declared, inner.declared);
  }
  if (closer == "}") ForgetOpener(top().words);
  top().words.emplace_back(closer);
}

void Reach::EndStatement() {
  Frame& frame = top();
  if (frame.words.size() > 1 && IsOneOf(frame.words.front(), {"let", "node"})) frame.declared.push_back(frame.words[1]);
  for (Words* some : {&frame.of_statement, &frame.of_value, &frame.words, &frame.in_brackets, &frame.dims}) some->clear();
}

}  // namespace wf::lsp
