import { existsSync, statSync } from "node:fs"
import type { Hub, Runner } from "@signalbox/client"
import { counted } from "@signalbox/protocol"
import type { CommandContext } from "../base/command-context.ts"
import { type DataDirectory, type DataOption, dataDirectory } from "../base/data-directory.ts"
import { exitCodeOf, oneLine } from "../base/failure.ts"
import { nextCommand } from "../base/next-command.ts"
import { isAlive, readCard } from "../base/process-card.ts"
import { findHub } from "../hub/find-hub.ts"
import { withHub } from "../hub/with-hub.ts"
import { ago } from "../terminal/moments.ts"
import { type Check, note, ok, wrong } from "./check.ts"
import { signInCheck } from "./machine-checks.ts"

/** The hub, its runners and its tokens, as far as one gets. */
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

/** None is running; or one is named, by an address that is none or without a token for it. */
function notFound(error: unknown, options: DataOption, { env }: CommandContext): Check {
  if (exitCodeOf(error) === 3) return note("hub", "not running", `start it: ${nextCommand("up", options, env)}`)
  const [found, todo = "see signalbox --help"] = oneLine(error).split(/[:;] (?=set )/)
  return wrong("hub", found ?? `${env["SIGNALBOX_URL"]} cannot be used`, todo)
}

interface Place {
  readonly url: string
  readonly data: DataDirectory
  readonly next: (words: string) => string
}

function unreachable(error: unknown, { url, data, next }: Place): Check {
  if (exitCodeOf(error) === 4) return wrong("hub", `${url} refuses the token`, "set SIGNALBOX_TOKEN to a valid one")
  const card = readCard(data.hubCard)
  if (card?.url === url && !isAlive(card)) return note("hub", "ended without a word", `start it again: ${next("up")}`)
  return wrong("hub", oneLine(error), `look at its output, or start it again: ${next("down")}, ${next("up")}`)
}

/** Without a hub to ask: what the runner beside it has written down. */
async function checkOwnRunner({ runnerState }: DataDirectory, next: Place["next"]): Promise<Check> {
  const { agentsIn, findRunner } = await import("@signalbox/runner")
  const pid = existsSync(runnerState) ? await findRunner(runnerState) : undefined
  if (pid === undefined) return note("runner", "none lives here", `nothing: ${next("up")} starts one`)
  const count = await agentsIn(runnerState).catch(() => undefined)
  const agents = count === undefined ? "agents that cannot be counted" : counted(count, "agent")
  const todo = `${next("up")} finds it again; to end it with its agents: ${next("down --agents")}`
  return note("runner", `lives here without a hub (pid ${pid}, ${agents})`, todo)
}

async function askHub(hub: Hub, { url, data, next }: Place): Promise<Check[]> {
  const { role } = await hub.me({ repeatable: false })
  return [
    ok("hub", `${url}, you are ${role}`),
    ...(await checkRunners(hub, next)),
    await checkTokens(hub, role, { data, next }),
  ]
}

async function checkRunners(hub: Hub, next: Place["next"]): Promise<Check[]> {
  const runners = await hub.runners.list()
  const here = runners.filter(({ connected }) => connected)
  const names = here.map(({ name, agents }) => `${name} (${counted(agents, "agent")})`)
  const absent = runners.filter(({ connected }) => !connected)
  const away = absent.map(({ name, seenAt }) => `${name} (seen ${ago(seenAt, Date.now())} ago)`).join(", ")
  if (here.length > 0) {
    const todo = "start signalbox runner there again, or forget the machine in the cockpit"
    const check =
      away === "" ? ok("runner", names.join(", ")) : note("runner", `${names.join(", ")}; away: ${away}`, todo)
    return [check, ...readinessOf(here)]
  }
  const found = away === "" ? "none" : `none connected; known: ${away}`
  const check = wrong(
    "runner",
    found,
    `end the hub and start it with one: ${next("down")}, then ${next("up")}; or signalbox runner --hub URL; see runner.log`,
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
  if (!existsSync(adminToken)) return note("tokens", "no admin token yet", "nothing: signalbox up makes it")
  if (process.platform !== "win32" && (statSync(adminToken).mode & 0o077) !== 0)
    return wrong("tokens", `${adminToken} can be read by others`, `chmod 600 ${adminToken}`)
  return ok("tokens", "the admin's is yours alone")
}
