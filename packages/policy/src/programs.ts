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

/** Builtins that change the folder for the commands behind them. */
export const FOLDER_CHANGERS: ReadonlySet<string> = new Set(["cd", "pushd", "popd", "chdir"])

/** Programs that carry out what they are given as text. */
export const SHELL_PROGRAMS: ReadonlySet<string> = new Set(SHELLS.split(" "))

/** Programs that carry out a file or text of a language, and read it from their input if they are given none. */
export const INTERPRETERS: ReadonlySet<string> = new Set(
  "python python2 python3 node nodejs deno bun perl ruby php lua luajit tclsh expect osascript Rscript irb ghci scala groovy julia pwsh".split(
    " ",
  ),
)

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
  /** Its words come first: `docker exec`. */
  readonly verbs?: readonly string[]
}

const LONG_FLAG = /^--[a-z][a-z-]*$/

export const WRAPPERS: Readonly<Record<string, readonly Wrapper[]>> = {
  sudo: [{ flags: /^-[nEHSkKPB]+$/, valued: /^-[ugCrtTUp]$|^--(?:user|group)$/, sets: true }],
  doas: [{ flags: /^-[nL]+$/, valued: /^-[uC]$/ }],
  env: [{ flags: /^-[i0]+$|^-$|^--ignore-environment$/, valued: /^-[uC]$|^--(?:unset|chdir)$/, sets: true }],
  nohup: [{}],
  setsid: [{ flags: /^-[cfw]+$/ }],
  nice: [{ flags: /^-\d+$|^--adjustment=-?\d+$|^-n-?\d+$/, valued: /^-n$|^--adjustment$/ }],
  ionice: [{ flags: /^-t$|^-[cn]\d$/, valued: /^-[cn]$/ }],
  stdbuf: [{ flags: /^-[ioe][L0-9]\w*$/, valued: /^-[ioe]$/ }],
  timeout: [
    { flags: /^--(?:foreground|preserve-status|verbose)$|^-[fpv]$|^-[sk]\w+$/, valued: /^-[sk]$/, operands: 1 },
  ],
  gtimeout: [{ flags: /^--(?:foreground|preserve-status)$/, valued: /^-[sk]$/, operands: 1 }],
  time: [{ flags: /^-[pv]$/ }],
  command: [{ flags: /^-p$/ }],
  builtin: [{}],
  exec: [{ flags: /^-[cl]+$/, valued: /^-a$/ }],
  eval: [{ isScript: true }],
  xargs: [
    {
      flags: /^-[0rtx]+$|^-[nPLI]\S+$|^--(?:null|no-run-if-empty|verbose)$|^--max-(?:args|procs|lines)=\d+$/,
      valued: /^-[nPLIdEs]$/,
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
  npx: [{ flags: /^-y$|^--(?:yes|no|no-install|offline|prefer-offline|quiet)$/ }],
  bunx: [{ flags: /^--bun$/ }],
  npm: [
    { verbs: ["exec"], flags: /^--$|^-y$|^--(?:yes|no)$/ },
    { verbs: ["x"], flags: /^--$|^-y$|^--(?:yes|no)$/ },
  ],
  pnpm: [{ verbs: ["exec"], flags: LONG_FLAG }, { verbs: ["dlx"] }],
  yarn: [{ verbs: ["exec"] }, { verbs: ["dlx"] }],
  uvx: [{}],
}

/** Verbs and options with which a program runs what nobody here can read, or that it takes from somewhere else. */
export const RUNS: Readonly<Record<string, RegExp>> = {
  git: /^(?:-c|-c\S.*|--config-env(?:=.*)?|--exec-path=.*|-x|--exec(?:=.*)?|--upload-pack(?:=.*)?|--receive-pack(?:=.*)?|-O\S*|--open-files-in-pager(?:=.*)?|--ext-diff|--textconv|--extcmd(?:=.*)?|foreach|run|filter-branch|difftool|mergetool|config|alias|hook|send-email|daemon|instaweb|ext::.*|fd::.*)$/,
  tar: /^--(?:to-c|checkpoint-a|use-c|rsh|info-s|new-volume|rmt)|^-[a-zA-Z]*[IF]/,
  rsync: /^-[a-zA-Z]*e|^--(?:rsh|rsync-path)/,
  scp: /^-[a-zA-Z]*[SoD]/,
  sftp: /^-[a-zA-Z]*[SoDb]/,
  curl: /^-[a-zA-Z#]*K|^--(?:conf|engine|proxy-service)/,
  wget: /^--(?:use-askpass|conf|exec)|^-e/,
  sort: /^--comp/,
  sed: /^-[a-zA-Z]*f|^--fi|(?:^|[;{}\d$/!|,#\u{e001}])[gpiImM\d]*[ewW](?:[;}\u{e001}]|$)|s(.).*\1.*\1[gpiImM\d]*[ew]/u,
  awk: /system\s*\(|\||getline|^-[a-zA-Z]*[fEl]|^--(?:fi|ex|lo|inc)|@(?:load|include)/,
  gawk: /system\s*\(|\||getline|^-[a-zA-Z]*[fEl]|^--(?:fi|ex|lo|inc)|@(?:load|include)/,
  mawk: /system\s*\(|\||getline|^-[a-zA-Z]*[fWE]/,
  rg: /^--(?:pre|hostname-bin)/,
  fd: /^-[a-zA-Z]*[xX]|^--exec/,
  fdfind: /^-[a-zA-Z]*[xX]|^--exec/,
  man: /^-[a-zA-Z]*[PpH]|^--(?:pag|html|pre)/,
  less: /^[-+]/,
  vim: /^[-+]/,
  vi: /^[-+]/,
  nano: /^-/,
  zip: /^-[a-zA-Z]*TT|^--unzip-command/,
  tcpdump: /^-[a-zA-Z]*[zw]/,
  go: /^(?:generate|run|tool)$|^-(?:exec|toolexec|vettool|overlay|modfile)/,
  cargo: /^(?:run|--config.*|-Z.*)$/,
  gcc: /^-(?:wrapper|fplugin|specs|B)/,
  openssl: /^-(?:engine|provider)/,
  make: /^(?!-(?:j\d*|s|k|B|n|i|w|silent)$)-|=/,
  docker: /^(?:run|create|build|buildx|compose|plugin|cp|load|import|swarm|service|stack)$/,
  podman: /^(?:run|create|build|play|kube|machine|cp|load|import)$/,
  kubectl: /^(?:exec|run|debug|apply|create|cp|plugin|proxy|edit)$/,
  npm: /^--(?:script-shell|node-options|prefix|userconfig|globalconfig)/,
  python: /^-[a-zA-Z]*[cmi]/,
  python3: /^-[a-zA-Z]*[cmi]/,
  node: /^-[a-zA-Z]*[epri]|^--(?:ev|pr|re|im|in|lo|exp|loader|inspect|env|openssl|require)/,
  perl: /^-[a-zA-Z0-9]*[eEMmiIxsSd]/,
  ruby: /^-[a-zA-Z0-9]*[erICxSi]/,
  php: /^-[a-zA-Z]*[rBREFdzc]/,
  lua: /^-[a-zA-Z]*[eli]/,
  deno: /^(?:eval|run|task|repl|install|x)$/,
  bun: /^(?:-[ep]|x|run|--eval|--print|-r|--preload)$/,
  osascript: /^-/,
}

/** Options by which a program that is known for reading writes. */
export const WRITES: Readonly<Record<string, RegExp>> = {
  sed: /^-[a-zA-Z]*i|^--i/,
  awk: />|^-i|^--inp|^-o|^--(?:dump|prof|pretty)/,
  gawk: />|^-i|^--inp|^-o|^--(?:dump|prof|pretty)/,
  mawk: />/,
  perl: /^-[a-zA-Z0-9]*i/,
  yq: /^-[a-zA-Z]*i|^--in/,
  curl: /^-[a-zA-Z#]*[oOJTcD]|^--(?:out|rem|upl|cookie-j|dump|trace|stde|libc|etag-s|hsts|alt)/,
  wget: /^(?!--spider$)/,
  sort: /^-[a-zA-Z]*o|^--o/,
  uniq: /^[^-]/,
  tee: /^[^-]/,
  dd: /^of=/,
  find: /^-(?:delete|fprint|fprint0|fprintf|fls)$/,
  gfind: /^-(?:delete|fprint|fprint0|fprintf|fls)$/,
  git: /^(?:--output(?:=.*)?|-o|-o\S.*)$/,
  tree: /^-[a-zA-Z]*o|^--output/,
  xxd: /^-[a-zA-Z]*r/,
  date: /^-[a-zA-Z]*s|^--se/,
  openssl: /^-(?:out|writerand)/,
  tcpdump: /^-[a-zA-Z]*w/,
  file: /^-[a-zA-Z]*C|^--comp/,
  diff: /^--output/,
  shuf: /^-[a-zA-Z]*o|^--ou/,
  base64: /^-[a-zA-Z]*o|^--output/,
}

/** Programs that write whatever they are given: a pattern must name them. */
export const ALWAYS_WRITE: ReadonlySet<string> = new Set(["tee", "wget", "uniq", "dd"])
