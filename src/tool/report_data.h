/*
 * What the page of `tesela report` draws: lanes, and their spans in few bytes (report_page.html reads them).
 *
 * The bytes are varints (seven bits each, the lowest first, the eighth bit: more follow), lane after lane:
 * - a lane of spans: their number; of each flags, its start after the one before, its length, and by the flags more:
 *   bits 0 and 1 what it is (0 work, 1 waiting for data, 2 failed), 4 another name than the one before follows, 8 the
 *   difference of the commands' numbers (zigzag), 16 its bytes, 32 of how many spans it is made and how long these
 *   are together;
 * - the lane of cut launches: their number; of each its start after the one before, name, difference of commands,
 * number of shares, and of each share the member, its part in ten-thousandths, its start in the launch, its length, and
 * 1 if it failed. Times are in ticks.
 */
#ifndef TSL_TOOL_REPORT_DATA_H
#define TSL_TOOL_REPORT_DATA_H

#include "tool/meters.h"

#include <stdio.h>

/* One lane of the page. */
struct tsl_page_lane {
    enum { TSL_PAGE_BANDS, TSL_PAGE_UNIT, TSL_PAGE_QUEUE } kind;
    unsigned index; /* of the meters' units; of the timeline's lanes */
    char name[80];
};

struct tsl_page {
    const struct tsl_meters *meters;
    struct tsl_page_lane *lanes; /* heap; in their order from top to bottom */
    unsigned n_lanes;
    unsigned n_left_out; /* queues for which there is no room */
    uint64_t tick_ns;    /* the unit of times */
    uint64_t merge_ns;   /* neighbours closer than this are one; 0: none are */
};

/* False without memory; there is nothing to finish then. The meters must outlive the page. */
bool tsl_page_make(struct tsl_page *page, const struct tsl_meters *meters);
void tsl_page_finish(struct tsl_page *page);

/* JSON with what belongs to all: the run's length, names, members, lanes. Safe inside of a script element. */
bool tsl_page_put_meta(const struct tsl_page *page, FILE *out);

/* The bytes, as base64. */
bool tsl_page_put_data(const struct tsl_page *page, FILE *out);

#endif
