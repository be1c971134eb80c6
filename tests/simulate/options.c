#include "options.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct option {
    const char *name;
    size_t offset;
    uint64_t least, most;
    const char *meaning;
};

static const struct option list[] = {
#define X(field, fallback, least, most, meaning)                                                   \
    {#field, offsetof(struct sim_options, field), least, most, meaning},
    SIM_OPTIONS(X)
#undef X
};
static const size_t list_length = sizeof list / sizeof list[0];

void sim_options_default(struct sim_options *options)
{
#define X(field, fallback, least, most, meaning) options->field = (fallback);
    SIM_OPTIONS(X)
#undef X
}

static bool same_name(const char *name, const char *given)
{
    while (*name && (*name == *given || (*name == '_' && *given == '-'))) {
        name++;
        given++;
    }
    return *name == '\0' && *given == '\0';
}

static const struct option *find(const char *name)
{
    for (size_t i = 0; i < list_length; i++) {
        if (same_name(list[i].name, name)) {
            return &list[i];
        }
    }
    return NULL;
}

static bool parse(const char *text, uint64_t *value)
{
    char *end;
    /* strtoull takes a sign and blanks, and makes a huge number of "-1". */
    if (text[0] < '0' || text[0] > '9') {
        return false;
    }
    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno == 0 && *end == '\0';
}

bool sim_options_set(
    struct sim_options *options, const char *name, const char *text, char *fault, size_t fault_size)
{
    const struct option *option = find(name);
    uint64_t value;
    if (!option) {
        snprintf(fault, fault_size, "no option '--%s'", name);
        return false;
    }
    if (!parse(text, &value) || value < option->least || value > option->most) {
        snprintf(fault, fault_size, "--%s takes a whole number from %llu to %llu, not '%s'", name,
            (unsigned long long)option->least, (unsigned long long)option->most, text);
        return false;
    }
    memcpy((char *)options + option->offset, &value, sizeof value);
    return true;
}

void sim_options_help(FILE *out)
{
    struct sim_options defaults;
    sim_options_default(&defaults);
    for (size_t i = 0; i < list_length; i++) {
        uint64_t value;
        char name[64];
        memcpy(&value, (const char *)&defaults + list[i].offset, sizeof value);
        snprintf(name, sizeof name, "%s", list[i].name);
        for (char *dash = name; (dash = strchr(dash, '_'));) {
            *dash = '-';
        }
        fprintf(out, "  --%-30s %6llu  %s\n", name, (unsigned long long)value, list[i].meaning);
    }
}
