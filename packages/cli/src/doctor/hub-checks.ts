import { existsSync, statSync } from "node:fs"
import type { Hub, Runner } from "@signalbox/client"
import { bytesWords, counted } from "@signalbox/protocol"
import type { CommandContext } from "../base/context.ts"
import { type DataDirectory, type DataOption, dataDirectory, nextCommand } from "../base/context.ts"
import { exitCodeOf, oneLine } from "../base/failure.ts"
import { isAlive, readCard } from "../base/process-files.ts"
import { findHub, withHub } from "../hub/connect.ts"
import { ago } from "../terminal/text.ts"
import { type Check, note, ok, signInCheck, wrong } from "./machine-checks.ts"

/** Checks the hub, its runners and its tokens, as far as they can be reached. */
export async function checkHub(options: DataOption, context: CommandContext): Promise<Check[]> {
  const data = dataDirectory(options, context.env)
  const next = (words: string) => nextCommand(words, options, context.env)
  let url: string
  try {
    url = findHub(options, context).url
  } catch (error) {
    return [notFound(error, options, context), await checkOwnRunner(data, next), checkToken(data)]
  }
  try {
    return await withHub(options, context, (hub) => askHub(hub, { url, data, next }))
  } catch (error) {
    return [unreachable(error, { url, data, next }), await checkOwnRunner(data, next), checkToken(data)]
  }
}

/** No hub is running; or a named one has a wrong address or no token. */
function notFound(error: unknown, options: DataOption, { env }: CommandContext): Check {
  if (exitCodeOf(error) === 3) return note("hub", "not running", `start it: ${nextCommand("up", options, env)}`)
  const [found, todo = "see signalbox --help"] = oneLine(error).split(/[:;] (?=set )/)
  return wrong("hub", found ?? `${env["SIGNALBOX_URL"]} is not usable`, todo)
}

interface Place {
  readonly url: string
  readonly data: DataDirectory
  readonly next: (words: string) => string
}

function unreachable(error: unknown, { url, data, next }: Place): Check {
  if (exitCodeOf(error) === 4) return wrong("hub", `${url} rejects the token`, "set SIGNALBOX_TOKEN to a valid one")
  const card = readCard(data.hubCard)
  if (card?.url === url && !isAlive(card)) return note("hub", "crashed", `start it again: ${next("up")}`)
  return wrong("hub", oneLine(error), `check its output, or restart it: ${next("down")}, ${next("up")}`)
}

/** Without a hub to ask, the runner's own files tell. */
async function checkOwnRunner({ runnerState }: DataDirectory, next: Place["next"]): Promise<Check> {
  const { agentsIn, findRunner } = await import("@signalbox/runner")
  const pid = existsSync(runnerState) ? await findRunner(runnerState) : undefined
  if (pid === undefined) return note("runner", "not running", `nothing: ${next("up")} starts one`)
  const count = await agentsIn(runnerState).catch(() => undefined)
  const agents = count === undefined ? "an unknown number of agents" : counted(count, "agent")
  const todo = `reconnect: ${next("up")}; stop it with its agents: ${next("down --agents")}`
  return note("runner", `running without a hub (pid ${pid}, ${agents})`, todo)
}

async function askHub(hub: Hub, { url, data, next }: Place): Promise<Check[]> {
  const { role } = await hub.me({ repeatable: false })
  return [
    ok("hub", `${url}, your role: ${role}`),
    ...(await checkStore(hub, next)),
    ...(await checkRunners(hub, next)),
    await checkTokens(hub, role, { data, next }),
  ]
}

/** How large the hub's history is, and how fast it grows. An older hub does not tell. */
async function checkStore(hub: Hub, next: Place["next"]): Promise<Check[]> {
  const size = await hub.storeSize({ repeatable: false }).catch(() => undefined)
  if (size === undefined) return []
  const { bytes, freeBytes, searchBytes, events, dayAgo, canShrink } = size
  const grown = dayAgo === undefined ? "" : `, grew by ${bytesWords(Math.max(0, bytes - dayAgo.bytes))} in a day`
  const found = `${bytesWords(bytes)} (${bytesWords(freeBytes)} free)${grown}, search index ${bytesWords(searchBytes)}; ${counted(events, "event")}`
  if (canShrink) return [ok("store", found)]
  const todo =
    `the file doesn't shrink when sessions are deleted; a restored one does: ${next("down")}, ${next("backup FILE")}, ` +
    `move signalbox.db out of the data directory, ${next("restore FILE")}, ${next("up")}`
  return [note("store", found, todo)]
}

async function checkRunners(hub: Hub, next: Place["next"]): Promise<Check[]> {
  const runners = await hub.runners.list()
  const here = runners.filter(({ connected }) => connected)
  const names = here.map(({ name, agents }) => `${name} (${counted(agents, "agent")})`)
  const absent = runners.filter(({ connected }) => !connected)
  const away = absent.map(({ name, seenAt }) => `${name} (seen ${ago(seenAt, Date.now())} ago)`).join(", ")
  if (here.length > 0) {
    const todo = "start signalbox runner there again, or remove the machine in the cockpit"
    const check =
      away === "" ? ok("runner", names.join(", ")) : note("runner", `${names.join(", ")}; disconnected: ${away}`, todo)
    return [check, ...readinessOf(here)]
  }
  const found = away === "" ? "none" : `none connected; disconnected: ${away}`
  const check = wrong(
    "runner",
    found,
    `restart the hub with a runner: ${next("down")}, then ${next("up")}; or signalbox runner --hub URL; see runner.log`,
  )
  return [check]
}

/** Checks what the runners report about themselves; the first problem wins. Older runners report nothing. */
function readinessOf(runners: readonly Runner[]): Check[] {
  const claude = runners.map(({ name, claudePath, claudeProblem, cliVersions }) => {
    if (claudePath !== undefined) return ok("claude", `${cliVersions.join(", ")} at ${claudePath} on ${name}`)
    const todo = "npm install -g @anthropic-ai/claude-code there, or set CLAUDE_BIN; without it: --agent simulator"
    return claudeProblem === undefined ? undefined : wrong("claude", `${claudeProblem} (on ${name})`, todo)
  })
  const signIn = runners.map((runner) =>
    "signIn" in runner ? signInCheck(runner.signIn, `on ${runner.name}`) : undefined,
  )
  return [claude, signIn].flatMap((checks) => {
    const told = checks.filter((check) => check !== undefined)
    return told.find(({ state }) => state === "wrong") ?? told[0] ?? []
  })
}

async function checkTokens(hub: Hub, role: string, { data, next }: Pick<Place, "data" | "next">): Promise<Check> {
  const own = checkToken(data)
  if (own.state === "wrong" || role !== "admin") return own
  const { tokens } = await hub.tokens.list()
  const valid = tokens.filter(({ revokedAt, role: its }) => revokedAt === null && its !== "agent")
  return ok("tokens", `${valid.length} valid (${next("token ls")})`)
}

function checkToken({ adminToken }: DataDirectory): Check {
  if (!existsSync(adminToken)) return note("tokens", "no admin token yet", "nothing: signalbox up creates it")
  if (process.platform !== "win32" && (statSync(adminToken).mode & 0o077) !== 0)
    return wrong("tokens", `${adminToken} can be read by others`, `chmod 600 ${adminToken}`)
  return ok("tokens", "admin token private")
}
