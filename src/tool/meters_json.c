#include "tool/meters.h"

#include <math.h>

static void add_share(cJSON *object, const char *key, double share)
{
    cJSON_AddNumberToObject(object, key, round(share * 1e5) / 1e5);
}

static void add_seconds(cJSON *object, const char *key, uint64_t ns)
{
    cJSON_AddNumberToObject(object, key, (double)ns / 1e9);
}

static cJSON *unit_json(const struct tsl_meters *m, unsigned u)
{
    static const char *const kinds[] = {[TSL_UNIT_KERNELS] = "kernels",
                                        [TSL_UNIT_TO] = "to",
                                        [TSL_UNIT_FROM] = "from",
                                        [TSL_UNIT_TASKS] = "host tasks",
                                        [TSL_UNIT_COPIES] = "host copies"};
    const struct tsl_unit *unit = &m->units[u];
    const char *member = m->timeline->lanes[unit->lane].member;
    cJSON *object = cJSON_CreateObject();
    char name[80];

    tsl_meters_unit_name(m, u, name);
    cJSON_AddStringToObject(object, "unit", name);
    cJSON_AddStringToObject(object, "kind", kinds[unit->kind]);
    cJSON_AddStringToObject(object, "member", member ? member : "");
    cJSON_AddNumberToObject(object, "operations", (double)unit->n);
    add_seconds(object, "busy_s", unit->busy_ns);
    add_share(object, "busy", tsl_meters_share(m, unit->busy_ns));
    if (unit->kind == TSL_UNIT_KERNELS) {
        add_share(object, "waits_for_data", tsl_meters_share(m, unit->waits_ns));
        add_share(object, "waits_for_work", tsl_meters_share(m, m->wall_ns - unit->busy_ns - unit->waits_ns));
    } else {
        cJSON_AddNumberToObject(object, "bytes", (double)unit->bytes);
        cJSON_AddNumberToObject(object, "bytes_per_s",
                                unit->busy_ns ? (double)unit->bytes * 1e9 / (double)unit->busy_ns : 0);
    }
    if (unit->n_failed)
        cJSON_AddNumberToObject(object, "failed", unit->n_failed);
    return object;
}

static void add_shares(const struct tsl_meters *m, const struct tsl_kernel_row *row, cJSON *object)
{
    cJSON *shares = cJSON_AddObjectToObject(object, "shares");
    double all = 0;

    for (unsigned u = 0; u < m->n_members; u++)
        all += (double)row->uses[u].items;
    for (unsigned u = 0; u < m->n_members; u++)
        if (row->uses[u].busy_ns)
            add_share(shares, m->timeline->lanes[m->units[u].lane].member,
                      all > 0 ? (double)row->uses[u].items / all : (double)row->uses[u].busy_ns / (double)row->busy_ns);
}

static cJSON *kernel_json(const struct tsl_meters *m, const struct tsl_kernel_row *row)
{
    cJSON *object = cJSON_CreateObject(), *whys;

    cJSON_AddStringToObject(object, "kernel", tsl_timeline_text(m->timeline, row->name));
    cJSON_AddNumberToObject(object, "launches", (double)row->n_launches);
    cJSON_AddNumberToObject(object, "cut", (double)row->n_cut);
    add_seconds(object, "busy_s", row->busy_ns);
    add_shares(m, row, object);
    if (row->expected_ns) {
        add_seconds(object, "expected_s", row->expected_ns);
        add_seconds(object, "expected_took_s", row->expected_real_ns);
    }
    if (row->n_variants) {
        cJSON *variants = cJSON_AddObjectToObject(object, "variants");

        for (unsigned i = 0; i < row->n_variants; i++)
            cJSON_AddNumberToObject(variants, tsl_timeline_text(m->timeline, row->variants[i].text),
                                    (double)row->variants[i].n);
    }
    whys = cJSON_AddArrayToObject(object, "why");
    for (unsigned i = 0; i < row->n_whys; i++) {
        cJSON *why = cJSON_CreateObject();

        cJSON_AddStringToObject(why, "reason", tsl_timeline_text(m->timeline, row->whys[i].text));
        cJSON_AddNumberToObject(why, "launches", (double)row->whys[i].n);
        cJSON_AddStringToObject(why, "sentence", tsl_timeline_why(m->timeline, row->name, row->whys[i].text));
        cJSON_AddItemToArray(whys, why);
    }
    if (row->n_failed)
        cJSON_AddNumberToObject(object, "failed", (double)row->n_failed);
    return object;
}

static void add_overlap(const struct tsl_meters *m, cJSON *object)
{
    double sum_ns = 0;

    for (unsigned u = 0; u < m->n_units; u++)
        sum_ns += (double)m->units[u].busy_ns;
    add_share(object, "some_unit_busy", tsl_meters_share(m, m->any_ns));
    add_share(object, "several_units_busy", tsl_meters_share(m, m->both_ns));
    cJSON_AddNumberToObject(object, "mean_units_busy", m->any_ns ? sum_ns / (double)m->any_ns : 0);
    add_share(object, "transfers_hidden", m->transfers_ns ? (double)m->hidden_ns / (double)m->transfers_ns : 0);
}

static void add_gain(const struct tsl_meters *m, cJSON *object)
{
    cJSON *alone = cJSON_AddObjectToObject(object, "alone_s");

    for (unsigned u = 0; u < m->n_members; u++)
        if (m->alone_ns[u])
            add_seconds(alone, m->timeline->lanes[m->units[u].lane].member, m->alone_ns[u]);
    if (m->best_alone < m->n_members && m->wall_ns)
        cJSON_AddNumberToObject(object, "gain", (double)m->alone_ns[m->best_alone] / (double)m->wall_ns);
    if (m->together_ns)
        add_share(object, "of_all_together", tsl_meters_share(m, m->together_ns));
}

cJSON *tsl_meters_json(const struct tsl_meters *meters)
{
    cJSON *object = cJSON_CreateObject(), *array;
    char name[80] = "";

    cJSON_AddStringToObject(object, "program", meters->timeline->program);
    add_seconds(object, "wall_s", meters->wall_ns);
    cJSON_AddNumberToObject(object, "launches", (double)meters->n_launches);
    cJSON_AddNumberToObject(object, "cut", (double)meters->n_cut);
    cJSON_AddNumberToObject(object, "failed", (double)meters->n_failed);
    array = cJSON_AddArrayToObject(object, "units");
    for (unsigned u = 0; u < meters->n_units; u++)
        cJSON_AddItemToArray(array, unit_json(meters, u));
    if (meters->n_units)
        tsl_meters_unit_name(meters, meters->bottleneck, name);
    cJSON_AddStringToObject(object, "bottleneck", name);
    add_overlap(meters, object);
    add_gain(meters, object);
    array = cJSON_AddArrayToObject(object, "kernels");
    for (unsigned k = 0; k < meters->n_kernels; k++)
        cJSON_AddItemToArray(array, kernel_json(meters, &meters->kernels[k]));
    return object;
}
