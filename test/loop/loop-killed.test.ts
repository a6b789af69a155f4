import { existsSync, readFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import type { Scenario } from "@signalbox/simulator"
import { afterEach, describe, expect, it } from "vitest"
import { loopKills } from "../gate.ts"
import { LoopScene, POLL, type StartedLoop } from "./loop-scene.ts"

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
})

function newScene(): LoopScene {
  const scene = new LoopScene()
  cleanUps.push(() => scene.dispose())
  return scene
}

/** Asks before it does anything, so that a test can act in the middle of its turn. */
const asksFirst: Scenario = {
  turns: [
    { on: "quick", repeat: true, steps: [{ say: "Done." }] },
    {
      repeat: true,
      steps: [{ tool: "Bash", input: { command: "make" }, result: "ok" }, { say: "Done." }],
      costUsd: 0.1,
    },
  ],
}

async function runOf(loop: StartedLoop): Promise<string> {
  await expect.poll(() => loop.events("run").length, POLL).toBe(1)
  return loop.events("run")[0].run
}

describe("a loop that something happens to", () => {
  it("[LP12] killed in mid-turn, it is resumed: nothing is repeated, and the turn that goes on is taken up", async () => {
    const scene = newScene()
    await scene.startHub()
    const list = scene.list("quick one", "slow one", "another slow one")
    const check = 'test "$SIGNALBOX_TASK$SIGNALBOX_TRY" != 21'
    const first = scene.loop(list, "--json", "--verify", check, ...scene.playing(asksFirst))
    const id = await runOf(first)
    const [ask] = await scene.asks(1)
    first.child.kill("SIGKILL")
    await first.exit
    const before = await scene.run(id)
    expect(before).toMatchObject({
      state: "running",
      tasks: [{ state: "done" }, { state: "running", tries: 1 }, { state: "waiting" }],
    })
    // The agent goes on without the loop.
    await scene.answer(ask.id, { behavior: "allow" })
    await expect.poll(async () => (await scene.session(ask.sessionId)).state, POLL).toBe("idle")
    const second = scene.loop("--json", "--resume", id)
    const [askAgain] = await scene.asks(1)
    expect(askAgain.sessionId).toBe(ask.sessionId)
    second.child.kill("SIGKILL")
    await second.exit
    const third = scene.loop("--json", "--resume", id.slice(0, 8))
    await scene.answer(askAgain.id, { behavior: "allow" })
    const [askOfThird] = await scene.asks(1)
    await scene.answer(askOfThird.id, { behavior: "allow" })
    expect([await third.exit, third.said()]).toEqual([0, ""])
    const { tasks, state } = await scene.run(id)
    expect(state).toBe("done")
    expect(tasks).toMatchObject([
      { state: "done", tries: 1, session: before.tasks[0].session },
      { state: "done", tries: 2, session: ask.sessionId },
      { state: "done", tries: 1 },
    ])
    expect((await scene.messages(ask.sessionId)).length).toBe(2)
    expect((await scene.call("GET", "/api/sessions")).sessions).toHaveLength(3)
  })

  it(
    "[LP11] with its hub killed again and again, and elsewhere each time, it goes on and repeats nothing",
    async () => {
      const scene = newScene()
      await scene.startHub()
      const tasks = Array.from({ length: loopKills }, (_, index) => `task ${index + 1}`)
      const loop = scene.loop(scene.list(...tasks), "--json", "--verify", "true", ...scene.playing(asksFirst))
      const id = await runOf(loop)
      for (const [index] of tasks.entries()) {
        const [ask] = await scene.asks(1)
        await scene.killHub()
        await expect.poll(() => loop.events("hub").at(-1)?.away, POLL).toBe(true)
        await scene.startHub()
        await scene.answer(ask.id, { behavior: "allow" })
        const settled = async () =>
          (await scene.run(id)).tasks.filter(({ state }: { state: string }) => state === "done").length
        await expect.poll(settled, POLL).toBe(index + 1)
      }
      expect([await loop.exit, loop.said()]).toEqual([0, ""])
      expect(await scene.run(id)).toMatchObject({
        state: "done",
        tasks: tasks.map(() => ({ state: "done", tries: 1, costUsd: 0.1 })),
      })
      expect((await scene.call("GET", "/api/sessions")).sessions).toHaveLength(tasks.length)
    },
    60_000 + loopKills * 30_000,
  )

  it("[LP13] [LP23] without a hub it brings one on a port from 8765 on, and takes it away, with the runner", async () => {
    const scene = newScene()
    const taken = createServer()
    // Where somebody has it already, that is as good.
    const isOurs = await new Promise<boolean>((resolve) => {
      taken.once("error", () => resolve(false))
      taken.listen(8765, "127.0.0.1", () => resolve(true))
    })
    if (isOurs) cleanUps.push(() => taken.close())
    const loop = scene.loop("quick work", "--json", ...scene.playing(asksFirst))
    expect(await loop.exit).toBe(0)
    const brought = /^signalbox: no hub was running; started one at http:\/\/127\.0\.0\.1:(\d+) [^\n]*\n$/
    expect(loop.said()).toMatch(brought)
    const port = Number(brought.exec(loop.said())?.[1])
    expect(port).toBeGreaterThan(8765)
    expect(port).toBeLessThanOrEqual(8864)
    expect(existsSync(join(scene.data, "hub.json"))).toBe(false)
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow("fetch failed")
    expect(readFileSync(join(scene.data, "runner.log"), "utf8")).toContain("runner stopped")
    // Its run is there for the next one.
    const again = scene.loop("--resume", loop.events("run")[0].run, "--json")
    expect([await again.exit, again.events("summary")]).toMatchObject([0, [{ state: "done", done: 1, turns: 1 }]])
    const list = scene.loop("--list", "--json")
    expect([await list.exit, JSON.parse(list.lines[0] ?? "").runs]).toMatchObject([0, [{ state: "done" }]])
    expect(existsSync(join(scene.data, "hub.json"))).toBe(false)
  })

  it("[LP12] [LP13] killed together with the hub that it brought, it is resumed with another", async () => {
    const scene = newScene()
    const first = scene.loop("slow work", "--json", ...scene.playing(asksFirst))
    const id = await runOf(first)
    await scene.findHub()
    const [ask] = await scene.asks(1)
    first.child.kill("SIGKILL")
    await first.exit
    const second = scene.loop("--json", "--resume", id)
    await expect.poll(() => second.said(), POLL).toContain("no hub was running")
    await scene.findHub()
    await scene.answer(ask.id, { behavior: "allow" })
    expect(await second.exit).toBe(0)
    expect(second.events("task").at(-1)).toMatchObject({ state: "done", tries: 1, session: ask.sessionId })
  })

  it("[LP6] [LP11] Ctrl-C while the hub is away: it ends, and says that agents may go on", async () => {
    const scene = newScene()
    await scene.startHub()
    const loop = scene.loop("slow work", "--json", ...scene.playing(asksFirst))
    const id = await runOf(loop)
    await scene.asks(1)
    await scene.killHub()
    await expect.poll(() => loop.events("hub").length, POLL).toBe(1)
    loop.child.kill("SIGINT")
    await expect.poll(() => loop.events("task").at(-1)?.state, POLL).toBe("stopping")
    // Told again, it waits for nothing any more.
    loop.child.kill("SIGINT")
    expect(await loop.exit).toBe(3)
    expect(loop.said()).toMatch(
      new RegExp(`^signalbox: the hub did not answer in time[^\\n]* --resume ${id} --data \\S+"\\n$`),
    )
  })
})
