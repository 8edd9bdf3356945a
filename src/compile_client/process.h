/*
 * Starts a program from within the application's process, so that the application doesn't notice.
 */
#ifndef TSL_COMPILE_CLIENT_PROCESS_H
#define TSL_COMPILE_CLIENT_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* The child's descriptor of its end of the socket. */
#define TSL_SPAWN_SOCKET 3

struct tsl_spawned {
    pid_t process;
    int handle; /* pidfd; -1 where the kernel has none */
};

/*
 * Runs the program with these arguments (the first is its name, NULL ends them). It has a session of its own (no
 * signals of our terminal), / as its folder, no environment, /dev/null as standard streams, `socket` as descriptor
 * TSL_SPAWN_SOCKET and no other; signals as a new program expects them. It is no child of this process, so that the
 * application's SIGCHLD handler and waitpid(-1) never see it; the socket tells when it has ended. False with errno:
 * starting programs may be forbidden here (EPERM, EACCES, EAGAIN …).
 */
bool tsl_spawn(const char *path, char *const *arguments, int socket, struct tsl_spawned *spawned);

/* The program of one of these names, which begin with /, relative to the library's own folder; the first that may be
 * run. False, and path "": there is none, or the process has raised rights; false, and a path: that file may not be run
 * (its rights, or those of its mount). path has PATH_MAX bytes. */
bool tsl_spawn_find(const char *const *names, unsigned n, char *path);

/* Kills the program if it still runs. */
void tsl_spawn_end(struct tsl_spawned *spawned);

#endif
