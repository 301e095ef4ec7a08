// Which of the compiled instruction sets this machine runs.
#pragma once
#include <string>
#include <vector>

#include "kernel/problem.hpp"

namespace pozor {

const std::vector<std::string>& runnable();    // fastest first; the last is "portable"
const Isa* find_isa(const std::string& name);  // null if it is not compiled in or not runnable
const Isa& default_isa();

}  // namespace pozor
