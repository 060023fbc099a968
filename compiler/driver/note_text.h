#pragma once

#include <string>
#include <string_view>

namespace wf::driver {

// What a server's note says, for people: its origin, what it serves, the models that it wants. Members that are lacking are left out.
std::string NoteText(std::string_view note);

}  // namespace wf::driver
