#include "tool/report_body.h"

#include <string.h>

#define MAX_FAILURES 100u

void tsl_page_put_text(FILE *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            fputc(*text, out);
        }
}

static const char *member_name(const struct tsl_meters *m, unsigned member)
{
    return m->timeline->lanes[m->units[member].lane].member;
}

/* The member's id and device, as its lane is called. */
static const char *member_title(const struct tsl_meters *m, unsigned member)
{
    return m->timeline->lanes[m->units[member].lane].name;
}

static void put_seconds(FILE *out, uint64_t ns)
{
    double us = (double)ns / 1e3;

    if (us < 1e3)
        fprintf(out, "%.1f µs", us);
    else if (us < 1e6)
        fprintf(out, "%.2f ms", us / 1e3);
    else
        fprintf(out, "%.3f s", us / 1e6);
}

static void put_bytes(FILE *out, uint64_t bytes)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    unsigned u = 0;

    for (; value >= 1000 && u < 4; u++)
        value /= 1000;
    fprintf(out, u ? "%.1f %s" : "%.0f %s", value, units[u]);
}

static void put_percent(FILE *out, double share)
{
    fprintf(out, "%.1f %%", 100 * share);
}

/* ---- The head ---------------------------------------------------------------------------------------------------- */

static const char *program_name(const struct tsl_meters *m)
{
    return m->timeline->program[0] ? m->timeline->program : "A program";
}

void tsl_page_put_title(const struct tsl_page *page, FILE *out)
{
    tsl_page_put_text(out, program_name(page->meters));
    fputs(" on Tesela", out);
}

static void put_subtitle(const struct tsl_meters *m, const char *trace, FILE *out)
{
    fputs("<p class=\"sub\">", out);
    put_seconds(out, m->wall_ns);
    fprintf(out, " from the first operation to the end of the last; %zu launches, %zu of them cut", m->n_launches,
            m->n_cut);
    if (m->n_failed)
        fprintf(out, ", <b class=\"bad\">%zu failed</b>", m->n_failed);
    fputs(". From ", out);
    tsl_page_put_text(out, trace);
    if (m->timeline->unfinished)
        fputs(", which has no end: the program was killed, or still ran", out);
    if (m->timeline->n_damaged)
        fprintf(out, ", of which %u lines could not be read", m->timeline->n_damaged);
    fputs(".</p>\n", out);
}

static void put_gain_card(const struct tsl_meters *m, FILE *out)
{
    fputs("<div class=\"card\" id=\"gain\">", out);
    if (m->n_members < 2) {
        fputs("<b>one member</b>so there is nothing to compare with", out);
    } else if (m->best_alone == m->n_members) {
        fputs("<b>unknown</b>against the best member alone: no member ran all of the kernels", out);
    } else {
        fprintf(out, "<b>%.2f ×</b>as fast as the best member alone (",
                (double)m->alone_ns[m->best_alone] / (double)m->wall_ns);
        tsl_page_put_text(out, member_name(m, m->best_alone));
        fputs("), estimated", out);
    }
    fputs("</div>\n", out);
}

static void put_sum_card(const struct tsl_meters *m, FILE *out)
{
    if (!m->together_ns || m->n_members < 2)
        return;
    fputs("<div class=\"card\" id=\"sum\"><b>", out);
    put_percent(out, tsl_meters_share(m, m->together_ns));
    fputs("</b>of what all members together could do, estimated</div>\n", out);
}

static void put_bottleneck_card(const struct tsl_meters *m, FILE *out)
{
    char name[80];

    if (!m->n_units)
        return;
    tsl_meters_unit_name(m, m->bottleneck, name);
    fputs("<div class=\"card\" id=\"bottleneck\"><b>", out);
    put_percent(out, tsl_meters_share(m, m->units[m->bottleneck].busy_ns));
    fputs("</b>busy: the bottleneck, ", out);
    tsl_page_put_text(out, name);
    fputs("</div>\n", out);
}

static void put_overlap_card(const struct tsl_meters *m, FILE *out)
{
    if (!m->transfers_ns)
        return;
    fputs("<div class=\"card\" id=\"overlap\"><b>", out);
    put_percent(out, (double)m->hidden_ns / (double)m->transfers_ns);
    fputs("</b>of the time of transfers and copies, some member computed</div>\n", out);
}

static void put_estimates(const struct tsl_meters *m, FILE *out)
{
    fputs("<details id=\"estimates\"><summary>How the gain is estimated</summary>\n"
          "<p>From this run alone. A kernel's speed on a member is its work-items by its time there, over all of its "
          "launches and shares that ended well. <i>One member alone</i> takes the time in which no member computed "
          "here, less the moves from one member to another, and all work-items at that member's speeds. "
          "<i>All members together</i> take all work-items at the sum of their speeds, without moves or waiting. A "
          "member on which a kernel of weight (2 % of the time) never ran is not estimated. "
          "<code>tesela compare</code> measures what this page estimates.</p>\n<table><tr><th>member</th><th "
          "class=\"n\">the run on it alone</th></tr>\n",
          out);
    for (unsigned u = 0; u < m->n_members; u++) {
        fputs("<tr><td>", out);
        tsl_page_put_text(out, member_title(m, u));
        fputs("</td><td class=\"n\">", out);
        if (m->alone_ns[u])
            put_seconds(out, m->alone_ns[u]);
        else
            fputs("not known", out);
        fputs("</td></tr>\n", out);
    }
    fputs("</table></details>\n", out);
}

/* ---- Lanes ------------------------------------------------------------------------------------------------------- */

static void put_lane(const struct tsl_page *page, const struct tsl_page_lane *lane, FILE *out)
{
    static const char *const classes[] = {"lane band", "lane unit", "lane queue"};
    const char *title = lane->kind == TSL_PAGE_UNIT
                            ? page->meters->timeline->lanes[page->meters->units[lane->index].lane].name
                        : lane->kind == TSL_PAGE_QUEUE ? "a queue of the program: its commands as they were reported"
                                                       : "each launch that was cut: its shares, as high as their parts";

    fprintf(out, "<div class=\"%s\"><label title=\"", classes[lane->kind]);
    tsl_page_put_text(out, title);
    fputs("\">", out);
    tsl_page_put_text(out, lane->name);
    fputs("</label><canvas></canvas></div>\n", out);
}

static void put_timeline(const struct tsl_page *page, FILE *out)
{
    static const struct {
        const char *class, *words;
    } states[] = {{"busy", "busy"}, {"data", "waits for data"}, {"work", "waits for work"}, {"failed", "failed"}};
    const struct tsl_meters *m = page->meters;

    fputs("<h2>Timeline</h2>\n<div class=\"tools\"><span class=\"keys\">", out);
    for (unsigned i = 0; i < sizeof states / sizeof states[0]; i++)
        fprintf(out, "<span class=\"item\"><span class=\"key %s\"></span>%s</span>", states[i].class, states[i].words);
    for (unsigned u = 0; u < m->n_members && m->n_cut; u++) {
        fprintf(out, "<span class=\"item\"><span class=\"key\" style=\"background:var(--m%u)\"></span>", u % 8);
        tsl_page_put_text(out, member_name(m, u));
        fputs("</span>", out);
    }
    fputs("</span><span class=\"soft hint\">wheel: closer; drag: along</span><button id=\"closer\">+</button><button "
          "id=\"farther\">−</button><button id=\"all\">all</button></div>\n<div id=\"lanes\">\n",
          out);
    for (unsigned i = 0; i < page->n_lanes; i++)
        put_lane(page, &page->lanes[i], out);
    fputs("<div class=\"lane\" id=\"axis\" style=\"margin-top:2px\"><label></label><canvas></canvas></div>\n</div>\n",
          out);
    fputs("<p class=\"soft\">Where operations are too short to be seen alone, bars are as high as they fill the "
          "time.</p>\n",
          out);
    if (page->n_left_out)
        fprintf(out, "<p class=\"soft\">%u more queues are not shown.</p>\n", page->n_left_out);
    if (page->merge_ns) {
        fputs("<p class=\"soft\">There are so many operations that those shorter than ", out);
        put_seconds(out, page->merge_ns);
        fputs(" are drawn together with their neighbours.</p>\n", out);
    }
}

/* ---- Units ------------------------------------------------------------------------------------------------------- */

static void put_bar_part(FILE *out, const char *class, double share)
{
    fprintf(out, "<i class=\"%s\" style=\"width:%.2f%%\"></i>", class, 100 * share);
}

static void put_cell(FILE *out, bool some, double value, const char *form)
{
    fputs("<td class=\"n\">", out);
    if (some)
        fprintf(out, form, value);
    fputs("</td>", out);
}

static void put_unit(const struct tsl_meters *m, unsigned u, FILE *out)
{
    const struct tsl_unit *unit = &m->units[u];
    double busy = tsl_meters_share(m, unit->busy_ns), data = tsl_meters_share(m, unit->waits_ns);
    bool computes = unit->kind == TSL_UNIT_KERNELS, moves = !computes && unit->bytes;
    char name[80];

    tsl_meters_unit_name(m, u, name);
    fprintf(out, "<tr%s><td title=\"", unit->n_failed ? " class=\"bad\"" : "");
    tsl_page_put_text(out, m->timeline->lanes[unit->lane].name);
    fputs("\">", out);
    tsl_page_put_text(out, name);
    fputs("</td><td><div class=\"bar\">", out);
    put_bar_part(out, "busy", busy);
    put_bar_part(out, "data", data);
    fputs("</div></td>", out);
    put_cell(out, true, 100 * busy, "%.1f %%");
    put_cell(out, computes, 100 * data, "%.1f %%");
    put_cell(out, computes, 100 * (1 - busy - data), "%.1f %%");
    put_cell(out, true, (double)unit->n, "%.0f");
    fputs("<td class=\"n\">", out);
    if (moves)
        put_bytes(out, unit->bytes);
    fputs("</td>", out);
    put_cell(out, moves && unit->busy_ns, (double)unit->bytes / (double)(unit->busy_ns ? unit->busy_ns : 1), "%.2f");
    fprintf(out, "<td>%s%s</td></tr>\n", u == m->bottleneck ? "the bottleneck" : "",
            !unit->n_failed      ? ""
            : u == m->bottleneck ? ", with failures"
                                 : "with failures");
}

static void put_units(const struct tsl_meters *m, FILE *out)
{
    fputs("<h2>Units</h2>\n<div class=\"wide\"><table id=\"units\">\n<tr><th>unit</th><th>the run</th><th "
          "class=\"n\">busy</th><th "
          "class=\"n\">waits for data</th><th class=\"n\">waits for work</th><th class=\"n\">operations</th><th "
          "class=\"n\">bytes</th><th class=\"n\">GB/s</th><th></th></tr>\n",
          out);
    for (unsigned u = 0; u < m->n_units; u++)
        put_unit(m, u, out);
    fputs("</table></div>\n<p class=\"soft\">Waits for data: idle while bytes for its next kernel, or any bytes to it, "
          "were on their way. GB/s are of the time in which the link was busy.</p>\n",
          out);
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static void put_rungs(const struct tsl_kernel_row *row, FILE *out)
{
    static const char *const names[] = {
        [TSL_RUNG_NONE] = "not told", [TSL_RUNG_WHOLE] = "whole", [TSL_RUNG_EXACT] = "exact",
        [TSL_RUNG_DOMAIN] = "domain", [TSL_RUNG_MERGE] = "merge", [TSL_RUNG_REDUCE] = "reduce",
        [TSL_RUNG_OTHER] = "another"};
    const char *between = "";

    for (int r = TSL_RUNG_OTHER; r >= TSL_RUNG_NONE; r--)
        if (row->n_rungs[r]) {
            fprintf(out, "%s%s %zu", between, names[r], row->n_rungs[r]);
            between = "<br>";
        }
}

static double part_of(const struct tsl_meters *m, const struct tsl_kernel_row *row, unsigned member)
{
    double all = 0;

    for (unsigned u = 0; u < m->n_members; u++)
        all += (double)row->uses[u].items;
    if (all > 0)
        return (double)row->uses[member].items / all;
    return row->busy_ns ? (double)row->uses[member].busy_ns / (double)row->busy_ns : 0;
}

static void put_parts(const struct tsl_meters *m, const struct tsl_kernel_row *row, FILE *out)
{
    const char *between = "";

    fputs("<div class=\"bar\" style=\"width:160px\">", out);
    for (unsigned u = 0; u < m->n_members; u++)
        fprintf(out, "<i style=\"width:%.2f%%;background:var(--m%u)\"></i>", 100 * part_of(m, row, u), u % 8);
    fputs("</div>", out);
    for (unsigned u = 0; u < m->n_members; u++)
        if (row->uses[u].busy_ns && part_of(m, row, u) > 0) {
            fputs(between, out);
            tsl_page_put_text(out, member_name(m, u));
            fprintf(out, " %.1f %%", 100 * part_of(m, row, u));
            between = ", ";
        }
}

static void put_expected(const struct tsl_kernel_row *row, FILE *out)
{
    if (!row->expected_ns) {
        fputs("not told", out);
        return;
    }
    put_seconds(out, row->expected_ns);
    fputs(" / ", out);
    put_seconds(out, row->expected_real_ns);
    fprintf(out, "<br>%+.0f %%", 100 * ((double)row->expected_real_ns / (double)row->expected_ns - 1));
}

static void put_whys(const struct tsl_meters *m, const struct tsl_kernel_row *row, FILE *out)
{
    for (unsigned i = 0; i < row->n_whys; i++) {
        fputs(i ? "<br>" : "", out);
        tsl_page_put_text(out, tsl_timeline_why(m->timeline, row->name, row->whys[i].text));
        fprintf(out, " <span class=\"soft\">(%zu)</span>", row->whys[i].n);
    }
}

/* Launches that ran another implementation. */
static void put_variants(const struct tsl_meters *m, const struct tsl_kernel_row *row, FILE *out)
{
    for (unsigned i = 0; i < row->n_variants; i++) {
        fputs("<br><span class=\"soft\">variant ", out);
        tsl_page_put_text(out, tsl_timeline_text(m->timeline, row->variants[i].text));
        fprintf(out, " %zu</span>", row->variants[i].n);
    }
}

static void put_kernel(const struct tsl_meters *m, const struct tsl_kernel_row *row, FILE *out)
{
    fputs(row->n_failed ? "<tr class=\"bad\"><td>" : "<tr><td>", out);
    tsl_page_put_text(out, tsl_timeline_text(m->timeline, row->name));
    put_variants(m, row, out);
    fprintf(out, "</td><td class=\"n\">%zu", row->n_launches);
    if (row->n_failed)
        fprintf(out, "<br>%zu failed", row->n_failed);
    fputs("</td><td class=\"n\">", out);
    put_seconds(out, row->busy_ns);
    fputs("</td><td>", out);
    put_rungs(row, out);
    fputs("</td><td>", out);
    put_parts(m, row, out);
    fputs("</td><td class=\"n\">", out);
    put_expected(row, out);
    fputs("</td><td>", out);
    put_whys(m, row, out);
    fputs("</td></tr>\n", out);
}

static void put_kernels(const struct tsl_meters *m, FILE *out)
{
    if (!m->n_kernels)
        return;
    fputs("<h2>Kernels</h2>\n<div class=\"wide\"><table id=\"kernels\">\n<tr><th>kernel</th><th "
          "class=\"n\">launches</th><th "
          "class=\"n\">time, all members</th><th>rung</th><th>shares of the work</th><th class=\"n\">expected / "
          "took</th><th>why not more</th></tr>\n",
          out);
    for (unsigned k = 0; k < m->n_kernels; k++)
        put_kernel(m, &m->kernels[k], out);
    fputs("</table></div>\n<p class=\"soft\">Rung, of launches that were cut: shares of <i>exact</i> ones write "
          "different bytes; those of <i>domain</i> share what they write; those of <i>merge</i> and <i>reduce</i> "
          "write copies, which become one. Expected: by the kernel's earlier runs, where there were any.</p>\n",
          out);
}

/* ---- Failures ---------------------------------------------------------------------------------------------------- */

const char *tsl_page_error_name(int error, char text[24])
{
    static const struct {
        int error;
        const char *name;
    } names[] = {
        {-2, "CL_DEVICE_NOT_AVAILABLE"},
        {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
        {-5, "CL_OUT_OF_RESOURCES"},
        {-6, "CL_OUT_OF_HOST_MEMORY"},
        {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
        {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
        {-48, "CL_INVALID_KERNEL"},
        {-52, "CL_INVALID_KERNEL_ARGS"},
        {-54, "CL_INVALID_WORK_GROUP_SIZE"},
        {-59, "CL_INVALID_OPERATION"},
    };

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].error == error)
            return names[i].name;
    snprintf(text, 24, "error %d", error);
    return text;
}

/* The second try of a share that failed with its member; NULL: there was none. */
static const struct tsl_tl_span *again_of(const struct tsl_timeline *t, const struct tsl_tl_span *failed)
{
    for (const struct tsl_tl_span *span = failed->shares > 1 ? failed + 1 : t->spans + t->n_spans;
         span < t->spans + t->n_spans; span++)
        if (span->again && span->command == failed->command && span->share == failed->share)
            return span;
    return NULL;
}

static void put_failure(const struct tsl_timeline *t, const struct tsl_tl_span *span, FILE *out)
{
    const struct tsl_tl_span *again = again_of(t, span);
    char error[24];

    fputs("<tr><td class=\"n\">", out);
    put_seconds(out, span->start_ns);
    fprintf(out, "</td><td class=\"n\">%u</td><td>", span->command);
    tsl_page_put_text(out, tsl_timeline_text(t, span->name));
    fputs("</td><td>", out);
    tsl_page_put_text(out, t->lanes[span->lane].name);
    fprintf(out, "</td><td>%s", tsl_page_error_name(span->error, error));
    if (again) {
        fputs("; done again on ", out);
        tsl_page_put_text(out, t->lanes[again->lane].name);
    }
    fputs("</td></tr>\n", out);
}

static void put_failures(const struct tsl_meters *m, FILE *out)
{
    const struct tsl_timeline *t = m->timeline;
    size_t all = 0, n = 0;

    for (size_t i = 0; i < t->n_spans; i++)
        all += t->spans[i].error != 0;
    if (!all)
        return;
    fputs("<h2 class=\"bad\">Failures</h2>\n<table id=\"failures\" class=\"bad\">\n<tr><th class=\"n\">at</th><th "
          "class=\"n\">command</th><th>what</th><th>where</th><th>error</th></tr>\n",
          out);
    for (size_t i = 0; i < t->n_spans && n < MAX_FAILURES; i++)
        if (t->spans[i].error) {
            put_failure(t, &t->spans[i], out);
            n++;
        }
    fputs("</table>\n", out);
    if (all > n)
        fprintf(out, "<p class=\"bad\">... and %zu more.</p>\n", all - n);
}

void tsl_page_put_body(const struct tsl_page *page, const char *trace, FILE *out)
{
    const struct tsl_meters *m = page->meters;

    fputs("<h1>", out);
    tsl_page_put_title(page, out);
    fputs("</h1>\n", out);
    put_subtitle(m, trace, out);
    fputs("<div class=\"cards\">\n", out);
    put_gain_card(m, out);
    put_sum_card(m, out);
    put_bottleneck_card(m, out);
    put_overlap_card(m, out);
    fputs("</div>\n", out);
    if (m->n_members > 1)
        put_estimates(m, out);
    put_failures(m, out);
    put_timeline(page, out);
    put_units(m, out);
    put_kernels(m, out);
}
