/** The command line, read: flags by their name, in either form, and what was not understood. */
export interface ParsedArguments {
  readonly values: ReadonlyMap<string, readonly string[]>
  readonly switches: ReadonlySet<string>
  readonly words: readonly string[]
  readonly unknown: readonly string[]
}

/** `value`: one follows. `list`: several may follow. `switch`: none does. `optional`: one may follow. */
type Arity = "value" | "list" | "switch" | "optional"

const FLAGS: Readonly<Record<string, Arity>> = {
  // Every launch flag of the real CLIs that a host may pass.
  "output-format": "value",
  "input-format": "value",
  verbose: "switch",
  print: "switch",
  "sdk-url": "value",
  model: "value",
  "fallback-model": "value",
  agent: "value",
  agents: "value",
  "max-turns": "value",
  "max-budget-usd": "value",
  "max-thinking-tokens": "value",
  thinking: "value",
  "thinking-display": "value",
  effort: "value",
  "task-budget": "value",
  betas: "list",
  "json-schema": "value",
  debug: "optional",
  "debug-file": "value",
  "debug-to-stderr": "switch",
  "permission-prompt-tool": "value",
  "permission-prompts": "value",
  "permission-mode": "value",
  "allow-dangerously-skip-permissions": "switch",
  "dangerously-skip-permissions": "switch",
  continue: "switch",
  resume: "optional",
  "fork-session": "switch",
  "resume-session-at": "value",
  "resume-drops-turn": "value",
  "session-id": "value",
  "no-session-persistence": "switch",
  allowedTools: "list",
  "allowed-tools": "list",
  disallowedTools: "list",
  "disallowed-tools": "list",
  tools: "list",
  "mcp-config": "list",
  "strict-mcp-config": "switch",
  "setting-sources": "value",
  settings: "value",
  "managed-settings": "value",
  "managed-settings-in-initialize": "switch",
  "project-config-root": "value",
  "add-dir": "list",
  "plugin-dir": "list",
  "plugin-dir-no-mcp": "list",
  "include-partial-messages": "switch",
  "include-hook-events": "switch",
  "replay-user-messages": "switch",
  "session-mirror": "switch",
  "await-initialize": "switch",
  "await-claim": "switch",
  "enable-auth-status": "switch",
  "system-prompt": "value",
  "system-prompt-file": "value",
  "append-system-prompt": "value",
  "append-system-prompt-file": "value",
  channels: "list",
  "disable-slash-commands": "switch",
  ide: "switch",
  chrome: "switch",
  "no-chrome": "switch",
  "from-pr": "optional",
  init: "switch",
  "init-only": "switch",
  maintenance: "switch",
  remote: "optional",
  teleport: "optional",
  "teammate-mode": "value",
  "agent-id": "value",
  "agent-name": "value",
  "agent-type": "value",
  "agent-color": "value",
  "team-name": "value",
  "parent-session-id": "value",
  "plan-mode-required": "switch",
  "max-tokens": "value",
  cwd: "value",
  version: "switch",
  help: "switch",
  // The simulator's own.
  profile: "value",
  scenario: "value",
  speed: "value",
  seed: "value",
  "simulate-tools": "value",
  "model-url": "value",
  list: "switch",
  json: "switch",
  replay: "value",
  record: "value",
  fault: "value",
}

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
    const arity = Object.hasOwn(FLAGS, name) ? FLAGS[name] : undefined
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
