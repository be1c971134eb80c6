/*
 * What a test has found worth telling besides passing, for scripts/test to
 * show after its suite.
 */
#ifndef MBP_TEST_REPORT_H
#define MBP_TEST_REPORT_H

/* Adds a line; `heading` comes before the first of all. */
void report_line(const char *heading, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
