import type { Machine } from "./machine-store.tsx"

/** The `claude` of a machine: what was found, and what is left to do before it can be started. */
interface ClaudeFound {
  readonly isFound: boolean
  readonly words: string
  readonly todo?: string
  /** Run on that machine, it does what is left to do. */
  readonly command?: string
}

const INSTALL = "npm install -g @anthropic-ai/claude-code"

/** From what the runner tells. It looks whether there are credentials, and never reads them. */
export function claudeOn({ name, cliVersions, claudePath, signIn }: Machine): ClaudeFound {
  const [version] = cliVersions
  if (version === undefined && claudePath === undefined)
    return { isFound: false, words: `Claude Code isn't installed on ${name}.`, todo: "Install it:", command: INSTALL }
  const found = `Claude Code ${version ?? ""} on ${name}`.replace("  ", " ")
  if (typeof signIn === "string") return { isFound: true, words: `${found}, signed in.` }
  const todo = `Run claude on ${name} and sign in with /login:`
  if (signIn === null) return { isFound: true, words: `${found}, not signed in.`, todo, command: "claude" }
  return { isFound: true, words: `${found}. Couldn't check whether it's signed in.` }
}

/** The machine that a first session goes to: one that has `claude`, then any that can be used. */
export function firstMachine(machines: readonly Machine[]): Machine | undefined {
  const usable = machines.filter(({ connected, draining }) => connected && !draining)
  return usable.find((one) => claudeOn(one).isFound) ?? usable[0]
}
