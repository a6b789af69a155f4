import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createLaunch, type Launch, openSimulatedAgent, type Scenario } from "@signalbox/simulator"
import { createLinkedPair } from "@signalbox/transport"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { loadSession, transcriptPath } from "../../src/sessions/transcript.ts"
import { SimHost } from "../support/sim-host.ts"

const says = (...texts: string[]): Scenario => ({ turns: texts.map((text) => ({ steps: [{ say: text }] })) })

describe("sessions on disk", () => {
  let folder = ""
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-sessions-")))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const place = () => ({ configDir: join(folder, ".claude"), cwd: folder })

  async function turn(text: string, launch: Partial<Launch> = {}): Promise<{ id: string; uuids: string[] }> {
    const host = new SimHost({ scenario: says(`You said ${text}.`), folder, launch })
    const uuids = (await host.turn(text)).filter(({ type }) => type === "assistant").map(({ uuid }) => String(uuid))
    await host.close()
    return { id: host.agent.sessionId, uuids }
  }

  const textOfSession = (id: string) => JSON.stringify(loadSession(place(), id)?.entries ?? [])

  it("[A21] are written in the CLI's own layout, each entry naming the one before it", async () => {
    const { id } = await turn("plum")
    const path = transcriptPath(place(), id)
    expect(path).toBe(join(folder, ".claude", "projects", folder.replaceAll(/[^a-zA-Z0-9]/g, "-"), `${id}.jsonl`))
    const entries = readFileSync(path, "utf8")
      .trimEnd()
      .split("\n")
      .map((line): Record<string, unknown> => JSON.parse(line))
    expect(entries.map(({ type }) => type)).toEqual(["user", "assistant", "cost-state"])
    expect(entries[0]).toMatchObject({ parentUuid: null, sessionId: id, cwd: folder, version: "2.1.325" })
    expect(entries[1]?.["parentUuid"]).toBe(entries[0]?.["uuid"])
  })

  it("[A38] tell the host of every entry that is written, and keep what a sub-agent did in a file of its own", async () => {
    const agent = [{ tool: "Bash", input: { command: "ls" }, result: "a" }, { say: "One file." }]
    const input = { description: "count", prompt: "Count.", subagent_type: "general-purpose", run_in_background: false }
    const scenario: Scenario = { turns: [{ steps: [{ tool: "Task", input, agent }, { say: "One." }] }] }
    const launch = { mirrorsSession: true, allowedTools: ["Bash"] }
    const host = new SimHost({ scenario, folder, launch })
    await host.turn("how many?")
    await host.close()
    const told: Record<string, unknown[]> = {}
    for (const { type, filePath, entries } of host.seen) {
      if (type === "transcript_mirror") told[String(filePath)] = [...(told[String(filePath)] ?? []), entries].flat()
    }
    const [aside = "", own = ""] = Object.keys(told).toSorted((a, b) => b.length - a.length)
    expect(own).toBe(transcriptPath(place(), host.agent.sessionId))
    expect(aside).toContain(`${host.agent.sessionId}/subagents/agent-`)
    for (const path of [own, aside]) {
      const written = readFileSync(path, "utf8")
        .trimEnd()
        .split("\n")
        .map((line): unknown => JSON.parse(line))
      // The bill is written when this host is gone.
      const kept = written.filter((entry) => Object(entry).type !== "cost-state")
      expect(told[path]?.filter((entry) => Object(entry).type !== "agent_metadata")).toEqual(kept)
    }
    const kinds = told[aside]?.map((entry) => Object(entry).type)
    expect(kinds).toEqual(["agent_metadata", "user", "assistant", "user", "assistant"])
    expect(told[aside]?.at(-1)).toMatchObject({ isSidechain: true, message: { stop_reason: "end_turn" } })
    expect(JSON.parse(readFileSync(aside.replace(/jsonl$/, "meta.json"), "utf8"))).toMatchObject({
      description: "count",
    })
  })

  it("[A22] are resumed under their id, and nothing of them is said again", async () => {
    const { id } = await turn("plum")
    const host = new SimHost({ scenario: says("More."), folder, launch: { session: { resume: id, persist: true } } })
    expect((await host.turn("and")).at(-1)).toMatchObject({ session_id: id, result: "More." })
    expect(JSON.stringify(host.seen)).not.toContain("plum")
    await host.close()
    expect(textOfSession(id)).toMatch(/plum.*More\./)
  })

  it("[A22] are continued from the last one in the folder", async () => {
    const { id } = await turn("plum")
    const again = await turn("pear", { session: { continueLast: true, persist: true } })
    expect(again.id).toBe(id)
  })

  it("[A23] are forked into a file of their own, under the id that is asked for", async () => {
    const { id } = await turn("plum")
    const forked = await turn("pear", { session: { resume: id, fork: true, persist: true } })
    expect(forked.id).not.toBe(id)
    expect(textOfSession(forked.id)).toMatch(/plum.*pear/)
    expect(textOfSession(id)).not.toContain("pear")
    const sessionId = "11111111-2222-4333-8444-555566667777"
    expect((await turn("x", { session: { resume: id, fork: true, sessionId, persist: true } })).id).toBe(sessionId)
  })

  it("[A24] are resumed at a message, and what came after it is gone", async () => {
    const { id, uuids } = await turn("plum")
    await turn("pear", { session: { resume: id, persist: true } })
    const at = loadSession(place(), id, uuids[0])
    expect(JSON.stringify(at?.entries)).toContain("plum")
    expect(JSON.stringify(at?.entries)).not.toContain("pear")
  })

  it("[A25] that cannot be are refused in the CLI's words, and an unknown one in a result besides", async () => {
    const { id } = await turn("plum")
    const open = (session: Launch["session"]) => {
      const [host, agent] = createLinkedPair()
      const launch = createLaunch({ ...place(), session })
      return { host, open: () => openSimulatedAgent({ transport: agent, launch }) }
    }
    expect(open({ sessionId: id, persist: true }).open).toThrow(/already in use/)
    expect(open({ resume: id, sessionId: "x", persist: true }).open).toThrow(/--fork-session/)
    const unknown = open({ resume: "nobody", persist: true })
    expect(unknown.open).toThrow("No conversation found with session ID: nobody")
    for await (const line of unknown.host.lines) {
      expect(JSON.parse(line)).toMatchObject({ type: "result", is_error: true, session_id: "nobody" })
      break
    }
  })

  it("[A26] leave nothing behind when they are not to be kept", async () => {
    const { id } = await turn("plum", { session: { persist: false } })
    expect(existsSync(transcriptPath(place(), id))).toBe(false)
  })
})
