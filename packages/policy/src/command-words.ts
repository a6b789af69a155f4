/** The shell's own words. Behind those of them that take a command stands one. */
export const RESERVED: ReadonlySet<string> = new Set(
  "if then elif else fi for while until do done case esac select function time coproc repeat foreach noglob nocorrect [[ ]]".split(
    " ",
  ),
)

/** Programs, builtins and words of the shell that run what stands behind them, somewhere. */
export const RUNNERS: ReadonlySet<string> = new Set(
  // Shells, and what carries out text as one.
  (
    "bash sh zsh dash ksh mksh ash csh tcsh fish rbash pwsh busybox toybox eval trap exec command builtin time coproc repeat - " +
    // Builtins that take a command as an option's value.
    "jobs mapfile readarray compgen complete bind " +
    // As somebody else.
    "env sudo doas su runuser pkexec run0 gosu su-exec setpriv setuidgid chpst softlimit envuidgid capsh sg newgrp " +
    // In another way.
    "nohup nice ionice timeout gtimeout stdbuf unbuffer setsid chrt taskset numactl cpulimit prlimit setarch linux32 linux64 " +
    "catchsegv eatmydata fakeroot fakechroot faketime proot torsocks proxychains proxychains4 xvfb-run dbus-run-session " +
    "dbus-launch ssh-agent flock lockf daemonize start-stop-daemon systemd-run systemd-inhibit systemd-nspawn machinectl " +
    // Somewhere else.
    "chroot unshare nsenter bwrap firejail ssh autossh sshpass rsh mosh ip tmux screen script expect at batch " +
    // Under observation, again and again, or once for each.
    "strace ltrace perf gdb lldb valgrind rr watch watchexec entr nodemon hyperfine xargs gxargs parallel rush find gfind fd fdfind " +
    // From a set of packages or variables.
    "npx bunx uvx pipx nix-shell direnv cross-env dotenv env-cmd"
  ).split(" "),
)

/** Builtins that evaluate names and numbers: `a[$(command)]` among their arguments runs the command. */
export const EVALUATORS: ReadonlySet<string> = new Set(
  "printf test [ read declare typeset local export readonly unset let wait getopts print integer float".split(" "),
)

/** `command` and `builtin` are followed by the builtin itself. */
export const PREFIXES: ReadonlySet<string> = new Set(["command", "builtin"])
