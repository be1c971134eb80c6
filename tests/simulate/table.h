/*
 * A table that is shown to people and saved for programs: aligned columns on a
 * stream, the same cells with tabs between them in a file.
 */
#ifndef SIM_TABLE_H
#define SIM_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define SIM_CELL_SIZE 48

struct sim_table {
    char (*cells)[SIM_CELL_SIZE]; /* row by row, the head first */
    size_t columns;
    size_t count, room;
};

/* The head's words are separated by bars: "name|p50|p75". */
void sim_table_open(struct sim_table *table, const char *head);
void sim_table_close(struct sim_table *table);

/* The next cell, from left to right; a full row is followed by a new one. */
__attribute__((format(printf, 2, 3))) void sim_table_cell(
    struct sim_table *table, const char *format, ...);

/* The first `left` columns are aligned to the left, the others to the right. */
void sim_table_print(const struct sim_table *table, FILE *out, size_t left);

/* Writes directory/name. On failure says so on standard error. */
bool sim_table_save(const struct sim_table *table, const char *directory, const char *name);

#endif
