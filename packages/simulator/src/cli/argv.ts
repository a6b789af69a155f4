/** The command line, read: flags by their name, in either form, and what was not understood. */
export interface ParsedArguments {
  readonly values: ReadonlyMap<string, readonly string[]>
  readonly switches: ReadonlySet<string>
  readonly words: readonly string[]
  readonly unknown: readonly string[]
}

/** `value`: one follows. `list`: several may follow. `switch`: none does. `optional`: one may follow. */
const ARITIES = ["value", "list", "switch", "optional"] as const
type Arity = (typeof ARITIES)[number]

/** Every launch flag of the real CLIs that a host may pass, and the simulator's own. */
const BY_ARITY: Readonly<Record<Arity, string>> = {
  value:
    "output-format input-format sdk-url model fallback-model agent agents max-turns max-budget-usd " +
    "max-thinking-tokens thinking thinking-display effort task-budget json-schema debug-file " +
    "permission-prompt-tool permission-prompts permission-mode resume-session-at resume-drops-turn session-id " +
    "setting-sources settings managed-settings project-config-root system-prompt system-prompt-file " +
    "append-system-prompt append-system-prompt-file teammate-mode agent-id agent-name agent-type agent-color " +
    "team-name parent-session-id max-tokens cwd profile scenario speed seed simulate-tools model-url replay " +
    "record fault",
  list:
    "betas allowedTools allowed-tools disallowedTools disallowed-tools tools mcp-config add-dir plugin-dir " +
    "plugin-dir-no-mcp channels",
  optional: "debug resume from-pr remote teleport",
  switch:
    "verbose print debug-to-stderr allow-dangerously-skip-permissions dangerously-skip-permissions continue " +
    "fork-session no-session-persistence strict-mcp-config managed-settings-in-initialize " +
    "include-partial-messages include-hook-events replay-user-messages session-mirror await-initialize " +
    "await-claim enable-auth-status disable-slash-commands ide chrome no-chrome init init-only maintenance " +
    "plan-mode-required version help list json",
}
const FLAGS: ReadonlyMap<string, Arity> = new Map(
  ARITIES.flatMap((arity) => BY_ARITY[arity].split(" ").map((flag) => [flag, arity] as const)),
)

const SHORT: Readonly<Record<string, string>> = {
  p: "print",
  c: "continue",
  r: "resume",
  d: "debug",
  v: "version",
  h: "help",
}

export function parseArguments(argv: readonly string[]): ParsedArguments {
  const values = new Map<string, string[]>()
  const switches = new Set<string>()
  const words: string[] = []
  const unknown: string[] = []
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? ""
    const { name, tied } = readFlag(word)
    if (name === undefined) {
      words.push(word)
      continue
    }
    const arity = FLAGS.get(name)
    if (arity === undefined) {
      unknown.push(word)
      continue
    }
    switches.add(name)
    const taken = tied === undefined ? following(argv, at, arity) : [tied]
    if (tied === undefined) at += taken.length
    if (taken.length > 0) values.set(name, [...(values.get(name) ?? []), ...taken])
  }
  return { values, switches, words, unknown }
}

function readFlag(word: string): { name?: string; tied?: string } {
  const long = /^--([A-Za-z][\w-]*)(?:=([\s\S]*))?$/.exec(word)
  if (long !== null) return { name: long[1] ?? "", ...(long[2] === undefined ? {} : { tied: long[2] }) }
  const short = /^-([A-Za-z])$/.exec(word)
  return short === null ? {} : { name: SHORT[short[1] ?? ""] ?? `-${short[1]}` }
}

/** The words that belong to the flag at this place. */
function following(argv: readonly string[], at: number, arity: Arity): string[] {
  const next = argv[at + 1]
  if (arity === "switch" || next === undefined) return []
  if (arity === "value") return [next]
  if (arity === "optional") return next.startsWith("-") ? [] : [next]
  const taken: string[] = []
  for (let from = at + 1; from < argv.length && !(argv[from] ?? "").startsWith("-"); from++)
    taken.push(argv[from] ?? "")
  return taken
}
