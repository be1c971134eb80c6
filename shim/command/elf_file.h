/*
 * What must be known of an ELF file to tell whether a library can be loaded
 * into a program.
 */
#ifndef MBP_ELF_FILE_H
#define MBP_ELF_FILE_H

#include <stdbool.h>
#include <stdint.h>

#define MBP_LOADER_SIZE 256

struct mbp_elf_file {
    unsigned bits;       /* 32 or 64 */
    unsigned char order; /* of bytes: ELFDATA2LSB or ELFDATA2MSB */
    uint16_t machine;
    uint16_t type;                /* ET_EXEC, ET_DYN… */
    char loader[MBP_LOADER_SIZE]; /* the dynamic loader it asks for; "": none, it is static */
};

/* False where the descriptor is not at an ELF file of a known kind, or it ends
 * too early. What a machine of the other byte order has is not read: type and
 * machine are 0 and there is no loader. */
bool mbp_elf_read(int fd, struct mbp_elf_file *file);

#endif
