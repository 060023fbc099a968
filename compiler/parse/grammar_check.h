#pragma once

#include <set>
#include <string>
#include <vector>

namespace wf::parse {

// For tests of the grammar itself.

// What ANTLR's diagnostic listener says about `text`: ambiguities and fallbacks to full context. Empty for a sound grammar.
std::vector<std::string> PredictionConflicts(const std::string& text);

// Names of the rules and of the tokens that stand in the parse tree of `text`.
std::set<std::string> ConstructsOf(const std::string& text);
std::set<std::string> AllConstructs();

}  // namespace wf::parse
