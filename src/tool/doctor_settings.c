/* Variables whose names look like settings and are none: nobody reads them, so a misspelt one is never complained of.
 */
#include "tool/findings.h"

#include "base/settings.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PREFIX  "TESELA_"
#define LONGEST 64u
#define CLOSE   2u /* so many letters may be wrong, lacking or too many */

/* Settings of the tool and of nodes, which the library doesn't read (docs/user/settings.md). */
static const char *const others[] = {"TESELA_MPI", "TESELA_NODES_START", "TESELA_NODES_SILENCE", "TESELA_NODE_MEMBERS"};

/* A name, and the setting that it is most like. */
struct search {
    const char *name; /* without what follows size */
    size_t size;
    const char *like; /* NULL: none is like it */
    unsigned distance;
};

static unsigned least(unsigned a, unsigned b, unsigned c)
{
    unsigned ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* How many letters must be changed, added or taken away to make one of the other. */
static unsigned distance_of(const char *a, size_t n, const char *b)
{
    unsigned row[LONGEST + 1];
    size_t m = strlen(b);

    if (n > LONGEST || m > LONGEST)
        return LONGEST;
    for (unsigned j = 0; j <= m; j++)
        row[j] = j;
    for (unsigned i = 1; i <= n; i++) {
        unsigned corner = row[0];

        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            unsigned above = row[j];

            row[j] = least(above + 1, row[j - 1] + 1, corner + (a[i - 1] != b[j - 1]));
            corner = above;
        }
    }
    return row[m];
}

static void look(const char *name, const char *value, void *data)
{
    struct search *search = data;
    unsigned distance = distance_of(search->name, search->size, name);

    (void)value;
    if (distance < search->distance) {
        search->distance = distance;
        search->like = name;
    }
}

void tsl_check_settings(struct tsl_findings *f)
{
    for (char **variable = environ; *variable; variable++) {
        struct search search = {*variable, strcspn(*variable, "="), NULL, CLOSE + 1};
        char remedy[LONGEST + 32] = "`tesela info' lists the settings";

        if (strncmp(*variable, PREFIX, strlen(PREFIX)) != 0)
            continue;
        tsl_settings_each(tsl_settings(), look, &search);
        for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
            look(others[i], "", &search);
        if (search.distance == 0)
            continue;
        if (search.like)
            snprintf(remedy, sizeof remedy, "Perhaps %s is meant", search.like);
        tsl_finding_hint(f, remedy, "%.*s is no setting of Tesela's, so nobody reads it", (int)search.size, *variable);
    }
}
