import { mkdirSync, realpathSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { createLogger, type Hub, openHub } from "@signalbox/hub"
import { openRunner } from "@signalbox/runner"
import { type HubCursor, type Options, query, type SDKMessage } from "@signalbox/sdk"
import { beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { buildRooms } from "../differential/packages.ts"
import { databases } from "./hub-process.ts"

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const SIMULATOR = join(ROOT, "packages/simulator/bin/claude-sim.mjs")

// The simulator runs as it is built.
beforeAll(buildRooms, 300_000)

interface Place {
  readonly hub: Hub
  readonly folder: string
  readonly at: { readonly url: string; readonly token: string }
}

/** A hub and a runner whose `claude` is the simulator. */
async function openPlace(): Promise<Place> {
  const base = realpathSync(await mkdtemp(join(tmpdir(), "signalbox-launch-")))
  onTestFinished(() => rm(base, { recursive: true, force: true }))
  const folder = join(base, "project")
  mkdirSync(folder)
  const logger = createLogger({ level: "silent" })
  const store = (await databases?.openTestDatabase())?.url
  const hub = await openHub({
    dataDirectory: join(base, "hub"),
    port: 0,
    logger,
    ...(store !== undefined && { store }),
  })
  onTestFinished(() => hub.close())
  const at = { url: hub.address.url, token: hub.admin.token }
  const { token } = (await post(at, "/api/tokens", { role: "runner" })) as { token: string }
  const runner = await openRunner({
    hubUrl: () => at.url,
    token: () => token,
    stateDirectory: join(base, "runner"),
    log: logger,
    env: { PATH: process.env["PATH"], HOME: base, CLAUDE_BIN: SIMULATOR },
  })
  onTestFinished(async () => void (await runner.close({ agents: true })))
  await expect.poll(() => hub.core.runners.list().length, { timeout: 30_000 }).toBe(1)
  return { hub, folder, at }
}

async function post({ url, token }: Place["at"], path: string, body: unknown): Promise<unknown> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
  return (await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })).json()
}

async function ask(prompt: string, options: Options): Promise<{ seen: SDKMessage[]; cursor: HubCursor | undefined }> {
  const running = query({ prompt, options })
  const seen: SDKMessage[] = []
  for await (const message of running) seen.push(message)
  return { seen, cursor: running.hubCursor }
}

function initOf(seen: readonly SDKMessage[]) {
  return seen.find((message) => message.type === "system" && message.subtype === "init")
}

describe("a program's agent on a hub that starts it", () => {
  it("[Q78] model, mode and folder cross, questions come to the program, and the agent lives on", async () => {
    const { hub, folder, at } = await openPlace()
    const asked: string[] = []
    const { seen, cursor } = await ask("permission please", {
      hub: at,
      cwd: folder,
      model: "claude-haiku-4-5",
      permissionMode: "default",
      canUseTool: async (toolName, input) => {
        asked.push(toolName)
        return { behavior: "allow", updatedInput: input }
      },
    })
    expect(seen.at(-1)).toMatchObject({ type: "result", subtype: "success" })
    expect(asked).toHaveLength(1)
    expect(initOf(seen)).toMatchObject({ cwd: folder, model: "claude-haiku-4-5" })
    const session = await hub.core.getSession(cursor?.session ?? "")
    expect(session).toMatchObject({ state: "idle", transport: "runner", cwd: folder, turns: 1 })
    const { seen: more } = await ask("And again.", { hub: { ...at, session: session.id } })
    expect(more.at(-1)).toMatchObject({ type: "result", subtype: "success" })
    expect((await hub.core.getSession(session.id)).turns).toBe(2)
  })

  it("[Q78] resume goes on with a conversation that is over, and forkSession begins another from it", async () => {
    const { hub, folder, at } = await openPlace()
    const first = await ask("Remember the word pelican.", { hub: at, cwd: folder })
    const session = await hub.core.getSession(first.cursor?.session ?? "")
    const resume = session.agentSessionId ?? ""
    const live = await ask("And?", { hub: at, resume }).catch((error: unknown) => error)
    expect(live).toMatchObject({ code: "hub/refused", details: { code: "session/live" } })
    const forked = await ask("Another way.", { hub: at, resume, forkSession: true })
    const other = await hub.core.getSession(forked.cursor?.session ?? "")
    expect(other).toMatchObject({ parent: session.id, cwd: folder, turns: 1 })
    expect(other.agentSessionId).not.toBe(resume)
    await hub.core.endSession(session.id, { role: "admin", name: "test", tokenId: "", sessionId: null })
    const resumed = await ask("Go on.", { hub: at, resume })
    expect(resumed.cursor?.session).toBe(session.id)
    expect(resumed.seen.filter((message) => message.type === "result")).toHaveLength(1)
    expect(resumed.seen.at(-1)).toMatchObject({ type: "result", subtype: "success", session_id: resume })
  })

  it("[Q78] continue goes on with the last conversation in the folder", async () => {
    const { hub, folder, at } = await openPlace()
    const none = await ask("Hello?", { hub: at, cwd: folder, continue: true }).catch((error: unknown) => error)
    expect(none).toMatchObject({ details: { code: "runner/no-transcript" } })
    await ask("Remember the word heron.", { hub: at, cwd: folder })
    const last = await ask("Remember the word pelican.", { hub: at, cwd: folder })
    const session = await hub.core.getSession(last.cursor?.session ?? "")
    const live = await ask("And?", { hub: at, cwd: folder, continue: true }).catch((error: unknown) => error)
    expect(live).toMatchObject({ code: "hub/refused", details: { code: "session/live" } })
    await hub.core.endSession(session.id, { role: "admin", name: "test", tokenId: "", sessionId: null })
    const { seen, cursor } = await ask("Go on.", { hub: at, cwd: folder, continue: true })
    expect(cursor?.session).toBe(session.id)
    expect(seen.filter((message) => message.type === "result")).toMatchObject([
      { subtype: "success", session_id: session.agentSessionId },
    ])
  })

  it("[Q78] what cannot cross is refused by name, before anything is started", async () => {
    const { hub, at } = await openPlace()
    const refused = await ask("Hello.", { hub: at, planModeInstructions: "Be brief." }).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: "sdk/bad-option", details: { option: "planModeInstructions" } })
    expect((await hub.core.listSessions({ limit: 1 })).sessions).toEqual([])
  })
})
