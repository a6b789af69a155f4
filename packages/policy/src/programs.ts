/** The shell's own words. Behind those of them that take a command stands one. */
export const RESERVED: ReadonlySet<string> = new Set(
  "if then elif else fi for while until do done case esac select function time coproc repeat foreach noglob nocorrect [[ ]]".split(
    " ",
  ),
)

const SHELLS = "bash sh zsh dash ksh mksh ash csh tcsh fish rbash pwsh"

/** Programs, builtins and words of the shell that run what stands behind them, somewhere. */
export const RUNNERS: ReadonlySet<string> = new Set(
  // Shells, and what carries out text as one.
  (
    `${SHELLS} busybox toybox eval trap exec command builtin time coproc repeat - ` +
    // Builtins that take a command as an option's value.
    "jobs mapfile readarray compgen complete bind emulate zpty sched zstyle zargs " +
    // As somebody else.
    "env sudo doas su runuser pkexec run0 gosu su-exec setpriv setuidgid chpst softlimit envuidgid capsh sg newgrp " +
    // In another way.
    "nohup nice ionice timeout stdbuf unbuffer setsid chrt taskset numactl cpulimit prlimit setarch linux32 linux64 " +
    "catchsegv eatmydata fakeroot fakechroot faketime proot torsocks proxychains proxychains4 xvfb-run dbus-run-session " +
    "caffeinate arch dbus-launch ssh-agent flock lockf daemonize start-stop-daemon systemd-run systemd-inhibit systemd-nspawn machinectl " +
    // Somewhere else.
    "chroot unshare nsenter bwrap firejail toolbox distrobox wsl pdsh ssh autossh sshpass rsh mosh ip tmux screen script expect at batch crontab " +
    // Under observation, again and again, or once for each.
    "strace ltrace perf gdb lldb valgrind rr watch watchexec entr nodemon hyperfine xargs parallel rush find " +
    // From a set of packages or variables.
    "npx bunx uvx pipx nix-shell direnv cross-env dotenv env-cmd mise aws-vault op doppler concurrently " +
    // As an argument of what loads, emulates, watches over or schedules it.
    "ld.so qemu box64 wine choom uclampset nsjail schroot arch-chroot steam-run tini dumb-init catatonit chronic ifne pee " +
    "retry rlwrap dtach abduco sem envdir s6-setuidgid s6-envdir xterm gnome-terminal konsole srun sbatch qsub bsub mpirun " +
    "mpiexec salt ansible coreutils cmd powershell socat ncat nc lima " +
    // By another name from now on.
    "alias hash enable"
  ).split(" "),
)

/** Builtins that evaluate names and numbers: `a[$(command)]` among their arguments runs the command. */
export const EVALUATORS: ReadonlySet<string> = new Set(
  "printf test [ read declare typeset local export readonly unset let wait getopts print integer float".split(" "),
)

/** Builtins that change the folder for the commands behind them, and tests of find that run theirs in another one. */
export const FOLDER_CHANGERS: ReadonlySet<string> = new Set(["cd", "pushd", "popd", "chdir", "-execdir", "-okdir"])
/** Programs that run a command in a folder of another machine or container. */
export const RUNS_ELSEWHERE: ReadonlySet<string> = new Set(["ssh", "docker", "podman", "nerdctl", "docker-compose"])

/** Programs that carry out what they are given as text. */
export const SHELL_PROGRAMS: ReadonlySet<string> = new Set(SHELLS.split(" "))

/** Programs that carry out a file of a language, and read it from their input if they are given none. */
export const INTERPRETERS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    python: "-uBEsSOqIbdv -W: -X: -h -V",
    pypy: "-uBEsSOq -W:",
    node: "--test --no-warnings --enable-source-maps --trace-warnings --max-old-space-size=",
    nodejs: "--no-warnings --enable-source-maps",
    perl: "-wTtc",
    ruby: "-wv",
    php: "-nlqs",
    ...Object.fromEntries(
      "tsx ts-node lua luajit tclsh wish expect osascript r rscript irb ghci runghc scala groovy julia elixir iex erl escript guile racket sbcl clojure clj java jshell swift dart crystal kotlin gjs qjs octave gnuplot"
        .split(" ")
        .map((name) => [name, ""]),
    ),
  }),
)

/** Programs that carry out what they read: commands of their own, some of which run programs. */
export const CARRIES_OUT_INPUT: ReadonlySet<string> = new Set(
  "psql mysql mariadb sqlite3 mongosh mongo ftp lftp sftp gdb lldb ed ex vi vim nvim view emacs nano at batch crontab rsh nsupdate".split(
    " ",
  ),
)

/** Programs that run what a file of the project says, by the names of targets. */
export const TARGETS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    make: "-sknBiw -j? --silent --keep-going --dry-run --jobs? --always-make --version --help",
    ninja: "-vn -j: -k:",
    cmake: "",
    mvn: "-qBoU --batch-mode --quiet --offline",
    mvnw: "-qBoU",
    gradle: "-qis --quiet --info --stacktrace --no-daemon --offline --continue --parallel",
    gradlew: "-qis --quiet --info --stacktrace --no-daemon --offline --continue --parallel",
    ...Object.fromEntries(
      "rake just task grunt gulp tox nox invoke sbt lein ant mage bazel mix rebar3 nx turbo lerna"
        .split(" ")
        .map((name) => [name, ""]),
    ),
  }),
)

/** Programs that carry out text which another one prints: `echo rm x | sh`, `source <(echo rm x)`. */
export const FED: ReadonlySet<string> = new Set([
  ...SHELL_PROGRAMS,
  ..."source . eval ssh parallel rush at batch".split(" "),
])

/** Runners that put words of their own behind the command. */
export const ADDS_WORDS: ReadonlySet<string> = new Set("parallel rush fd fdfind alias hash".split(" "))

const EXEC = /^(?:exec|exe|x|dlx|run|explore|tool|--|-c|--call(?:=.*)?)$/
const IN_CONTAINER = /^(?:exec|run|create|debug|ssh|--)$/
const ON_ANOTHER = /^(?:ssh|exec|run|shell|rsh|console|run-command|-[cC]|--(?:command|parameters|scripts)(?:=.*)?|--)$/
const WITH_OTHERS = /^(?:exec|run|shell|develop|submit|-c|--command(?:=.*)?|--)$/
const FD_EXEC = /^-[a-zA-Z]*[xX]|^--exec/

function words(names: string, pattern: RegExp): readonly (readonly [string, RegExp])[] {
  return names.split(" ").map((name) => [name, pattern])
}

/** Words behind which these programs have a command. */
export const RUN_WORDS: ReadonlyMap<string, RegExp> = new Map([
  ["npm", /^(?:exec|exe|x|explore|--|-c|--call(?:=.*)?)$/],
  ...["pnpm", "yarn", "bun", "uv", "poetry", "pipenv", "bundle", "corepack"].map((name) => [name, EXEC] as const),
  // `-c` is a channel there.
  ...words("conda mamba micromamba", /^(?:run|exec|--)$/),
  ...["docker", "podman", "nerdctl", "docker-compose", "kubectl"].map((name) => [name, IN_CONTAINER] as const),
  [
    "git",
    /^(?:foreach|run|filter-branch|-[xO].*|-c|--(?:exec|extcmd|open-files-in-pager|upload-pack|receive-pack)(?:=.*)?)$/,
  ],
  ["go", /^--?(?:exec|toolexec|vettool)(?:=.*)?$/],
  ...words(
    "gcloud az aws oc lxc incus multipass limactl colima minikube heroku fly flyctl vagrant runc crun ctr crictl",
    ON_ANOTHER,
  ),
  ...words("nix guix flatpak volta asdf rbenv pyenv nvm fnm hatch pdm rye pixi rustup launchctl", WITH_OTHERS),
  [
    "tar",
    /^-[IF]|^--(?:to-command|checkpoint-action|use-compress-program|rsh-command|info-script|new-volume-script)(?:=|$)/,
  ],
  ["rsync", /^-[a-zA-Z]*e|^--(?:rsh|rsync-path)(?:=|$)/],
  ["scp", /^-[SDo]/],
  ["zip", /^-TT|^--unzip-command/],
  ...words("sort split install", /^--(?:compress-program|filter|strip-program)(?:=|$)/),
  ["fd", FD_EXEC],
  ["fdfind", FD_EXEC],
])

/** Programs that write whatever they are given: a pattern must name them. */
export const ALWAYS_WRITE: ReadonlySet<string> = new Set(["tee", "wget", "dd", "split", "csplit"])
/** Programs that write to the operand behind so many others. */
export const WRITES_TO_OPERAND: ReadonlyMap<string, number> = new Map([
  ["uniq", 1],
  ["xxd", 1],
])

/** Tests and prints of `find`. A person is asked about everything else it may do. */
export const FIND =
  "-name= -iname= -path= -ipath= -wholename= -regex= -iregex= -lname= -ilname= -type= -xtype= -size= -mtime= -atime= -ctime= -mmin= -amin= -cmin= -newer= -anewer= -cnewer= -newermt= -newerct= -maxdepth= -mindepth= -perm= -user= -group= -uid= -gid= -links= -inum= -samefile= -fstype= -used= -printf= -regextype= -depth -d -prune -print -print0 -ls -not -a -and -o -or -empty -nouser -nogroup -xdev -mount -follow -L -H -P -E -readable -writable -executable -true -false -quit -daystart -noleaf -ignore_readdir_race !-delete !-fprint= !-fprint0= !-fprintf= !-fls="

/** No program in the tables has a longer name, and longer ones are not gone through. */
const MAX_NAME_CHARS = 64

/** Their names say for which kind of machine they are. */
const LOADER = /^ld(?:64)?[-.].*\bso(?:\.\d+)*$/
const EMULATOR = /^qemu-(?!img|io|nbd|system).*$/

/** A program by the name under which the tables have it: without its folder, its version, and the `g` of GNU's. */
export function knownName(word: string, has: (name: string) => boolean): string {
  const file = word.slice(word.lastIndexOf("/") + 1)
  if (file.length > MAX_NAME_CHARS) return file
  const name = file
    .toLowerCase()
    .replace(/\.exe$/, "")
    .replace(LOADER, "ld.so")
    .replace(EMULATOR, "qemu")
  if (has(name)) return name
  const plain = name.replace(/[-.\d]+$/, "")
  const found = [plain, name.replace(/^(?:g|bsd)/, ""), plain.replace(/^(?:g|bsd)/, "")].find(has)
  return found ?? name
}

/**
 * A program that runs another one, so plainly that the other one can be told. Options by name: those without a value, and
 * those with one. Any other option makes it unreadable.
 */
export interface Wrapper {
  readonly flags?: RegExp
  readonly valued?: RegExp
  /** Words between the options and the command. */
  readonly operands?: number
  /** `A=1` before the command sets a variable. */
  readonly sets?: boolean
  /** The words behind the options are one text for a shell. */
  readonly isScript?: boolean
  /** It adds words of its own behind the command. */
  readonly adds?: boolean
  /** Words in the command are replaced by what it reads, where this option says which: `xargs -I`. */
  readonly replaces?: RegExp
  /** The command is one of a project or a registry, and no program of the machine: a pattern must name it. */
  readonly isForeign?: boolean
  /** Its words come first: `docker exec`. */
  readonly verbs?: readonly string[]
}

/** By name, in a Map: a program may be called `constructor`, which every object has. */
function mapOf<Row>(rows: Readonly<Record<string, Row>>): ReadonlyMap<string, Row> {
  return new Map(Object.entries(rows))
}

export const WRAPPERS: ReadonlyMap<string, readonly Wrapper[]> = mapOf({
  sudo: [{ flags: /^-[nEHSkKPB]+$/, valued: /^-[ugCrtTUp]$|^--(?:user|group)$/, sets: true }],
  doas: [{ flags: /^-[nL]+$/, valued: /^-[uC]$/ }],
  env: [{ flags: /^-[i0]+$|^-$|^--ignore-environment$/, valued: /^-u$|^--unset$/, sets: true }],
  nohup: [{}],
  setsid: [{ flags: /^-[cfw]+$/ }],
  nice: [{ flags: /^-\d+$|^--adjustment=-?\d+$|^-n-?\d+$/, valued: /^-n$|^--adjustment$/ }],
  ionice: [{ flags: /^-t$|^-[cn]\d$/, valued: /^-[cn]$/ }],
  stdbuf: [{ flags: /^-[ioe][L0-9]\w*$/, valued: /^-[ioe]$/ }],
  timeout: [
    { flags: /^--(?:foreground|preserve-status|verbose)$|^-[fpv]$|^-[sk]\w+$/, valued: /^-[sk]$/, operands: 1 },
  ],
  time: [{ flags: /^-[pv]$/ }],
  command: [{ flags: /^-p$/ }],
  builtin: [{}],
  exec: [{ flags: /^-[cl]+$/, valued: /^-a$/ }],
  eval: [{ isScript: true }],
  xargs: [
    {
      flags: /^-[0rtx]+$|^-[nPLI]\S+$|^--(?:null|no-run-if-empty|verbose)$|^--max-(?:args|procs|lines)=\d+$/,
      valued: /^-[nPLIdEs]$/,
      replaces: /^-I/,
      adds: true,
    },
  ],
  watch: [{ flags: /^-[bcdegtx]+$/, valued: /^-n$/, isScript: true }],
  ssh: [{ flags: /^-[46AaCfGgKkMNnqsTtVvXxYy]+$/, valued: /^-[pliJ]$/, operands: 1, isScript: true }],
  docker: [
    {
      verbs: ["exec"],
      flags: /^-[itd]+$|^--(?:interactive|tty|detach)$/,
      valued: /^-[uw]$|^--(?:user|workdir)$/,
      operands: 1,
    },
    { verbs: ["compose", "exec"], flags: /^-[Td]+$/, valued: /^-[uw]$|^--(?:user|workdir|index)$/, operands: 1 },
  ],
  podman: [{ verbs: ["exec"], flags: /^-[itd]+$/, valued: /^-[uw]$|^--(?:user|workdir)$/, operands: 1 }],
  "docker-compose": [{ verbs: ["exec"], flags: /^-[Td]+$/, valued: /^-[uw]$|^--(?:user|workdir|index)$/, operands: 1 }],
  npx: [{ flags: /^-y$|^--(?:yes|no|no-install|offline|prefer-offline|quiet)$/, isForeign: true }],
  bunx: [{ flags: /^--bun$/, isForeign: true }],
  bun: [{ verbs: ["x"], isForeign: true }],
  npm: [
    { verbs: ["exec"], flags: /^-y$|^--(?:yes|no)$/, isForeign: true },
    { verbs: ["x"], flags: /^-y$|^--(?:yes|no)$/, isForeign: true },
  ],
  pnpm: [
    { verbs: ["exec"], isForeign: true },
    { verbs: ["dlx"], isForeign: true },
  ],
  yarn: [
    { verbs: ["exec"], isForeign: true },
    { verbs: ["dlx"], isForeign: true },
  ],
  uvx: [{ isForeign: true }],
  uv: [{ verbs: ["run"], isForeign: true }],
  poetry: [{ verbs: ["run"], isForeign: true }],
  pipenv: [{ verbs: ["run"], isForeign: true }],
  bundle: [{ verbs: ["exec"], isForeign: true }],
})
