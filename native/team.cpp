// torch's threads stay awake on their cores for some milliseconds after each operator: a pool beside them would wait for
// those cores. They are reached through the OpenMP runtime that torch itself is bound to, never a second one.
#include "team.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>

#include <string>

namespace pozor {
namespace {

int threads_here() {
    int count = 0;
    if (DIR* tasks = opendir("/proc/self/task")) {
        while (const dirent* entry = readdir(tasks)) count += entry->d_name[0] != '.';
        closedir(tasks);
    }
    return count;
}

constexpr char kTorch[] = "libtorch_cpu.so";

Team look() {
    std::string path;
    dl_iterate_phdr(
        [](dl_phdr_info* library, size_t, void* found) {
            const std::string name = library->dlpi_name;
            if (name.size() < sizeof kTorch || name.compare(name.size() + 1 - sizeof kTorch, sizeof kTorch - 1, kTorch) != 0)
                return 0;
            *static_cast<std::string*>(found) = name;
            return 1;
        },
        &path);
    if (path.empty()) return {};
    void* torch = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (torch == nullptr) return {};
    Team team;
    // looked up as torch's own code is bound: in its dependencies
    team.run = reinterpret_cast<decltype(team.run)>(dlsym(torch, "GOMP_parallel"));
    team.size = reinterpret_cast<decltype(team.size)>(dlsym(torch, "omp_get_max_threads"));
    dlclose(torch);
    return team.run != nullptr && team.size != nullptr ? team : Team{};
}

}  // namespace

// A child of a process that used the team would wait for threads that it does not have. A fork after this module was
// loaded is noticed by the pool; one before it by the missing threads.
Team torchs_team() {
    static Team team;
    if (team.run == nullptr && threads_here() > 1 + pool_size()) team = look();
    return team;
}

}  // namespace pozor
