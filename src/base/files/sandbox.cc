#include "base/files/sandbox.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/files/file_descriptor.h"

namespace tracedb {
namespace {

#ifdef TRACEDB_SANITIZED
constexpr bool kAvailable = false;
#else
constexpr bool kAvailable = true;
#endif

constexpr std::uint64_t kRead = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t kWrite =
    kRead | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG;
constexpr std::uint64_t kFirstVersion = (1U << 13U) - 1;  // all that Landlock knew in the beginning
constexpr std::uint64_t kTruncate = 1U << 14U;            // of opening; the second version's is denied in any case

// What SQLite and the library of C read wherever they run.
constexpr const char* kSystem[] = {"/usr",           "/lib",         "/lib64",   "/etc/ld.so.cache",
                                   "/etc/localtime", "/dev/urandom", "/dev/null"};

void allow(int rules, const std::filesystem::path& path, std::uint64_t access) {
  const FileDescriptor file(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!file.is_open()) return;
  landlock_path_beneath_attr rule{access, file.get()};
  if (::syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0) return;
  rule.allowed_access = access & LANDLOCK_ACCESS_FS_READ_FILE;  // of a file: rights of folders are refused
  ::syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
}

std::string failed(const char* what) { return std::string(what) + ": " + std::strerror(errno); }

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;
#endif

// clang-format off
constexpr std::uint32_t kDenied[] = {
#ifdef SYS_fork
    SYS_fork, SYS_vfork, SYS_mknod, SYS_chmod, SYS_chown, SYS_lchown,
#endif
    SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4, SYS_sendto, SYS_sendmsg,
    SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kill, SYS_pidfd_open,
    SYS_pidfd_getfd, SYS_pidfd_send_signal, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot, SYS_unshare, SYS_setns,
    SYS_open_by_handle_at, SYS_io_uring_setup, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl, SYS_add_key,
    SYS_request_key, SYS_init_module, SYS_finit_module, SYS_kexec_load, SYS_reboot, SYS_swapon, SYS_setuid, SYS_setgid,
    SYS_setreuid, SYS_setresuid, SYS_setregid, SYS_setresgid, SYS_setfsuid, SYS_setfsgid, SYS_tkill, SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo, SYS_truncate, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_process_madvise, SYS_open_tree,
    SYS_fsopen, SYS_move_mount, SYS_setgroups, SYS_mknodat, SYS_fchmodat, SYS_fchownat, SYS_personality, SYS_acct};
// clang-format on

}  // namespace

std::string restrict_calls() {
  if (!kAvailable) return "";
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);  // without it, the others fail
  if (kArchitecture == 0) return "";
  constexpr std::uint32_t kFails = SECCOMP_RET_ERRNO | (SECCOMP_RET_DATA & EPERM);
  constexpr std::uint32_t kOtherTable = 0x40000000;  // of x32
  const auto load = [](std::size_t offset) -> sock_filter {
    return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
  };
  std::vector<sock_filter> code = {
      load(offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, kFails),
      load(offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, kOtherTable, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, kFails),
      // Its flags are in memory: the library of C then calls clone.
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (SECCOMP_RET_DATA & ENOSYS)),
  };
  for (const std::uint32_t call : kDenied) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
    code.push_back(BPF_STMT(BPF_RET | BPF_K, kFails));
  }
  // Signals go to this process alone, as those of abort() do; what is made is a thread.
  code.insert(code.end(), {BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 2), load(offsetof(seccomp_data, args[0])),
                           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(::getpid()), 4, 3),
                           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3), load(offsetof(seccomp_data, args[0])),
                           BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 1, 0), BPF_STMT(BPF_RET | BPF_K, kFails),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)});
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  // EINVAL: of a kernel without filters.
  const bool done = ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
  return done || errno == ENOSYS || errno == EINVAL ? "" : failed("seccomp");
}

std::string restrict_thread(std::span<const std::filesystem::path> readable,
                            std::span<const std::filesystem::path> writable) {
  std::string calls = restrict_calls();
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (!kAvailable || version < 1) return calls;
  const std::uint64_t truncate = version >= 3 ? kTruncate : 0;
  const std::uint64_t handled = kFirstVersion | truncate;  // a landlock_ruleset_attr of one member
  const FileDescriptor rules(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &handled, sizeof(handled), 0)));
  for (const char* path : kSystem) allow(rules.get(), path, kRead);
  for (const std::filesystem::path& path : readable) allow(rules.get(), path, kRead);
  for (const std::filesystem::path& path : writable) allow(rules.get(), path, kWrite | truncate);
  const bool done = rules.is_open() && ::syscall(SYS_landlock_restrict_self, rules.get(), 0) == 0;
  return done ? calls : failed("Landlock");
}

}  // namespace tracedb
