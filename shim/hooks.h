/*
 * The driver's functions that mongobp stands in for, once: they are all that
 * the library exports. X (name).
 */
#ifndef MBP_HOOKS_H
#define MBP_HOOKS_H

#define MBP_HOOKS(X) X(mongoc_cluster_run_command_monitored)

#endif
