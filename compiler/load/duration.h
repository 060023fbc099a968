#pragma once

#include <string>

namespace wf::load {

std::string Duration(double ns);  // with the digits that mean something: "850 ns", "12.3 us", "4.00 s"

}  // namespace wf::load
