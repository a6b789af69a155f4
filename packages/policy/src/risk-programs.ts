import type { RiskCue, RiskKind } from "./risk-cues.ts"

/** Words behind the program that must be there, one of each group. No groups: the program alone is enough. */
interface RiskRule {
  readonly kind: RiskKind
  readonly programs: readonly string[]
  readonly words?: readonly RegExp[]
}

const rule = (kind: RiskKind, programs: string, ...words: readonly RegExp[]): RiskRule => ({
  kind,
  programs: programs.split(" "),
  words,
})

/** Plain rules, one for each thing that is known of a program. */
const RULES: readonly RiskRule[] = [
  rule("deletes", "rm rmdir unlink shred trash del wipefs dropdb dropuser mkfs mkfs.ext4 mkfs.xfs fdisk parted"),
  rule("deletes", "git", /^(?:clean|rm)$/),
  rule("deletes", "git", /^(?:reset|checkout|restore)$/, /^(?:--hard|--|\.|--worktree)$/),
  rule("deletes", "git", /^(?:branch|tag|push)$/, /^(?:-[a-zA-Z]*[dD][a-zA-Z]*|--delete|:.+)$/),
  rule("deletes", "git", /^(?:stash|worktree)$/, /^(?:drop|clear|remove)$/),
  rule("deletes", "find fd fdfind", /^-delete$/),
  rule("deletes", "docker podman nerdctl docker-compose", /^(?:rm|rmi|prune|down)$/),
  rule("deletes", "kubectl oc helm", /^(?:delete|uninstall|drain)$/),
  rule("deletes", "terraform tofu pulumi cdk", /^destroy$/),
  rule("deletes", "aws gcloud az gsutil s3cmd", /^(?:rm|rb|del|delete(?:-.+)?|terminate(?:-.+)?)$/),
  rule("deletes", "gh glab", /^(?:repo|release|secret)$/, /^delete$/),
  rule("deletes", "npm", /^unpublish$/),
  rule("deletes", "rsync", /^--delete(?:-.+)?$/),
  rule("deletes", "dd", /^of=\/dev\//),
  rule("deletes", "truncate crontab", /^-(?:s|r|-size)/),
  rule("forces", "git", /^push$/, /^(?:-[a-zA-Z]*f[a-zA-Z]*|--force(?:-with-lease)?(?:=.*)?|\+.+)$/),
  rule("forces", "git", /^(?:checkout|switch|clean|add|branch|tag|mv)$/, /^(?:-f|-[a-z]*f[a-z]*|--force)$/),
  rule("forces", "git", /^(?:commit|push|merge|rebase)$/, /^--no-verify$/),
  rule("forces", "git", /^commit$/, /^-n$/),
  rule("forces", "git", /^(?:rebase|filter-branch|filter-repo)$/),
  rule(
    "forces",
    "npm yarn pnpm pip pip3 kubectl helm docker brew apt apt-get",
    /^(?:--force|--break-system-packages)$/,
  ),
  rule("forces", "chmod", /^(?:-R|--recursive|0?777|a\+rwx)$/),
  rule("forces", "chown chgrp", /^(?:-R|--recursive)$/),
  rule("forces", "kill pkill killall", /^-(?:9|KILL|SIGKILL)$/),
  rule("superuser", "sudo doas su pkexec run0 sudoedit"),
  rule("network", "curl wget http aria2c ssh scp sftp ftp telnet nc ncat netcat socat lynx mosh"),
  rule("network", "rsync", /^[^/]+:/),
  rule("network", "git", /^(?:push|pull|fetch|clone|ls-remote|submodule)$/),
  rule("network", "npm pnpm yarn bun", /^(?:install|i|ci|add|publish|update|upgrade|exec|dlx|audit|login)$/),
  rule("network", "npx pnpx bunx uvx pipx"),
  rule(
    "network",
    "pip pip3 uv cargo gem go brew apt apt-get dnf yum apk poetry composer",
    /^(?:install|add|get|update|upgrade|publish|download|sync)$/,
  ),
  rule("network", "docker podman nerdctl", /^(?:pull|push|login)$/),
  rule("network", "kubectl helm oc gh glab aws gcloud az gsutil terraform tofu pulumi vercel netlify fly heroku doctl"),
  rule("secret", "printenv"),
  rule("secret", "security", /^(?:find|dump)-/),
  rule("secret", "gh", /^(?:auth|secret)$/),
  rule("secret", "kubectl", /^get$/, /^secrets?(?:\/.*)?$/),
]

const BY_PROGRAM: ReadonlyMap<string, readonly RiskRule[]> = byProgram()

function byProgram(): Map<string, RiskRule[]> {
  const map = new Map<string, RiskRule[]>()
  for (const each of RULES) for (const program of each.programs) map.set(program, [...(map.get(program) ?? []), each])
  return map
}

/** SQL that takes data away, in whatever word it is handed over. */
const SQL = /\b(?:drop\s+(?:table|database|schema|index|view)|delete\s+from|truncate\s+(?:table\s+)?\w)/i
const MAX_WORDS = 2000

/** Cues of one command, by its own words. */
export function commandCues(name: string, texts: readonly string[]): readonly RiskCue[] {
  const words = texts.slice(1, MAX_WORDS)
  const found = texts.join(" ")
  const cues = (BY_PROGRAM.get(name) ?? [])
    .filter((each) => (each.words ?? []).every((wanted) => words.some((word) => wanted.test(word))))
    .map(({ kind }) => ({ kind, found }))
  const sql = words.find((word) => SQL.test(word.slice(0, MAX_WORDS)))
  return sql === undefined ? cues : [...cues, { kind: "deletes", found: sql }]
}

const PRODUCTION = /(?:^|[^a-z0-9])(?:prod|production|prd)(?:$|[^a-z0-9])/i
/** Flags of package managers name no place. */
const NO_PLACE = /^(?:--(?:only=|omit=|include=)?(?:prod|production)|NODE_ENV=.*|mode=production|--mode=production)$/

export function namesProduction(word: string): boolean {
  return word.length < 1000 && PRODUCTION.test(word) && !NO_PLACE.test(word)
}

const SECRET =
  /(?:^|[/=@:])(?:\.env(?:\.(?!example|sample|template|dist)[\w.-]+)?|id_(?:rsa|dsa|ecdsa|ed25519)|\.netrc|\.npmrc|\.pypirc|\.pgpass|\.git-credentials|\.htpasswd|credentials(?:\.json)?|secrets?\.(?:ya?ml|json|toml|env)|[\w.-]+\.(?:pem|key|p12|pfx|kdbx|jks))$|(?:^|\/)\.(?:ssh|aws|gnupg|kube|docker)(?:\/|$)|(?:^|[^\w])(?:sk-ant-|ghp_|github_pat_|glpat-|xox[bp]-|AKIA[A-Z0-9]{8})/

export function namesSecret(word: string): boolean {
  return word.length < 4096 && SECRET.test(word)
}

/** Programs that write to their operands: to all of them, or to the last. */
const WRITES_ALL: ReadonlySet<string> = new Set("rm rmdir unlink shred tee touch mkdir truncate chmod chown".split(" "))
const WRITES_LAST: ReadonlySet<string> = new Set("cp mv ln install rsync scp".split(" "))

/** Options that name a file or folder to write to, behind the option or behind `=`. */
const WRITES_OPTION: Readonly<Record<string, RegExp>> = {
  cp: /^(?:-t|--target-directory)$/,
  mv: /^(?:-t|--target-directory)$/,
  ln: /^(?:-t|--target-directory)$/,
  install: /^(?:-t|--target-directory)$/,
  curl: /^(?:-o|--output|--output-dir)$/,
  wget: /^(?:-O|--output-document|-P|--directory-prefix)$/,
  dd: /^of$/,
  sort: /^(?:-o|--output)$/,
}

/** The files that a command would write, as far as its operands say. */
export function targetsOf(name: string, texts: readonly string[]): readonly string[] {
  const words = texts.slice(1, MAX_WORDS)
  const operands = words.filter((text) => !text.startsWith("-"))
  const named = optionTargets(words, WRITES_OPTION[name])
  if (WRITES_ALL.has(name)) return operands
  if (name === "sed" || name === "perl")
    return words.some((word) => /^(?:-[a-zA-Z]*i|--in-place)/.test(word)) ? operands.slice(1) : []
  return [...named, ...(WRITES_LAST.has(name) && named.length === 0 ? operands.slice(-1) : [])]
}

function optionTargets(words: readonly string[], option: RegExp | undefined): readonly string[] {
  if (option === undefined) return []
  return words.flatMap((word, index) => {
    const [flag = "", value] = word.split("=", 2)
    if (!option.test(flag)) return []
    const target = value ?? words[index + 1]
    return target === undefined ? [] : [target]
  })
}
