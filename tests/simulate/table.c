#include "table.h"

#include "memory.h"

#include <stdarg.h>
#include <string.h>

static char *next_cell(struct sim_table *table)
{
    if (table->count == table->room) {
        table->room = table->room ? table->room * 2 : 256;
        char(*cells)[SIM_CELL_SIZE] = sim_allocate(table->room, sizeof *cells);
        if (table->count) {
            memcpy(cells, table->cells, table->count * sizeof *cells);
        }
        free(table->cells);
        table->cells = cells;
    }
    return table->cells[table->count++];
}

void sim_table_open(struct sim_table *table, const char *head)
{
    *table = (struct sim_table){0};
    for (const char *word = head; *word; table->columns++) {
        const size_t length = strcspn(word, "|");
        snprintf(next_cell(table), SIM_CELL_SIZE, "%.*s", (int)length, word);
        word += length + (word[length] == '|');
    }
}

void sim_table_close(struct sim_table *table)
{
    free(table->cells);
}

void sim_table_cell(struct sim_table *table, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(next_cell(table), SIM_CELL_SIZE, format, arguments);
    va_end(arguments);
}

static size_t width_of(const struct sim_table *table, size_t column)
{
    size_t width = 0;
    for (size_t i = column; i < table->count; i += table->columns) {
        const size_t length = strlen(table->cells[i]);
        width = length > width ? length : width;
    }
    return width;
}

void sim_table_print(const struct sim_table *table, FILE *out, size_t left)
{
    size_t *widths = sim_allocate(table->columns, sizeof *widths);
    for (size_t column = 0; column < table->columns; column++) {
        widths[column] = width_of(table, column);
    }
    for (size_t i = 0; i < table->count; i++) {
        const size_t column = i % table->columns;
        const bool last = column + 1 == table->columns;
        const int width = (int)widths[column];
        fprintf(out, column < left ? "%-*s%s" : "%*s%s", column < left && last ? 0 : width,
            table->cells[i], last ? "\n" : "  ");
    }
    free(widths);
}

bool sim_table_save(const struct sim_table *table, const char *directory, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    bool good = file != NULL;
    if (file) {
        for (size_t i = 0; i < table->count; i++) {
            const bool last = (i + 1) % table->columns == 0;
            fprintf(file, "%s%s", table->cells[i], last ? "\n" : "\t");
        }
        good = !ferror(file);
        good = fclose(file) == 0 && good;
    }
    if (!good) {
        perror(path);
    }
    return good;
}
