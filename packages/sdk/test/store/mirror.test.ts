import { describe, expect, it } from "vitest"
import { query, type SessionKey, type SessionStore, type SessionStoreEntry } from "../../src/index.ts"
import { TranscriptMirror } from "../../src/store/transcript-mirror.ts"
import type { SDKMirrorErrorMessage } from "../../src/types/messages.ts"
import { fakeAgent, hear, result } from "../fake-agent.ts"

const OWN = "10000000-0000-4000-8000-000000000001"
const PROJECTS = "/config/projects"
const env = { CLAUDE_CONFIG_DIR: "/config" }

interface Append {
  key: SessionKey
  count: number
}

function recording(fail?: (attempt: number) => Promise<void>) {
  const appends: Append[] = []
  const store: SessionStore = {
    async append(key: SessionKey, entries: SessionStoreEntry[]) {
      appends.push({ key, count: entries.length })
      await fail?.(appends.length)
    },
    load: async () => null,
  }
  return { appends, store }
}

function frame(path: string, count = 1, pad = "") {
  const entries = Array.from({ length: count }, () => ({ type: "x", pad }))
  return { type: "transcript_mirror", filePath: `${PROJECTS}/${path}`, entries }
}

const main = { projectKey: "-p", sessionId: OWN }

describe("the mirror of a session", () => {
  it("[Y1] portions of one transcript are appended together, with the result", async () => {
    const { appends, store } = recording()
    const agent = fakeAgent(
      [
        { until: "user" },
        { say: frame(`-p/${OWN}.jsonl`, 2) },
        { say: frame(`-p/${OWN}/subagents/agent-a.jsonl`) },
        { say: frame(`-p/${OWN}.jsonl`, 3) },
        { say: frame("../elsewhere/x.jsonl") },
        { say: frame("x.jsonl") },
        { say: { type: "transcript_mirror", filePath: 5 } },
        { say: result() },
      ],
      { sessionStore: store, env },
    )
    await hear(query({ prompt: "hello", options: agent.options }))
    expect(agent.log()[0]?.argv).toContain("--session-mirror")
    expect(appends).toEqual([
      { key: main, count: 5 },
      { key: { ...main, subpath: "subagents/agent-a" }, count: 1 },
    ])
  })

  it("[Y1] eager appends every portion by itself; much is appended before the result", async () => {
    for (const [flush, sizes, expected] of [
      ["eager", [1, 2], [1, 2]],
      ["batched", [500, 1], [501]],
      ["batched", [501, 1], [501]],
    ] as const) {
      const { appends, store } = recording()
      const mirror = new TranscriptMirror({ store, flush, projects: PROJECTS, onError: () => undefined })
      for (const size of sizes) expect(mirror.take(frame(`-p/${OWN}.jsonl`, size), 100)).toBeUndefined()
      await expect.poll(() => appends.length).toBe(expected.length)
      expect(appends.map(({ count }) => count)).toEqual(expected)
    }
  })

  it("[Y2] a result waits for the store, and so does the end", async () => {
    const order: string[] = []
    const { store } = recording(async (attempt) => {
      await new Promise((resolve) => setImmediate(resolve))
      order.push(`append ${attempt}`)
    })
    const agent = fakeAgent(
      [{ until: "user" }, { say: frame(`-p/${OWN}.jsonl`) }, { say: result() }, { say: frame(`-p/${OWN}.jsonl`) }],
      { sessionStore: store, env },
    )
    for await (const message of query({ prompt: "hello", options: agent.options })) order.push(message.type)
    order.push("end")
    expect(order).toEqual(["append 1", "result", "append 2", "end"])
  })

  it("[Y2] leaving the loop appends what is left", async () => {
    const { appends, store } = recording()
    const agent = fakeAgent(
      [{ until: "user" }, { say: frame(`-p/${OWN}.jsonl`) }, { say: { type: "assistant" } }, { until: "end" }],
      { sessionStore: store, env },
    )
    for await (const _ of query({ prompt: "hello", options: agent.options })) break
    expect(appends).toEqual([{ key: main, count: 1 }])
  })

  it("[Y3] an append is tried three times, then the program is told and the query goes on", async () => {
    const { appends, store } = recording(async () => {
      throw new Error("no room")
    })
    const agent = fakeAgent([{ until: "user" }, { say: frame(`-p/${OWN}.jsonl`) }, { say: result() }], {
      sessionStore: store,
      env,
    })
    const { kinds, messages } = await hear(query({ prompt: "hello", options: agent.options }))
    expect(kinds).toEqual(["system/mirror_error", "result/success"])
    expect(messages[0]).toMatchObject({ error: "no room", key: main, session_id: OWN })
    expect(appends).toHaveLength(3)
  })

  it("[Y4] a store that is far behind is waited for", async () => {
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const { store } = recording(() => held)
    const errors: SDKMirrorErrorMessage[] = []
    const onError = (error: SDKMirrorErrorMessage) => void errors.push(error)
    const mirror = new TranscriptMirror({ store, flush: "eager", projects: PROJECTS, onError })
    const mebi = 1024 * 1024
    expect(mirror.take(frame(`-p/${OWN}.jsonl`), 16 * mebi)).toBeUndefined()
    const waiting = mirror.take(frame(`-p/${OWN}.jsonl`), 1)
    expect(waiting).toBeInstanceOf(Promise)
    release()
    await waiting
    expect(mirror.take(frame(`-p/${OWN}.jsonl`), 1)).toBeUndefined()
    await mirror.flush()
    expect(errors).toEqual([])
  })
})
