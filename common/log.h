/*
 * Lines for people on the program's standard error. A line is one write; it is
 * dropped rather than block the program, raise SIGPIPE in it, or land in
 * something that isn't a log. errno is kept.
 */
#ifndef MBP_LOG_H
#define MBP_LOG_H

enum mbp_log_level { MBP_LOG_OFF, MBP_LOG_WARN, MBP_LOG_INFO, MBP_LOG_DEBUG };

/* Lines above this level are not written. The default is MBP_LOG_WARN. */
void mbp_log_set_level(enum mbp_log_level level);

enum mbp_log_level mbp_log_get_level(void);

__attribute__((format(printf, 2, 3))) void mbp_log(
    enum mbp_log_level level, const char *format, ...);

#endif
