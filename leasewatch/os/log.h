/*
 * os/log.h: log lines. To stderr with --foreground (with sd-daemon's "<N>" prefix when JOURNAL_STREAM is set),
 * else syslog. errno is kept. Text from users goes through log_escape first. Each line says what, which lease,
 * and why.
 */
#ifndef OS_LOG_H
#define OS_LOG_H

#include <stdbool.h>
#include <stddef.h>

/* Levels are syslog's: LOG_ERR, LOG_WARNING, LOG_NOTICE, LOG_INFO, LOG_DEBUG. */
void log_open(const char *role /* "watcher", "actor", … */, bool foreground, int max_level);
void log_at(int level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define log_err(...) log_at(3, __VA_ARGS__)
#define log_warn(...) log_at(4, __VA_ARGS__)
#define log_note(...) log_at(5, __VA_ARGS__)
#define log_info(...) log_at(6, __VA_ARGS__)
#define log_debug(...) log_at(7, __VA_ARGS__)
/* Prints s into buf, printable ASCII only (vis(3), VIS_CSTYLE|VIS_OCTAL), cut to size. Gives buf. */
const char *log_escape(char *buf, size_t size, const char *s);

#endif
