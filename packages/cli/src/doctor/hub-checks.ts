import { existsSync, statSync } from "node:fs"
import type { Hub } from "@signalbox/client"
import type { CommandContext } from "../command-context.ts"
import { type DataDirectory, type DataOption, dataDirectory } from "../data-directory.ts"
import { exitCodeOf, oneLine } from "../failure.ts"
import { findHub } from "../hub/find-hub.ts"
import { withHub } from "../hub/with-hub.ts"
import { isAlive, readCard } from "../process-card.ts"
import { type Check, note, ok, wrong } from "./check.ts"

/** The hub, its runners and its tokens, as far as one gets. */
export async function checkHub(options: DataOption, context: CommandContext): Promise<Check[]> {
  const data = dataDirectory(options, context.env)
  let url: string
  try {
    url = findHub(options, context).url
  } catch (error) {
    return [notFound(error, context), checkToken(data)]
  }
  try {
    return await withHub(options, context, (hub) => askHub(hub, { url, data }))
  } catch (error) {
    return [unreachable(error, { url, data }), checkToken(data)]
  }
}

/** None is running; or one is named, by an address that is none or without a token for it. */
function notFound(error: unknown, { env }: CommandContext): Check {
  if (exitCodeOf(error) === 3) return note("hub", "not running", "start it: signalbox up")
  const [found, todo = "see signalbox --help"] = oneLine(error).split(/[:;] (?=set )/)
  return wrong("hub", found ?? `${env["SIGNALBOX_URL"]} cannot be used`, todo)
}

interface Place {
  readonly url: string
  readonly data: DataDirectory
}

function unreachable(error: unknown, { url, data }: Place): Check {
  if (exitCodeOf(error) === 4) return wrong("hub", `${url} refuses the token`, "set SIGNALBOX_TOKEN to a valid one")
  const card = readCard(data.hubCard)
  if (card?.url === url && !isAlive(card)) return note("hub", "ended without a word", "start it again: signalbox up")
  return wrong("hub", oneLine(error), "look at its output, or start it again: signalbox down, signalbox up")
}

async function askHub(hub: Hub, { url, data }: Place): Promise<Check[]> {
  const { role } = await hub.request<{ role: string }>({ method: "GET", path: "/api/me" })
  return [ok("hub", `${url}, you are ${role}`), await checkRunners(hub), await checkTokens(hub, role, data)]
}

async function checkRunners(hub: Hub): Promise<Check> {
  const runners = await hub.runners.list()
  const here = runners.filter(({ connected }) => connected)
  const names = here.map(({ name, agents }) => `${name} (${agents === 1 ? "1 agent" : `${agents} agents`})`)
  if (here.length > 0) return ok("runner", names.join(", "))
  const away = runners.map(({ name }) => name).join(", ")
  const found = away === "" ? "none" : `none connected; known: ${away}`
  return wrong(
    "runner",
    found,
    "end the hub and start it with one: signalbox down, then signalbox up; or signalbox runner --hub URL; see runner.log",
  )
}

async function checkTokens(hub: Hub, role: string, data: DataDirectory): Promise<Check> {
  const own = checkToken(data)
  if (own.state === "wrong" || role !== "admin") return own
  const { tokens } = await hub.request<{ tokens: readonly { revokedAt: string | null; role: string }[] }>({
    method: "GET",
    path: "/api/tokens",
  })
  const valid = tokens.filter(({ revokedAt, role: its }) => revokedAt === null && its !== "agent")
  return ok("tokens", `${valid.length} valid (signalbox token ls)`)
}

function checkToken({ adminToken }: DataDirectory): Check {
  if (!existsSync(adminToken)) return note("tokens", "no admin token yet", "nothing: signalbox up makes it")
  if (process.platform !== "win32" && (statSync(adminToken).mode & 0o077) !== 0)
    return wrong("tokens", `${adminToken} can be read by others`, `chmod 600 ${adminToken}`)
  return ok("tokens", "the admin's is yours alone")
}
