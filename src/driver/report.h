/*
 * What drivers tell the user while their devices are looked for. The sentences are logged, and those that a thread says
 * inside a probe or an open of the registry go to its list, too, which `tesela info` shows.
 */
#ifndef TSL_DRIVER_REPORT_H
#define TSL_DRIVER_REPORT_H

/* What a problem is, for what chooses a remedy by it. */
enum tsl_trouble {
    TSL_TROUBLE_OTHER,
    TSL_TROUBLE_NO_VENDORS, /* the folder of vendors can't be read, or has no .icd file */
    TSL_TROUBLE_NO_LIBRARY, /* a vendor's library, or one that it needs, isn't there */
    TSL_TROUBLE_UNFIT,      /* a vendor's library is there and can't be loaded */
    TSL_TROUBLE_NO_CUDA,    /* CUDA's library isn't there */
    TSL_TROUBLE_CUDA,       /* CUDA's library is there and can't be used */
    TSL_TROUBLE_NO_GPU,     /* CUDA's library can be used, and can't start or shows no GPU */
};

/* A sentence about what could not be loaded or used at all. */
void tsl_driver_report_problem(const char *format, ...) __attribute__((format(printf, 1, 2)));

void tsl_driver_report_trouble(enum tsl_trouble trouble, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As a problem, of what the user asked for by name: an error, which the log shows by default. */
void tsl_driver_report_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A platform or library that is in order and has no device: what it is called, and why. */
void tsl_driver_report_empty(const char *name, const char *why);

/* Inside open(), where it fails: why, as a part of the sentence that tells so. The last one counts. Not logged here. */
void tsl_driver_report_why(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Where the sentences go; each function owns the heap strings that it gets. */
struct tsl_report_sink {
    void (*problem)(enum tsl_trouble trouble, char *sentence);
    void (*empty)(char *name, char *why);
    void (*why)(char *words);
};

/* By the registry: sink takes what the calling thread says from now on; NULL: they are only logged. The sink lives
 * until it is replaced. */
void tsl_driver_report_to(const struct tsl_report_sink *sink);

#endif
