import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { InMemorySessionStore, type Options, query, type SessionStore } from "../../src/index.ts"
import { resumeFromStore } from "../../src/store/stored-resume.ts"
import { fakeAgent, hear, result } from "../fake-agent.ts"

const OWN = "10000000-0000-4000-8000-000000000001"
const LATER = "10000000-0000-4000-8000-000000000002"
const UNKNOWN = "10000000-0000-4000-8000-00000000000f"
// Other tests make folders of their own at the same time.
process.env["TMPDIR"] = mkdtempSync(join(tmpdir(), "signalbox-tmp-"))
const cwd = mkdtempSync(join(tmpdir(), "signalbox-store-"))
const projectKey = cwd.replaceAll(/[^a-zA-Z0-9]/g, "-")
const open = new AbortController().signal

async function filled(): Promise<InMemorySessionStore> {
  const store = new InMemorySessionStore()
  await store.append({ projectKey, sessionId: OWN }, [{ type: "user", text: "own" }])
  await store.append({ projectKey, sessionId: LATER }, [{ type: "user", text: "later" }])
  return store
}

function home(): NonNullable<Options["env"]> {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-home-"))
  const config = join(folder, "config")
  mkdirSync(config)
  writeFileSync(join(config, ".claude.json"), '{"mine":true}')
  writeFileSync(join(config, "settings.json"), "{}")
  writeFileSync(join(config, ".credentials.json"), '{"claudeAiOauth":{"accessToken":"a","refreshToken":"r"}}')
  writeFileSync(join(config, "history.jsonl"), "private")
  return { CLAUDE_CONFIG_DIR: config }
}

const leftBehind = () => readdirSync(tmpdir()).filter((name) => name.startsWith("claude-resume-"))

describe("resuming from a store", () => {
  it("[Y5] writes the session to a folder of its own, and removes it", async () => {
    const store = await filled()
    const aside = { projectKey, sessionId: OWN, subpath: "subagents/agent-a" }
    await store.append(aside, [{ type: "agent_metadata", agentType: "x" }, { type: "user" }])
    for (const subpath of ["../out", "/abs", "a//b", "a\\b", "."])
      await store.append({ ...aside, subpath }, [{ type: "evil" }])
    const resumed = await resumeFromStore({ cwd, resume: OWN, env: home() }, store, open)
    const folder = resumed.options.env?.["CLAUDE_CONFIG_DIR"] ?? ""
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.json/.test(name))
    const session = join("projects", projectKey, OWN)
    expect(files.sort()).toEqual(
      [
        ".claude.json",
        ".credentials.json",
        "settings.json",
        `${session}.jsonl`,
        join(session, "subagents", "agent-a.jsonl"),
        join(session, "subagents", "agent-a.meta.json"),
      ].sort(),
    )
    const text = (name: string) => readFileSync(join(folder, name), "utf8")
    expect(text(`${session}.jsonl`)).toBe('{"type":"user","text":"own"}\n')
    expect(text(join(session, "subagents", "agent-a.jsonl"))).toBe('{"type":"user"}\n')
    expect(text(join(session, "subagents", "agent-a.meta.json"))).toBe('{"agentType":"x"}')
    expect(text(".credentials.json")).toBe('{"claudeAiOauth":{"accessToken":"a"}}')
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    await resumed.cleanUp()
    expect(existsSync(folder)).toBe(false)
  })

  it("[Y5] the agent gets the folder, and it is gone when the query is", async () => {
    const agent = fakeAgent([{ until: "user" }, { say: result() }], { cwd, resume: OWN, sessionStore: await filled() })
    const running = query({ prompt: "hello", options: agent.options })
    await hear(running)
    await running.return()
    const [started] = agent.log()
    expect(started?.argv).toContain(`--resume=${OWN}`)
    const folder = started?.env?.["CLAUDE_CONFIG_DIR"] ?? ""
    expect(folder).toContain("claude-resume-")
    expect(existsSync(folder)).toBe(false)
  })

  it.each<[string, Partial<Options>, Partial<Options>]>([
    ["one it does not have", { resume: UNKNOWN }, { resume: UNKNOWN }],
    ["no id", { resume: "../../etc" }, { resume: "../../etc" }],
    ["the last one", { continue: true }, { resume: LATER }],
    ["a new one", {}, {}],
  ])("[Y6] %s", async (_what, wanted, expected) => {
    const env = home()
    const resumed = await resumeFromStore({ cwd, env, ...wanted }, await filled(), open)
    expect({ resume: resumed.options.resume, continue: resumed.options.continue }).toEqual(expected)
    // Only a session out of the store needs a folder of its own.
    expect(resumed.options.env === env).toBe(expected.resume !== LATER)
    await resumed.cleanUp()
  })

  it("[Y6] continue with nothing in the store begins a new session", async () => {
    const resumed = await resumeFromStore({ cwd, continue: true }, new InMemorySessionStore(), open)
    expect(resumed.options).toEqual({ cwd, continue: undefined })
  })

  it("[Y7] a store that fails, hangs or gives rubbish fails the query, and nothing is started", async () => {
    const before = leftBehind()
    const append = async () => undefined
    const entries = [{ type: "user" }]
    const never = () => new Promise<never>(() => undefined)
    const stores: [string, string, SessionStore][] = [
      ["store/failed", "down", { append, load: () => Promise.reject(new Error("down")) }],
      ["store/timeout", "SessionStore.load() timed out after 50ms", { append, load: never }],
      ["store/timeout", "listSubkeys() timed out", { append, load: async () => entries, listSubkeys: never }],
      ["store/failed", "no list of entries", { append, load: async () => JSON.parse('"text"') }],
    ]
    for (const [code, message, sessionStore] of stores) {
      const agent = fakeAgent([], { cwd, resume: OWN, loadTimeoutMs: 50, sessionStore })
      const { error } = await hear(query({ prompt: "hello", options: agent.options }))
      expect(error).toMatchObject({ code, message: expect.stringContaining(message) })
      expect(agent.log()).toEqual([])
    }
    expect(leftBehind()).toEqual(before)
  })

  it("[Y7] closing the query ends the wait for a store", async () => {
    const sessionStore = { append: async () => undefined, load: () => new Promise<never>(() => undefined) }
    const agent = fakeAgent([], { cwd, resume: OWN, sessionStore })
    const running = query({ prompt: "hello", options: agent.options })
    await running.return()
    expect(agent.log()).toEqual([])
  })
})
