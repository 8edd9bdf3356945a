/* printf of kernels: text is gathered with its launch and shown when that completes. */
#include "cpu_device/launch.h"
#include "cpu_device/operations.h"

#include <locale.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* More than this of one launch is shown before it completes. */
#define MAX_TEXT (1u << 20)

static bool make_room_locked(struct cpu_launch *launch, size_t more)
{
    size_t room = launch->text_room ? launch->text_room : 1024;
    char *text;

    while (room < launch->text_size + more + 1)
        room *= 2;
    if (room == launch->text_room)
        return true;
    text = realloc(launch->text, room);
    if (!text)
        return false;
    launch->text = text;
    launch->text_room = room;
    return true;
}

/* Writes to the application's standard output, in order with what the application printed. */
static void show_locked(struct cpu_launch *launch)
{
    if (launch->text_size)
        fwrite(launch->text, 1, launch->text_size, stdout);
    fflush(stdout);
    launch->text_size = 0;
}

/* Kernels' numbers look the same whatever the application's language: no decimal commas. */
static locale_t plain;

static void make_plain(void)
{
    plain = newlocale(LC_ALL_MASK, "C", NULL); /* there always; NULL: no memory */
}

/* As vsnprintf. */
static int format_plainly(char *to, size_t size, const char *format, va_list args)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    locale_t before;
    int length;

    pthread_once(&once, make_plain);
    before = plain ? uselocale(plain) : NULL;
    length = vsnprintf(to, size, format, args);
    if (before)
        uselocale(before);
    return length;
}

int cpu_print(const struct tsl_wg_launch *wg, const struct tsl_wg_thread *thread, const char *format, ...)
{
    struct cpu_launch *launch = wg->user;
    int length, result = -1;
    va_list args;

    (void)thread;
    va_start(args, format);
    length = format_plainly(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        return -1;
    pthread_mutex_lock(&launch->print_lock);
    if (launch->text_size > MAX_TEXT)
        show_locked(launch);
    if (make_room_locked(launch, (size_t)length)) {
        va_start(args, format);
        format_plainly(launch->text + launch->text_size, (size_t)length + 1, format, args);
        va_end(args);
        launch->text_size += (size_t)length;
        result = 0;
    }
    pthread_mutex_unlock(&launch->print_lock);
    return result;
}

void cpu_print_flush(struct cpu_launch *launch)
{
    pthread_mutex_lock(&launch->print_lock);
    if (launch->text_size)
        show_locked(launch);
    pthread_mutex_unlock(&launch->print_lock);
}
