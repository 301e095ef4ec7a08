// The threads that torch waits with, if it is loaded and has such.
#pragma once
#include "kernel/pool.hpp"

namespace pozor {

Team torchs_team();  // to be called with Python's lock held

}  // namespace pozor
