import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { type HubOptions, type Options, type Query, query, type SDKMessage } from "@signalbox/sdk"
import type { Scenario } from "@signalbox/simulator"
import { afterEach, beforeAll, describe, expect, it } from "vitest"
import { buildRooms } from "../differential/packages.ts"
import { runsNow } from "../gate.ts"
import { type AgentProcess, startAgent } from "./agent-process.ts"
import { HubProcess, type Json } from "./hub-process.ts"

const PROGRAM = join(dirname(fileURLToPath(import.meta.url)), "sdk/killed-program.mjs")
const POLL = { timeout: 30_000, interval: 50 }
const HELLO: Scenario = { turns: [{ steps: [{ say: "One." }] }, { steps: [{ say: "Two." }] }] }
const TOUCH: Scenario = {
  turns: [
    { steps: [{ tool: "Bash", input: { command: "touch made", description: "make a file" } }, { say: "Made it." }] },
  ],
}

const open: { dispose(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0).toReversed()) await thing.dispose()
})
// The program that is killed runs what is built.
beforeAll(buildRooms, 300_000)

interface Setting {
  readonly hub: HubProcess
  readonly agent: AgentProcess
  readonly at: HubOptions & { session: string }
}

async function startHub(): Promise<HubProcess> {
  const hub = await HubProcess.start()
  open.push(hub)
  return hub
}

async function begin(kind: "simulator" | "claude", scenario: Scenario): Promise<Setting> {
  const hub = await startHub()
  const session = await hub.post("/api/sessions", { agent: "external" })
  const agent = await startAgent({ kind, version: "2.1.120", ...session.ingress, scenario })
  open.push(agent)
  await expect.poll(async () => (await hub.get(`/api/sessions/${session.id}`)).state, POLL).toBe("idle")
  return { hub, agent, at: { url: hub.ready.url, token: hub.ready.token, session: session.id } }
}

async function read(messages: Query): Promise<SDKMessage[]> {
  const seen: SDKMessage[] = []
  for await (const message of messages) seen.push(message)
  return seen
}

function ask(prompt: string, options: Options): Promise<SDKMessage[]> {
  return read(query({ prompt, options }))
}

/** Says nothing: the program only wants to see. */
async function* nothing(): AsyncGenerator<never> {}

/** A prompt that is yet to come. */
function stillThinking(): AsyncIterable<never> {
  return { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) }
}

function kinds(messages: readonly SDKMessage[]): string[] {
  return messages.map((message) => ("subtype" in message ? `${message.type}/${message.subtype}` : message.type))
}

const TURN = ["system/init", "assistant", "result/success"]
const allow: Options["canUseTool"] = async (_name, input) => ({ behavior: "allow", updatedInput: input })

for (const kind of ["simulator", "claude"] as const) {
  const test = (title: string, run: () => Promise<void>) => {
    const cell = `SDK on a hub with ${kind === "simulator" ? "the simulator" : "CLI 2.1.120"}`
    if (runsNow(cell, title)) it(`${title} (${kind})`, run)
  }

  test("[Q70] attaches, has its turn, and leaves the agent alive for the next one", async () => {
    const { hub, at } = await begin(kind, HELLO)
    expect(kinds(await ask("one", { hub: at }))).toEqual(TURN)
    expect((await hub.get(`/api/sessions/${at.session}`)).state).toBe("idle")
    const second = await ask("two", { hub: at })
    expect(second.at(-1)).toMatchObject({ type: "result", result: "Two." })
  })

  test("[Q72] a cursor yields what came after it from the log, then what comes, nothing twice", async () => {
    const { hub, at } = await begin(kind, HELLO)
    await ask("one", { hub: at })
    const { events } = await hub.get(`/api/sessions/${at.session}/events`)
    const first: number = events.find((event: Json) => event.message.subtype === "init").seq
    const running = query({ prompt: "two", options: { hub: { ...at, after: first } } })
    expect(running.hubCursor).toBeUndefined()
    const seen = await read(running)
    expect(kinds(seen)).toEqual(["assistant", "result/success", ...TURN])
    const uuids = seen.map((message) => ("uuid" in message ? message.uuid : undefined))
    expect(new Set(uuids).size).toBe(seen.length)
    expect(seen.some((message) => "signalbox_cursor" in message)).toBe(false)
    const { lastSeq } = await hub.get(`/api/sessions/${at.session}`)
    expect(running.hubCursor).toEqual({ session: at.session, after: lastSeq })
  })

  test("[Q73] a program killed with a question open goes on at its cursor in another process", async () => {
    const { at, agent } = await begin(kind, TOUCH)
    const file = join(agent.cwd, "..", "seen.jsonl")
    const lines = (): Json[] => {
      try {
        return readFileSync(file, "utf8")
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line))
      } catch {
        return []
      }
    }
    const child = spawn(process.execPath, [PROGRAM, file, JSON.stringify(at)], { stdio: "ignore" })
    await expect.poll(() => lines().some((line) => line.asked), POLL).toBe(true)
    await expect.poll(() => lines().some((line) => line.message?.type === "assistant"), POLL).toBe(true)
    child.kill("SIGKILL")
    await once(child, "exit")
    const before = lines().filter((line) => line.message !== undefined)
    const hub = { ...at, ...before.at(-1).cursor }
    const after = await read(query({ prompt: nothing(), options: { hub, canUseTool: allow } }))
    expect(kinds([...before.map((line) => line.message), ...after])).toEqual([
      "system/init",
      "assistant",
      "user",
      "assistant",
      "result/success",
    ])
  })

  test("[Q74] a hub that is killed and comes back is waited for: its question is answered, and the turn ends", async () => {
    const { hub, at } = await begin(kind, TOUCH)
    let asked = 0
    let release = (): void => undefined
    const restarted = new Promise<void>((resolve) => {
      release = resolve
    })
    const canUseTool: Options["canUseTool"] = async (_name, input) => {
      asked++
      await restarted
      return { behavior: "allow", updatedInput: input }
    }
    const seen = ask("make it", { hub: at, canUseTool })
    await expect.poll(() => asked, POLL).toBe(1)
    await hub.kill()
    await hub.startAgain()
    release()
    const messages = (await seen).filter((message) => !kinds([message])[0]?.startsWith("hub"))
    expect(kinds(messages)).toEqual(["system/init", "assistant", "user", "assistant", "result/success"])
    expect(asked).toBe(1)
  })
}

describe("what a hub refuses", () => {
  it("[Q75] every way in which attaching fails has a code of its own", async () => {
    const hub = await startHub()
    const { url, token } = hub.ready
    const { id } = await hub.post("/api/sessions", { agent: "external" })
    const viewer = await hub.post("/api/tokens", { role: "viewer" })
    const codeOf = (options: HubOptions) =>
      ask("hello", { hub: options }).then(
        () => "none",
        (error: unknown) => (error instanceof Error && "code" in error ? error.code : error),
      )
    expect(await codeOf({ url, token: "wrong", session: id })).toBe("auth/required")
    expect(await codeOf({ url, token, session: "nowhere" })).toBe("session/unknown")
    expect(await codeOf({ url, token })).toBe("runner/none")
    expect(await codeOf({ url, token, session: id, after: 99 })).toBe("hub/gap")
    expect(await codeOf({ url: "no address", token, session: id })).toBe("sdk/bad-option")
    await hub.call("DELETE", `/api/sessions/${id}`)
    expect(await codeOf({ url, token, session: id })).toBe("hub/session-ended")
    expect(await codeOf({ url, token: viewer.token, session: id, after: 0 })).toBe("hub/session-ended")
    await hub.kill()
    expect(await codeOf({ url, token, session: id })).toBe("hub/unreachable")
  })

  it("[Q75] a token that may only look cannot send, and a hub that stays away is given up", async () => {
    const { hub, at } = await begin("simulator", HELLO)
    const viewer = await hub.post("/api/tokens", { role: "viewer" })
    await expect(ask("hello", { hub: { ...at, token: viewer.token } })).rejects.toMatchObject({
      code: "auth/forbidden",
    })
    const waiting = query({
      prompt: stillThinking(),
      options: { hub: { ...at, patienceMs: 300 } },
    })
    await waiting.initializationResult()
    await hub.kill()
    await expect(read(waiting)).rejects.toMatchObject({ code: "hub/unreachable" })
  })

  it("[Q76] model and mode are asked of the agent before the first message", async () => {
    const { hub, at } = await begin("simulator", HELLO)
    await ask("one", { hub: at, model: "claude-haiku-4-5-20251001", permissionMode: "plan" })
    const session = await hub.get(`/api/sessions/${at.session}`)
    expect(session).toMatchObject({ model: "claude-haiku-4-5-20251001", permissionMode: "plan" })
    await expect(ask("two", { hub: at, hooks: { PreToolUse: [{ hooks: [async () => ({})] }] } })).rejects.toMatchObject(
      {
        code: "sdk/unsupported",
        details: { option: "hooks" },
      },
    )
  })
})
