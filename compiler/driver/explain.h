#pragma once

#include <span>
#include <string>
#include <string_view>

#include "compiler/diag/codes.h"

namespace wf::driver {

// The page of docs/errors about one code, built into wfc.
struct ErrorPage {
  int number;
  std::string_view text;
};
std::span<const ErrorPage> ErrorPages();  // sorted by number

// "WF3001", "wf3001" or "3001" to 3001; 0 for anything else.
int ParseCode(std::string_view text);

std::string ErrorPageOf(diag::Code code);  // empty: it has none

// What an answer of a server means by "7004"; empty: none carries it. `exact`: only what stands in the table, and no code that the range of
// a class covers, as 7321.
std::string AnswerOf(std::string_view digits, bool exact);

std::string ListOfCodes();  // one line for each code that exists

}  // namespace wf::driver
