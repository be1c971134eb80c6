#include "elf_file.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static const unsigned char own_order =
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

static bool read_at(int fd, uint64_t offset, void *to, size_t size)
{
    return pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

static bool read_loader(int fd, uint64_t offset, uint64_t size, char loader[MBP_LOADER_SIZE])
{
    if (size < 2 || size > MBP_LOADER_SIZE || !read_at(fd, offset, loader, (size_t)size)) {
        return false;
    }
    loader[size - 1] = '\0';
    return true;
}

/* The same for both word sizes, which differ in the types alone. */
#define DEFINE_READ(bits_)                                                                         \
    static bool read_##bits_(int fd, struct mbp_elf_file *file)                                    \
    {                                                                                              \
        Elf##bits_##_Ehdr header;                                                                  \
        if (!read_at(fd, 0, &header, sizeof header)) {                                             \
            return false;                                                                          \
        }                                                                                          \
        file->machine = header.e_machine;                                                          \
        file->type = header.e_type;                                                                \
        for (unsigned i = 0; i < header.e_phnum; i++) {                                            \
            Elf##bits_##_Phdr part;                                                                \
            const uint64_t at = header.e_phoff + (uint64_t)i * header.e_phentsize;                 \
            if (!read_at(fd, at, &part, sizeof part)) {                                            \
                return false;                                                                      \
            }                                                                                      \
            if (part.p_type == PT_INTERP) {                                                        \
                return read_loader(fd, part.p_offset, part.p_filesz, file->loader);                \
            }                                                                                      \
        }                                                                                          \
        return true;                                                                               \
    }

DEFINE_READ(32)
DEFINE_READ(64)

bool mbp_elf_read(int fd, struct mbp_elf_file *file)
{
    unsigned char ident[EI_NIDENT];
    *file = (struct mbp_elf_file){0};
    if (!read_at(fd, 0, ident, sizeof ident) || memcmp(ident, ELFMAG, SELFMAG) != 0 ||
        (ident[EI_CLASS] != ELFCLASS32 && ident[EI_CLASS] != ELFCLASS64)) {
        return false;
    }
    file->bits = ident[EI_CLASS] == ELFCLASS32 ? 32 : 64;
    file->order = ident[EI_DATA];
    if (file->order != own_order) {
        return true;
    }
    return file->bits == 32 ? read_32(fd, file) : read_64(fd, file);
}
