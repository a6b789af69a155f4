import { randomBytes } from "node:crypto"
import { readFileSync, renameSync, writeFileSync } from "node:fs"
import { hostname } from "node:os"
import type { Hub } from "@signalbox/hub"
import { fieldOf, textOf } from "@signalbox/protocol"
import type { DataDirectory } from "../base/context.ts"
import { CliError } from "../base/failure.ts"

/** The token of the local runner, in a file of the data directory: created at the first start, and when it is no longer valid. */
export async function ensureRunnerToken(hub: Hub, { runnerToken }: DataDirectory): Promise<string> {
  const kept = readToken(runnerToken)
  if (kept !== undefined && (await isValid(hub, kept))) return kept
  const draft = `${runnerToken}.${randomBytes(6).toString("hex")}`
  const token = await makeToken(hub)
  writeFileSync(draft, `${token}\n`, { mode: 0o600, flag: "wx" })
  renameSync(draft, runnerToken)
  return token
}

export function readToken(path: string): string | undefined {
  try {
    const token = readFileSync(path, "utf8").trim()
    return token === "" ? undefined : token
  } catch {
    return undefined
  }
}

/** The API refuses a valid runner's token with 403, and an unknown one with 401. */
async function isValid(hub: Hub, token: string): Promise<boolean> {
  const reply = await fetch(`${hub.address.url}/api/me`, { headers: { authorization: `Bearer ${token}` } })
  await reply.body?.cancel()
  return reply.status === 403
}

async function makeToken(hub: Hub): Promise<string> {
  const reply = await fetch(`${hub.address.url}/api/tokens`, {
    method: "POST",
    headers: { authorization: `Bearer ${hub.admin.token}`, "content-type": "application/json" },
    body: JSON.stringify({ role: "runner", name: `runner on ${hostname()}`.slice(0, 100) }),
  })
  const body: unknown = await reply.json()
  const token = textOf(body, "token")
  if (token !== undefined) return token
  throw new CliError(
    "cli/failed",
    `can't create the runner's token: ${textOf(fieldOf(body, "error"), "message") ?? reply.status}`,
  )
}
