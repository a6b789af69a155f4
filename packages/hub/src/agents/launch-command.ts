import { isObject } from "@signalbox/protocol"
import type { Enforce, NewSession } from "@signalbox/protocol/hub-api"
import { DEFAULT_MODE, type LaunchOptions, MACHINE_MODE } from "@signalbox/protocol/launch-options"
import { claudeArguments, launchFlags } from "@signalbox/transport/process"
import { HubError } from "../errors.ts"

/** To whoever wants an agent that dials in by itself judged. */
export const NOT_ENFORCED_DIRECTLY = "the policy cannot judge every tool call of an agent that dials in by itself"
const OTHERWISE = 'start it on a runner, or let an admin make the session with enforce "asked"'

/** The last version whose `--sdk-url` takes a hub's address. */
const LAST_TO_DIAL = [2, 1, 120] as const

/** As every host of ours starts a CLI: the echo of a message is its receipt, and what is said is seen as it is said. */
const HOST_FLAGS = [
  ..."--print --output-format stream-json --input-format stream-json --verbose".split(" "),
  ..."--replay-user-messages --include-partial-messages".split(" "),
]

/** The person who starts an agent by hand decides where, and with what around it. */
export function refuseByHand(request: NewSession, policy: { readonly enforce: Enforce }): void {
  if ((request.enforce ?? policy.enforce) === "everything") {
    throw new HubError("policy/cannot-enforce", `${NOT_ENFORCED_DIRECTLY}: ${OTHERWISE}`)
  }
  const given = (["runner", "worktree", "env"] as const).find(
    (name) => request[name] !== undefined && request[name] !== false,
  )
  if (given === undefined) return
  throw new HubError("request/invalid", `${given}: an agent that is started by hand is not given this; leave it out`)
}

export interface LaunchCommandOptions {
  readonly url: string
  readonly token: string
  readonly model?: string | undefined
  readonly permissionMode?: string | undefined
  /** The CLI's own id of the conversation to go on with. */
  readonly resume?: string | undefined
  readonly continue?: boolean | undefined
  readonly fork?: boolean | undefined
  readonly resumeAt?: string | undefined
  readonly args?: readonly string[] | undefined
  readonly options?: LaunchOptions | undefined
  /** Version of the `claude` on this machine, when one was found. */
  readonly version?: string | undefined
}

/** A command line to paste, and what must be known before one does. */
export function commandFor(options: LaunchCommandOptions): { command: string; note?: string } {
  const { permissionMode = DEFAULT_MODE } = options
  const { options: launch, variables } = withNamedSecrets(options.options ?? {})
  const flags = [
    "--sdk-url",
    options.url,
    ...HOST_FLAGS,
    ...claudeArguments({
      ...launchFlags(launch),
      model: options.model,
      // Always said, but for what the machine's own settings are to say.
      permissionMode: permissionMode === MACHINE_MODE ? undefined : permissionMode,
      resume: options.resume,
      continue: options.continue,
      forkSession: options.fork,
      resumeSessionAt: options.resumeAt,
    }).slice(claudeArguments().length),
    ...(options.args ?? []),
  ]
  const command = `CLAUDE_CODE_SESSION_ACCESS_TOKEN=${quote(options.token)} claude ${flags.map(quote).join(" ")}`
  const notes = [noteFor(options.version), noteOn(variables)].filter((note) => note !== undefined)
  return notes.length === 0 ? { command } : { command, note: notes.join(" ") }
}

function canDial(version: string): boolean {
  const parts = version.split(".").map(Number)
  for (const [index, last] of LAST_TO_DIAL.entries()) {
    const own = parts[index] ?? 0
    if (own !== last) return own < last
  }
  return true
}

function noteFor(version: string | undefined): string | undefined {
  if (version === undefined) return "This needs claude 2.1.120 or older: newer ones do not dial, and need a runner."
  if (canDial(version)) return undefined
  return `The claude on this machine is ${version} and cannot dial a hub: from 2.1.121 on --sdk-url takes only its vendor's own hosts. Use a runner, or install 2.1.120.`
}

function noteOn(variables: readonly string[]): string | undefined {
  if (variables.length === 0) return undefined
  return `Set ${variables.join(", ")} first: the command leaves out the header and environment values of MCP servers.`
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** Fields of an MCP server whose values may be tokens. */
const FIELDS = ["headers", "env"] as const
/** The CLI fills it in itself. A default, as in `${NAME:-text}`, could be a token. */
const REFERENCE = /^(?:[A-Za-z]+ )?\$\{[A-Za-z_]\w*\}$/

/** By name of a variable, the number to try next for another of the same name. Thousands of equal names stay cheap so. */
type Taken = Map<string, number>

/**
 * The options for a command line that people see: a variable, which the CLI reads from its environment, stands for each
 * header or environment value of an MCP server.
 */
function withNamedSecrets(options: LaunchOptions): { options: LaunchOptions; variables: readonly string[] } {
  if (options.mcpServers === undefined) return { options, variables: [] }
  const taken: Taken = new Map()
  const servers = Object.entries(options.mcpServers).map(([server, config]) => {
    const named = FIELDS.flatMap((field) => {
      const values = config[field]
      if (!isObject(values)) return []
      const name = ([key, value]: [string, unknown]) => [key, reference(`${server}_${key}`, value, taken)]
      return [[field, Object.fromEntries(Object.entries(values).map(name))]]
    })
    return [server, { ...config, ...Object.fromEntries(named) }]
  })
  return { options: { ...options, mcpServers: Object.fromEntries(servers) }, variables: [...taken.keys()] }
}

function reference(name: string, value: unknown, taken: Taken): unknown {
  if (typeof value === "string" && REFERENCE.test(value)) return value
  const plain = `MCP_${name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_")}`
  const variable = freeName(plain, taken)
  taken.set(variable, 2)
  return `\${${variable}}`
}

function freeName(plain: string, taken: Taken): string {
  for (let nth = taken.get(plain); nth !== undefined; nth++) {
    const numbered = `${plain}_${nth}`
    taken.set(plain, nth + 1)
    if (!taken.has(numbered)) return numbered
  }
  return plain
}
