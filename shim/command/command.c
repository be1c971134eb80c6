#include "command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mbp_complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    flockfile(stderr);
    fputs("mongobp: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    funlockfile(stderr);
    va_end(arguments);
}

int mbp_finish_output(void)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        mbp_complain("can't write to standard output: %s", strerror(errno));
        return MBP_EXIT_FAILURE;
    }
    return 0;
}

char *mbp_text(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    const int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0) {
        mbp_complain("out of memory");
        exit(MBP_EXIT_RUN_FAILED);
    }
    return text;
}
