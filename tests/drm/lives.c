// Ends in one of many ways, with or without the device: `lives OWN CHILD WAY...`.
//
// OWN and CHILD say what the process and its forked children do first: `none`, `open` (they open the device)
// or `submit` (they also leave work queued that runs for a while). WAY names the function of the table below;
// `fork`, `thread_fork` and `daemon` take the way of the child as a further argument. What is printed must not
// depend on OWN and CHILD.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char **arguments;

static void need(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "lives: %s: %s\n", what, strerror(errno));
        kill(getpid(), SIGKILL);
    }
}

// Nested calls of command buffers, 300 x 300 x 300 in all, without an effect.
static void submit(int fd) {
    struct { uint64_t size; uint32_t flags, handle; } new = {16384, 0x20000, 0};
    need(ioctl(fd, _IOWR('d', 0x42, new), &new) == 0, "GEM_NEW");
    struct { uint32_t handle, info; uint64_t value; uint32_t len, pad; } info = {new.handle, 0, 0, 0, 0};
    need(ioctl(fd, _IOWR('d', 0x43, info), &info) == 0, "offset");
    uint32_t *words = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_SHARED, fd, info.value);
    need(words != MAP_FAILED, "mmap");
    info.info = 1, info.value = 0;
    need(ioctl(fd, _IOWR('d', 0x43, info), &info) == 0, "address");
    for (int level = 0; level < 3; level++)
        for (int call = 0; call < 300; call++) {
            uint32_t *at = words + level * 1024 + call * 3;
            at[0] = 0xc0013f00, at[1] = info.value + (level + 1) * 4096, at[2] = 900;
        }
    for (int word = 0; word < 900; word++)
        words[3 * 1024 + word] = 0x80000000;
    struct { uint32_t flags, handle; uint64_t presumed; } bo = {3, new.handle, 0};
    struct { uint32_t kind, index, offset, size, pad, relocs_len; uint64_t relocs; } cmd = {1, 0, 0, 3600, 0, 0, 0};
    struct {
        uint32_t flags, fence, bos_len, cmds_len;
        uint64_t bos, cmds;
        int32_t fence_fd;
        uint32_t queue;
        uint64_t in, out;
        uint32_t in_len, out_len, stride, pad;
    } job = {.flags = 0x10, .bos_len = 1, .cmds_len = 1, .bos = (uintptr_t)&bo, .cmds = (uintptr_t)&cmd};
    need(ioctl(fd, _IOWR('d', 0x46, job), &job) == 0, "GEM_SUBMIT");
}

static void use(const char *how) {
    if (!strcmp(how, "none"))
        return;
    int fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
    need(fd >= 0, "open");
    if (!strcmp(how, "submit"))
        submit(fd);
}

static void live(void);

static void nap(int milliseconds) { usleep(milliseconds * 1000); }

// Starts a thread that nobody joins.
static void start(void *(*run)(void *)) {
    pthread_t thread;
    need(pthread_create(&thread, NULL, run, NULL) == 0, "pthread_create");
    pthread_detach(thread);
}

// Threads. Each ends later than the main thread.
static void *later(void *_) { nap(150); puts("later"); return NULL; }
static void *later_exits(void *_) { nap(150); puts("later"); exit(9); }
static void *later_raw(void *_) { nap(150); syscall(SYS_exit, 6); return NULL; }
static void *latest_raw(void *_) { nap(250); syscall(SYS_exit, 7); return NULL; }
static void *later_aborts(void *_) { nap(150); abort(); }
static void *later_joins(void *main) {
    void *value = NULL;
    int status = pthread_join(*(pthread_t *)main, &value);
    printf("joined: %d %d\n", status, (int)(intptr_t)value);
    return NULL;
}
static void *later_forks(void *_) { nap(50); live(); exit(99); }
static void *strict_raw(void *_) { nap(100); prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT); syscall(SYS_exit, 8); return NULL; }

// The ways.
static void way_return(void) {}
static void way_exit(void) { exit(4); }
static void way__exit(void) { _exit(5); }
static void way_quick_exit(void) { quick_exit(6); }
static void way_abort(void) { abort(); }
static void way_segv(void) { *(volatile int *)8 = 1; }
static void way_kill(void) { kill(getpid(), SIGKILL); }
static void way_term(void) { kill(getpid(), SIGTERM); pause(); }
static void way_int(void) { kill(getpid(), SIGINT); pause(); }
static void on_term(int _) { _exit(21); }
static void way_handler(void) { signal(SIGTERM, on_term); kill(getpid(), SIGTERM); pause(); }
static void way_alarm(void) { alarm(1); pause(); }
static void way_raw(void) { syscall(SYS_exit, 7); }
static void way_raw_group(void) { syscall(SYS_exit_group, 8); }
static void way_raw_last(void) { start(later_raw); start(latest_raw); syscall(SYS_exit, 5); }
static void way_raw_then_exit(void) { start(later_exits); syscall(SYS_exit, 5); }
static void way_raw_then_return(void) { start(later); syscall(SYS_exit, 5); }
static void way_pthread_exit(void) { pthread_exit(NULL); }
static void way_pthread_exit_later(void) { start(later); pthread_exit(NULL); }
static void way_pthread_exit_exits(void) { start(later_exits); pthread_exit(NULL); }
static void way_pthread_exit_raw(void) { start(later_raw); pthread_exit(NULL); }
static void way_pthread_exit_aborts(void) { start(later_aborts); pthread_exit(NULL); }
static void way_pthread_exit_joined(void) {
    static pthread_t main;
    main = pthread_self();
    pthread_t thread;
    need(pthread_create(&thread, NULL, later_joins, &main) == 0, "pthread_create");
    nap(100);
    pthread_exit((void *)(intptr_t)77);
}
static void way_thread_exits(void) { start(later_exits); for (;;) pause(); }
static void way_exec(void) { execl("/bin/sh", "sh", "-c", "echo other; exit 9", NULL); }
static void *later_execs(void *_) { nap(50); way_exec(); return NULL; }
static void way_thread_execs(void) { start(later_execs); for (;;) pause(); }
static void way_raw_then_exec(void) { start(later_execs); syscall(SYS_exit, 5); }
static void way_stop(void) {
    pid_t pid = getpid();
    if (fork() == 0) {
        nap(200);
        kill(pid, SIGCONT);
        _exit(0);
    }
    raise(SIGSTOP);
    exit(13);
}

static void told(pid_t pid, const char *who) {
    int status = -1;
    need(pid > 0 && waitpid(pid, &status, 0) == pid, who);
    printf("%s: %x\n", who, status);
}
static void way_vfork(void) {
    pid_t pid = vfork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", "exit 12", NULL);
        _exit(98);
    }
    told(pid, "vfork and exec");
    pid = vfork();
    if (pid == 0)
        _exit(14);
    told(pid, "vfork");
    exit(15);
}
static void way_spawn(void) {
    pid_t pid = 0;
    char *words[] = {"sh", "-c", "kill -9 $$", NULL};
    need(posix_spawn(&pid, "/bin/sh", NULL, NULL, words, environ) == 0, "posix_spawn");
    told(pid, "spawned");
    printf("system: %x\n", system("exit 3"));
    exit(16);
}
static void way_fork(void) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        use(arguments[2]);
        arguments++;
        live();
        exit(2);
    }
    told(pid, "child");
    exit(17);
}
// The child's main thread is another one than the parent's.
static void way_thread_fork(void) {
    arguments[3] = "fork";
    start(later_forks);
    for (;;)
        pause();
}
// The parents end first.
static void way_daemon(void) {
    fflush(stdout);
    if (fork() > 0)
        _exit(18);
    setsid();
    if (fork() > 0)
        _exit(0);
    use(arguments[2]);
    nap(100);
    puts("daemon");
    arguments++;
    live();
    exit(2);
}

static void way_strict_raw(void) { prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT); syscall(SYS_exit, 3); }
static void way_strict_exit(void) { prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT); exit(3); }
static void way_strict_killed(void) { prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT); syscall(SYS_getpid); }
static void way_strict_thread(void) { start(strict_raw); nap(200); exit(19); }
static void way_strict_last(void) { start(strict_raw); pthread_exit(NULL); }

// Allows only what the end of a program needs; everything else has the result `otherwise`.
static struct sock_fprog rules_of(uint32_t otherwise) {
    static struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    rules[4].k = otherwise;
    need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "PR_SET_NO_NEW_PRIVS");
    return (struct sock_fprog){sizeof rules / sizeof *rules, rules};
}
static void confine(uint32_t otherwise) {
    struct sock_fprog program = rules_of(otherwise);
    need(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0, "PR_SET_SECCOMP");
}
static void way_filter_exit(void) { confine(SECCOMP_RET_KILL_PROCESS); exit(20); }
static void way_filter_raw(void) { confine(SECCOMP_RET_KILL_PROCESS); syscall(SYS_exit, 20); }
static void way_filter_killed(void) { confine(SECCOMP_RET_KILL_THREAD); syscall(SYS_getpid); }
// By the other system call.
static void way_filter_call(void) {
    struct sock_fprog program = rules_of(SECCOMP_RET_KILL_PROCESS);
    need(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0, "seccomp");
    exit(22);
}
// The main thread ends for a call that the filter forbids, and another later.
static void way_filter_thread(void) { start(later); confine(SECCOMP_RET_KILL_THREAD); syscall(SYS_getpid); }

#define WAY(name) {#name, way_##name}
static const struct { const char *name; void (*end)(void); } WAYS[] = {
    WAY(return), WAY(exit), WAY(_exit), WAY(quick_exit), WAY(abort), WAY(segv), WAY(kill), WAY(term), WAY(int),
    WAY(handler), WAY(alarm), WAY(raw), WAY(raw_group), WAY(raw_last), WAY(raw_then_exit), WAY(raw_then_return),
    WAY(pthread_exit), WAY(pthread_exit_later), WAY(pthread_exit_exits), WAY(pthread_exit_raw),
    WAY(pthread_exit_aborts), WAY(pthread_exit_joined), WAY(thread_exits), WAY(exec), WAY(thread_execs),
    WAY(raw_then_exec), WAY(stop), WAY(vfork), WAY(spawn), WAY(fork), WAY(thread_fork), WAY(daemon),
    WAY(strict_raw), WAY(strict_exit), WAY(strict_killed), WAY(strict_thread), WAY(filter_exit), WAY(filter_raw),
    WAY(filter_killed), WAY(strict_last), WAY(filter_call), WAY(filter_thread),
};

static void live(void) {
    for (size_t way = 0; way < sizeof WAYS / sizeof *WAYS; way++)
        if (!strcmp(arguments[3], WAYS[way].name))
            return WAYS[way].end();
    need(0, arguments[3]);
}

static void at_exit(void) { puts("atexit"); }
static void at_quick_exit_(void) { puts("at_quick_exit"); fflush(stdout); }

int main(int count, char **all) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    arguments = all;
    need(count > 3, "arguments");
    use(all[1]);
    atexit(at_exit);
    at_quick_exit(at_quick_exit_);
    puts("began");
    fflush(stdout);
    // What is not flushed is printed only by `exit`.
    puts("not flushed");
    live();
    return 3;
}
