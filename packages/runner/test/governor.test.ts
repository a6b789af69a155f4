import { afterEach, describe, expect, it } from "vitest"
import { mayEnd, restingActivity, stepActivity } from "../src/agents/agent.ts"
import { startGate } from "../src/agents/roster.ts"
import { judge } from "../src/governor.ts"
import { usageOfTrees } from "../src/state/process-table.ts"
import { Scene } from "./runner-scene.ts"

const MB = 1024 * 1024

let scene: Scene | undefined

afterEach(async () => {
  await scene?.dispose()
  scene = undefined
})

describe("the governor", () => {
  it("[RU25] lets no more agents live than it may, and says what to do", async () => {
    scene = await Scene.open({ maxAgents: 2 })
    const [one] = [await scene.launch(), await scene.launch()]
    const refused = await scene.hub.request({ kind: "launch", spec: scene.spec() })
    expect(refused).toMatchObject({ code: "runner/full", message: expect.stringContaining("--max-agents") })
    await scene.hub.ask({ kind: "stop", spawn: one, reason: "test" })
    await scene.launch()
  })

  it("[RU26] spaces the starts, and does not let too many wait", async () => {
    const waits: number[] = []
    const clock = {
      now: () => 1000,
      after(ms: number, run: () => void) {
        waits.push(ms)
        queueMicrotask(run)
        return () => undefined
      },
    }
    const gate = startGate({ startSpacingMs: 100, maxWaitingStarts: 2 }, clock)
    const entered = [gate(), gate(), gate()]
    await expect(gate()).rejects.toMatchObject({ code: "runner/full" })
    await Promise.all(entered)
    expect(waits).toEqual([100, 200])
  })

  it("[RU27] stops an agent above its ceiling at the end of its turn, kills it when that takes too long or it is far above", () => {
    const limits = { memoryCeilingBytes: 100 * MB, memoryGraceMs: 1000, parkAfterMs: Number.POSITIVE_INFINITY }
    const at = (mb: number, isIdle: boolean, overForMs = 0) =>
      judge({ memoryBytes: mb * MB, isIdle, idleForMs: 0, overForMs }, limits).kind
    expect(at(100, false)).toBe("leave")
    expect(at(101, false)).toBe("stop-when-idle")
    expect(at(101, true)).toBe("stop-when-idle")
    expect(at(101, false, 1001)).toBe("kill")
    expect(at(151, false)).toBe("kill")
    expect(at(151, true)).toBe("stop-when-idle")
  })

  it("[RU27] counts what an agent started into its memory, and brings it back to rest as parked", async () => {
    scene = await Scene.open({ limits: { memoryCeilingBytes: 300 * MB } })
    const [large, small] = [await scene.launch(), await scene.launch()]
    await scene.turn(large, "eat 300")
    await scene.hub.until(() => scene?.hub.exit(large) !== undefined)
    expect(scene.hub.exit(large)).toMatchObject({
      parked: true,
      reason: expect.stringContaining("above the ceiling of 300 MB"),
    })
    await scene.turn(small, "cwd")
  })

  it("[RU27] does not take a moment between two turns for rest", () => {
    const sent = { from: "host", message: { type: "user" } } as const
    const began = { from: "agent", message: { type: "system", subtype: "init" } } as const
    const ended = { from: "agent", message: { type: "result" } } as const
    const lines = [sent, began, sent, ended]
    const between = lines.reduce((state, line) => stepActivity(state, line, 1000), restingActivity(0))
    expect(mayEnd(restingActivity(0), 0)).toBe(true)
    expect(mayEnd(between, 1500)).toBe(false)
    expect(mayEnd(stepActivity(between, began, 1500), 5000)).toBe(false)
    expect(mayEnd(between, 5000)).toBe(true)
  })

  it("[RU27] kills one that is far above its ceiling in the middle of a turn", async () => {
    scene = await Scene.open({ limits: { memoryCeilingBytes: 150 * MB } })
    const spawn = await scene.launch()
    await scene.turn(spawn, "stubborn")
    scene.hub.say(spawn, "turn")
    await scene.hub.until(() => scene?.hub.lines(spawn).at(-1)?.includes("init") === true)
    scene.hub.say(spawn, "eat 400")
    scene.hub.say(spawn, "turn")
    await scene.hub.until(() => scene?.hub.exit(spawn) !== undefined)
    expect(scene.hub.exit(spawn)).toMatchObject({ signal: "SIGKILL", reason: expect.stringContaining("ceiling") })
    expect(scene.hub.exit(spawn)?.parked).toBeUndefined()
  })

  it("[RU28] puts an agent to rest that has been idle, and none that works, waits for an answer or has a task", async () => {
    scene = await Scene.open({ limits: { parkAfterMs: 1500 } })
    const [idle, working, asking] = [await scene.launch(), await scene.launch(), await scene.launch()]
    scene.hub.say(working, "turn")
    await scene.turn(asking, "ask ask-1")
    await scene.turn(idle, "cwd")
    await scene.hub.until(() => scene?.hub.exit(idle) !== undefined)
    expect(scene.hub.exit(idle)).toMatchObject({ parked: true, reason: expect.stringContaining("without work") })
    const rounds = scene.hub.stats.length
    await scene.hub.until(() => (scene?.hub.stats.length ?? 0) >= rounds + 20)
    expect([working, asking].map((spawn) => scene?.hub.exit(spawn))).toEqual([undefined, undefined])
    scene.hub.send(asking, { type: "control_response", response: { subtype: "success", request_id: "ask-1" } })
    await scene.hub.until(() => scene?.hub.exit(asking) !== undefined)
  })

  it("[RU28] puts an agent to rest whose only tasks are ambient: those run for as long as it does", async () => {
    scene = await Scene.open({ limits: { parkAfterMs: 1500 } })
    const spawn = await scene.launch()
    await scene.turn(spawn, "tasks ambient")
    await scene.hub.until(() => scene?.hub.exit(spawn) !== undefined)
    expect(scene.hub.exit(spawn)).toMatchObject({ parked: true })
  })

  it("[RU29] tells every few seconds what each agent uses", async () => {
    scene = await Scene.open()
    const spawn = await scene.launch()
    await scene.turn(spawn, "eat 50")
    await scene.hub.until(() => (scene?.hub.stats.at(-1)?.agents[0]?.memoryBytes ?? 0) > 50 * MB)
    const { memoryBytes, freeMemoryBytes, agents } = scene.hub.stats.at(-1) ?? {}
    expect(memoryBytes).toBeGreaterThan(10 * MB)
    expect(freeMemoryBytes).toBeGreaterThan(0)
    expect(agents).toMatchObject([{ spawn, session: "session-1", cpuPercent: expect.any(Number) }])
  })

  it("[RU29] an agent's use is that of its process, its descendants and the rest of its group", () => {
    const entry = (pid: number, parent: number, group: number, cpuMs = 0) => ({
      pid,
      parent,
      group,
      cpuMs,
      memoryBytes: pid,
      startedAt: "",
    })
    const table = [
      entry(1, 0, 1),
      entry(10, 1, 10, 300),
      entry(11, 10, 10, 50),
      entry(12, 11, 12),
      entry(13, 1, 10),
      entry(20, 1, 20),
    ]
    const before = { at: 0, byPid: new Map([[10, 100]]) }
    const usage = usageOfTrees([10, 20], table, { before, now: 1000 })
    expect(usage.get(10)).toEqual({ memoryBytes: 10 + 11 + 12 + 13, cpuPercent: 25 })
    expect(usage.get(20)).toEqual({ memoryBytes: 20, cpuPercent: 0 })
  })
})
