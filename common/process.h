/*
 * What one process has of mongobp: its settings, its place in the shared
 * memory, its jitter. Set up by the first command, never at program start, so
 * that a program that runs no command leaves no trace.
 */
#ifndef MBP_PROCESS_H
#define MBP_PROCESS_H

#include "engine.h"
#include "settings.h"

/* Read from the environment at the first call. */
const struct mbp_settings *mbp_process_settings(void);

/* An engine ready for use, or NULL where mongobp is disabled. Thread-safe and,
 * after the first call in a process, lock-free and without system calls. */
const struct mbp_engine *mbp_process_engine(void);

/* Notes in the process's slot which driver it uses; children inherit it. The
 * text must stay valid. */
void mbp_process_set_driver(const char *version);

#endif
