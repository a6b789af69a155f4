import { once } from "node:events"
import { describe, expect, it } from "vitest"
import { RunnerClaims } from "../../src/runners/runner-claims.ts"
import { MemoryDirectory } from "../../src/testing/memory-directory.ts"
import { call, openStage, type Stage, tokenOf } from "../clients/stage.ts"
import { dial, FakeAgent, FakeRunner, factsOf } from "./fake-runner.ts"
import { eventsOf, launch, rest, send, WAIT } from "./launching.ts"

const quiet = { meet: async () => undefined, trouble: () => undefined }

interface Refused {
  readonly code: number
  readonly reason: string
}

/** Says hello as that runner, and is turned away. */
async function refusedHello(stage: Stage, token: string, id = "runner-1"): Promise<Refused> {
  const socket = await dial(stage, "/runner/control", token)
  const heard: string[] = []
  socket.on("message", (data) => heard.push(Buffer.isBuffer(data) ? data.toString() : ""))
  const closed = once(socket, "close") as Promise<[number, Buffer]>
  socket.send(JSON.stringify({ op: "hello", runner: factsOf({ id, name: "impostor" }), agents: [], cut: [] }))
  const [code, reason] = await closed
  expect(heard).toEqual([])
  return { code, reason: reason.toString() }
}

async function refusalsOf(stage: Stage): Promise<Record<string, unknown>[]> {
  const { body } = await rest<{ records: Record<string, unknown>[] }>(stage, "GET", "/api/audit")
  return body.records.filter(({ what }) => what === "runner/refused")
}

describe("[HR50] the id of a runner belongs to the token that claimed it first", () => {
  it("another token is refused with the reason, is audited once, and gets no launch", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const other = await tokenOf(stage, "runner")
    for (let time = 0; time < 3; time += 1) {
      const { code, reason } = await refusedHello(stage, other.token)
      expect(code).toBe(4001)
      expect(reason).toContain("belongs to another token")
    }
    const { body } = await launch(stage, { env: { SECRET: "s" } })
    expect(body.runner).toBe("runner-1")
    expect(runner.kinds).toEqual(["launch"])
    await expect.poll(() => refusalsOf(stage), WAIT).toHaveLength(1)
    expect(await refusalsOf(stage)).toMatchObject([
      { by: "a runner", details: { runner: "runner-1", tokenId: other.id } },
    ])
  })

  it("also while the runner is away, and after a restart of the hub", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const other = await tokenOf(stage, "runner")
    runner.leave()
    await runner.closed
    expect((await refusedHello(stage, other.token)).code).toBe(4001)
    const again = await stage.reopen()
    expect((await refusedHello(again, other.token)).code).toBe(4001)
    await FakeRunner.connect(again, { token: runner.token })
  })

  it("another token cannot speak for its agents, nor end them", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const { body } = await launch(stage, { prompt: "go" })
    const agent = await runner.agent()
    agent.sayText("mine")
    await agent.allAcked()
    const other = await tokenOf(stage, "runner")
    const impostor = new FakeAgent(stage, other.token, agent)
    impostor.sayText("forged")
    await impostor.dial()
    await expect.poll(() => impostor.closeCode, WAIT).toBe(4001)
    const cut = [{ spawn: agent.spawn, session: body.id, reason: "forged" }]
    await FakeRunner.connect(stage, { token: other.token, facts: { id: "runner-2", name: "other" }, cut })
    agent.sayText("still mine")
    await agent.allAcked()
    expect(JSON.stringify(await eventsOf(stage, body.id))).not.toContain("forged")
    await send(stage, body.id, "more")
    await agent.hears("more")
  })

  it("what a process left behind on the runner before is still taken from that runner, and from no other", async () => {
    const stage = await openStage()
    const before = await FakeRunner.connect(stage)
    const { body } = await launch(stage)
    const old = await before.agent()
    old.init()
    old.result()
    await old.allAcked()
    before.leave()
    await before.closed
    await call(stage, "DELETE", `/api/sessions/${body.id}`)
    const other = await tokenOf(stage, "runner")
    const after = await FakeRunner.connect(stage, { token: other.token, facts: { id: "runner-2", name: "other" } })
    await launch(stage, { resume: body.id, runner: "runner-2" })
    await after.agent()
    const impostor = new FakeAgent(stage, other.token, old)
    impostor.sayText("forged")
    await impostor.dial()
    await expect.poll(() => impostor.closeCode, WAIT).toBe(4001)
    await FakeRunner.connect(stage, { token: before.token })
    old.sayText("last words")
    old.isOver = true
    await old.dial()
    await old.allAcked()
    const said = JSON.stringify(await eventsOf(stage, body.id))
    expect(said).toContain("last words")
    expect(said).not.toContain("forged")
  })

  it("a revoked token frees the id: the next one claims it, and its agents come back", async () => {
    const stage = await openStage()
    const { id, token } = await tokenOf(stage, "runner")
    const runner = await FakeRunner.connect(stage, { token })
    const { body } = await launch(stage, { prompt: "go" })
    const agent = await runner.agent()
    await call(stage, "DELETE", `/api/tokens/${id}`)
    expect(await runner.closed).toBe(4001)
    const next = await tokenOf(stage, "runner")
    const back = new FakeAgent(stage, next.token, agent)
    await back.dial()
    // Its runner has not said hello with the new token yet.
    await expect.poll(() => back.closeCode, WAIT).toBe(1012)
    await FakeRunner.connect(stage, { token: next.token, agents: [back] })
    await back.dial()
    await send(stage, body.id, "more")
    await back.hears("more")
    const third = await tokenOf(stage, "runner")
    expect((await refusedHello(stage, third.token)).code).toBe(4001)
  })

  it("a forgotten runner's id is free, and `ownRunner` takes it back for the machine of the hub", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    runner.leave()
    await runner.closed
    const other = await tokenOf(stage, "runner")
    expect((await refusedHello(stage, other.token)).code).toBe(4001)
    await expect.poll(async () => (await call(stage, "DELETE", "/api/runners/runner-1")).status, WAIT).toBe(200)
    const squatter = await FakeRunner.connect(stage, { token: other.token })
    stage.hub.ownRunner("runner-1", runner.token)
    expect(await squatter.closed).toBe(4001)
    expect((await refusedHello(stage, other.token)).code).toBe(4001)
    await FakeRunner.connect(stage, { token: runner.token })
  })

  it("a token with very many runners pushes out its own claims, never another token's", async () => {
    const directory = new MemoryDirectory()
    const live = new Set(["one", "flood"])
    const open = () => new RunnerClaims({ ...quiet, directory, isLive: (id) => live.has(id) })
    const claims = open()
    expect(claims.claim("box", "one")).toBe(true)
    for (let number = 0; number < 1_010; number += 1) claims.claim(`flood-${number}`, "flood")
    expect(claims.claim("box", "flood")).toBe(false)
    expect(claims.ownerOf("flood-0")).toBeUndefined()
    expect(claims.ownerOf("flood-1009")).toBe("flood")
    await claims.settled()
    const again = open()
    await again.load()
    expect(again.ownerOf("box")).toBe("one")
    live.delete("one")
    expect(again.claim("box", "flood")).toBe(true)
  })
})
