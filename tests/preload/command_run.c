/*
 * mongobp run, --help and --version, called as a user would.
 */
#include "command_support.h"
#include "common/settings.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

TestSuite(command_run, .init = command_begin, .fini = command_end);

/* Copies what was built, with directories made as needed. */
static const char *copy_built(const char *name, const char *to)
{
    char *from = run_built(name);
    const char *path = in_directory(to);
    struct run_result result = RUN("install", "-D", "-m", "755", from, path);
    cr_assert_eq(result.status, 0, "%s", result.err);
    run_result_free(&result);
    free(from);
    return path;
}

static struct run_result run_copy(const char *command, const char *const arguments[4])
{
    char *preload = run_preload(NULL);
    struct run_result result = run_command((const char *const[]){command, arguments[0],
                                               arguments[1], arguments[2], arguments[3], NULL},
        ENVIRONMENT(preload));
    free(preload);
    return result;
}

/* ---- help, version, usage ----------------------------------------------------------------- */

Test(command_run, help_names_every_setting)
{
    struct run_result result = RUN_MONGOBP("--help");
    cr_expect_eq(result.status, 0);
    for (int i = 0; i < MBP_SETTING_COUNT; i++) {
        cr_expect(strstr(result.out, mbp_setting_infos[i].variable));
        cr_expect(strstr(result.out, mbp_setting_infos[i].meaning));
    }
    cr_expect(strstr(result.out, "mongobp run ") && strstr(result.out, "mongobp status "));
    cr_expect_str_empty(result.err);
    run_result_free(&result);
}

Test(command_run, version)
{
    expect(RUN_MONGOBP("--version"), 0, "mongobp " MBP_VERSION "\n", NULL);
}

Test(command_run, wrong_calls_get_the_usage_on_standard_error)
{
    expect(run_mongobp(NULL, NULL), 2, "", "Usage: mongobp run");
    expect(RUN_MONGOBP("--nonsense"), 2, "", "unknown option --nonsense");
    expect(RUN_MONGOBP("nonsense"), 2, "", "unknown command nonsense");
    expect(RUN_MONGOBP("run"), 125, "", "which program?");
    expect(RUN_MONGOBP("run", "--"), 125, "", "which program?");
    expect(RUN_MONGOBP("run", "--nonsense", "true"), 125, "", "unknown option --nonsense");
}

/* ---- running ------------------------------------------------------------------------------ */

Test(command_run, program_runs_as_without)
{
    expect(RUN_MONGOBP("run", "/bin/true"), 0, "", NULL);
    expect(RUN_MONGOBP("run", "--", "true"), 0, "", NULL);
    expect(RUN_MONGOBP("run", "--", "sh", "-c", "echo x; echo y >&2; exit 7"), 7, "x\n", "y\n");
    expect(RUN_MONGOBP("run", "sh", "-c", "kill -9 $$"), 128 + 9, "", NULL);
    expect(RUN_MONGOBP("run", "printf", "%s|", "a b", "", "--set"), 0, "a b||--set|", NULL);
}

Test(command_run, program_that_is_not_there)
{
    expect(RUN_MONGOBP("run", "no-such-program"), 127, "", "can't run no-such-program: not found");
    expect(RUN_MONGOBP("run", "./no/such/program"), 127, "", "not found");
    expect(RUN_MONGOBP("run", "/bin/true/x"), 127, "", "/bin/true/x");
    expect(RUN_MONGOBP("run", ""), 127, "", "not found");
}

Test(command_run, program_that_can_not_be_executed)
{
    const char *plain = make_file("plain", "x", 1, 0644);
    expect(RUN_MONGOBP("run", plain), 126, "", "Permission denied");
    expect(RUN_MONGOBP("run", directory), 126, "", "Is a directory");
}

/* As execvp does it: a file that can't be executed doesn't hide a later one. */
Test(command_run, program_is_looked_up_on_path)
{
    char path[1024];
    snprintf(path, sizeof path, "PATH=/no/such:%s:/bin:/usr/bin", directory);
    make_file("true", "x", 1, 0644);
    make_file("only-here", "x", 1, 0644);
    expect(run_mongobp(ENVIRONMENT("run", "true"), ENVIRONMENT(path)), 0, "", NULL);
    expect(run_mongobp(ENVIRONMENT("run", "only-here"), ENVIRONMENT(path)), 126, "", "only-here");
    expect(run_mongobp(ENVIRONMENT("run", "true"), ENVIRONMENT("PATH")), 0, "", NULL);
}

Test(command_run, scripts_run_through_their_interpreters)
{
    const char *plain = make_script("plain", "#!/bin/sh\necho plain $1; exit 3\n");
    const char *env = make_script("env", "#! /usr/bin/env sh \necho env $1\n");
    const char *split = make_script("split", "#!/usr/bin/env -S X=1 sh -e\necho split $1 $X\n");
    const char *bare = make_script("bare", "echo bare $1\n");
    char text[600];
    snprintf(text, sizeof text, "#!%s one\n", plain);
    const char *nested = make_script("nested", text);
    expect(RUN_MONGOBP("run", plain, "a"), 3, "plain a\n", NULL);
    expect(RUN_MONGOBP("run", split, "a"), 0, "split a 1\n", NULL);
    expect(RUN_MONGOBP("run", bare, "a"), 0, "bare a\n", NULL);
    if (!run_under_valgrind()) {
        expect(RUN_MONGOBP("run", env, "a"), 0, "env a\n", NULL);
        expect(RUN_MONGOBP("run", nested), 3, "plain one\n", NULL);
    }
}

Test(command_run, script_without_its_interpreter)
{
    const char *lost = make_script("lost", "#!/no/such/interpreter\n");
    const char *round = in_directory("round");
    char text[600];
    snprintf(text, sizeof text, "#!%s\n", round);
    make_script("round", text);
    expect(RUN_MONGOBP("run", lost), 127, "", "/no/such/interpreter: not found");
    expect(RUN_MONGOBP("run", round), 126, "", "symbolic links");
}

/* ---- programs that the library can't be loaded into --------------------------------------- */

/* A program of nothing but a header like this program's own, but for its word size. */
static const char *make_program(const char *name, bool other_word_size)
{
    unsigned char header[sizeof(Elf64_Ehdr)];
    const int self = open("/proc/self/exe", O_RDONLY);
    cr_assert(read(self, header, sizeof header) == (ssize_t)sizeof header);
    close(self);
    if (other_word_size) {
        header[EI_CLASS] = header[EI_CLASS] == ELFCLASS64 ? ELFCLASS32 : ELFCLASS64;
    }
    if (header[EI_CLASS] == ELFCLASS64) {
        ((Elf64_Ehdr *)(void *)header)->e_phnum = 0;
    } else {
        ((Elf32_Ehdr *)(void *)header)->e_phnum = 0;
    }
    return make_file(name, header, sizeof header, 0755);
}

Test(command_run, static_program_is_refused)
{
    const char *program = make_program("static", false);
    char text[600];
    snprintf(text, sizeof text, "#!%s\n", program);
    EXPECT_REFUSED(RUN_MONGOBP("run", program), "static is statically linked");
    EXPECT_REFUSED(RUN_MONGOBP("run", make_script("script", text)), "static is statically linked");
}

Test(command_run, program_of_another_word_size_is_refused)
{
    EXPECT_REFUSED(RUN_MONGOBP("run", make_program("other", true)), "-bit program and");
}

Test(command_run, program_of_another_processor_is_refused)
{
    const char *path = make_program("other", false);
    FILE *file = fopen(path, "r+");
    cr_assert(file && fseek(file, offsetof(Elf64_Ehdr, e_machine), SEEK_SET) == 0);
    fwrite("\xfe\xfe", 1, 2, file);
    fclose(file);
    EXPECT_REFUSED(RUN_MONGOBP("run", path), "another kind of processor");
}

Test(command_run, damaged_program_is_refused)
{
    EXPECT_REFUSED(RUN_MONGOBP("run", make_file("cut", "\177ELF\2\1", 6, 0755)), "is damaged");
}

/* Only where it changes the user does the loader ignore LD_PRELOAD. */
Test(command_run, setuid_program_is_refused)
{
    const char *copy = in_directory("setuid");
    struct statvfs file_system;
    shell("cp /bin/true $1/setuid");
    cr_assert(chmod(copy, 04755) == 0 && statvfs(directory, &file_system) == 0);
    if (!run_under_valgrind()) {
        expect(RUN_MONGOBP("run", copy), 0, "", NULL);
    }
    if (geteuid() != 0 || (file_system.f_flag & ST_NOSUID)) {
        command_end(); /* a test that is skipped doesn't get there */
        cr_skip("takes root, and a file system that is not mounted nosuid");
    }
    cr_assert(chown(copy, 65534, (gid_t)-1) == 0 && chmod(copy, 04755) == 0);
    EXPECT_REFUSED(RUN_MONGOBP("run", copy), "ignores LD_PRELOAD");
    cr_assert(chown(copy, 0, 65534) == 0 && chmod(copy, 02755) == 0);
    EXPECT_REFUSED(RUN_MONGOBP("run", copy), "ignores LD_PRELOAD");
}

/* ---- the library -------------------------------------------------------------------------- */

Test(command_run, library_must_be_there)
{
    const char *command = copy_built("mongobp", "bin/mongobp");
    const char *trace = in_directory("trace");
    const char *const arguments[] = {"run", "touch", trace, NULL};
    EXPECT_REFUSED(run_copy(command, arguments), "libmongobp.so was not found in");
    cr_expect(access(trace, F_OK) != 0, "the program was run all the same");
}

Test(command_run, library_must_be_one)
{
    const char *const arguments[] = {"run", "echo", "x", NULL};
    const char *command = copy_built("mongobp", "mongobp");
    make_file("libmongobp.so", "x", 1, 0644);
    EXPECT_REFUSED(run_copy(command, arguments), "is damaged");
}

Test(command_run, library_in_a_path_that_ld_preload_can_not_name)
{
    const char *const arguments[] = {"run", "echo", "x", NULL};
    const char *command = copy_built("mongobp", "a b/mongobp");
    copy_built("libmongobp.so", "a b/libmongobp.so");
    EXPECT_REFUSED(run_copy(command, arguments), "a space or a colon");
}

Test(command_run, library_is_found_as_installed)
{
    const char *const arguments[] = {"run", "echo", "x", NULL};
    const char *command = copy_built("mongobp", "bin/mongobp");
    copy_built("libmongobp.so", "lib/mongobp/libmongobp.so");
    expect(run_copy(command, arguments), 0, "x\n", NULL);
    copy_built("libmongobp.so", "lib/libmongobp.so");
    expect(run_copy(command, arguments), 0, "x\n", NULL);
}

Test(command_run, install_and_uninstall)
{
    const char *const arguments[] = {"run", "sh", "-c", "echo \"$LD_PRELOAD\""};
    char *build = run_built(".");
    struct run_result result =
        RUN("scripts/install", "install", directory, "/usr/x", "/usr/x/lib", build);
    cr_expect_eq(result.status, 0, "%s", result.err);
    run_result_free(&result);

    result = run_copy(in_directory("usr/x/bin/mongobp"), arguments);
    cr_expect_eq(result.status, 0, "%s", result.err);
    cr_expect(strstr(result.out, in_directory("usr/x/lib/libmongobp.so")), "%s", result.out);
    run_result_free(&result);

    make_file("usr/x/lib/another.so", "x", 1, 0644);
    result = RUN("scripts/install", "uninstall", directory, "/usr/x", "/usr/x/lib");
    cr_expect_eq(result.status, 0, "%s", result.err);
    run_result_free(&result);
    result = RUN("find", directory, "-type", "f", "-printf", "%f\n");
    cr_expect_str_eq(result.out, "another.so\n");
    run_result_free(&result);
    free(build);
}
