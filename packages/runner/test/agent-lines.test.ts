import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { afterEach, describe, expect, it } from "vitest"
import { eventually, Scene } from "./runner-scene.ts"

let scene: Scene

afterEach(() => scene.dispose())

/** The numbers that the test's program counted, in the order in which the hub has them. */
function counted(spawn: string): number[] {
  return scene.hub.lines(spawn).flatMap((line) => {
    const { n } = JSON.parse(line) as { n?: number }
    return n === undefined ? [] : [n]
  })
}

function taken(spawn: string): number {
  return scene.hub.agent(spawn).taken.length
}

/** The program's last numbers come before the few lines that end its turn. */
function hasCounted(spawn: string, last: number): boolean {
  const { taken: frames } = scene.hub.agent(spawn)
  return frames.slice(-10).some((frame) => frame.kind === "line" && frame.line.includes(`"n":${last}`))
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at + 1)
}

describe("what an agent says", () => {
  it("[RU1] reaches the hub as it is, each line behind its number, dense from 1", async () => {
    scene = await Scene.open()
    const spawn = await scene.launch()
    await scene.turn(spawn, "lines 1000")
    expect(counted(spawn)).toEqual(upTo(1000))
    expect(scene.hub.agent(spawn).attaches[0]).toMatchObject({ op: "attach", spawn, session: "session-1", first: 1 })
  })

  it("[RU2] is sent again after a reconnect, from the first that is not acknowledged", async () => {
    scene = await Scene.open()
    scene.hub.isAcking = false
    const spawn = await scene.launch()
    await scene.turn(spawn, "lines 50")
    scene.hub.ack(spawn, 20)
    // The answer to a line that was sent behind the acknowledgement tells that it was read.
    await scene.turn(spawn, "cwd")
    await scene.hub.leave()
    const before = scene.hub.agent(spawn).frames.length
    await scene.hub.come()
    await scene.hub.until(() => scene.hub.agent(spawn).frames.length > before)
    expect(scene.hub.agent(spawn).attaches[1]).toMatchObject({ first: 21 })
    expect(scene.hub.agent(spawn).frames[before]?.number).toBe(21)
  })

  it("[RU3] [RU1] is kept on disk while the hub is away, 100,000 lines of it, and is complete and in order when it is back", async () => {
    scene = await Scene.open({ limits: { keptMemoryBytes: 100_000 } })
    const spawn = await scene.launch()
    await scene.turn(spawn, "cwd")
    scene.hub.say(spawn, "lines 100000 20")
    await scene.hub.until(() => taken(spawn) > 10)
    await scene.hub.leave()
    const spool = join(scene.state, "spool", spawn)
    await eventually(() => existsSync(spool) && readdirSync(spool).length > 0)
    await scene.hub.come()
    await scene.hub.until(() => hasCounted(spawn, 100_000))
    expect(counted(spawn)).toEqual(upTo(100_000))
    expect(scene.hub.agent(spawn).mostLines).toBe(1_000)
    // A second time away, with the turn's end behind it.
    await scene.turn(spawn, "lines 10")
    await scene.hub.leave()
    await scene.hub.come()
    await scene.hub.until(() => scene.hub.agent(spawn).socket !== undefined)
    await scene.turn(spawn, "lines 5")
    expect(counted(spawn).slice(100_000)).toEqual([...upTo(10), ...upTo(5)])
  })

  it("[RU4] has a budget on disk: past it the agent waits, and nothing is dropped", async () => {
    scene = await Scene.open({ limits: { keptMemoryBytes: 100_000, keptDiskBytes: 2_000_000 } })
    const spawn = await scene.launch()
    scene.hub.isAcking = false
    // Ten times as much as may be kept.
    scene.hub.say(spawn, "lines 20000 1000")
    await scene.hub.until(() => taken(spawn) > 1_000)
    await scene.turnsStill(spawn)
    expect(counted(spawn).length).toBeLessThan(20_000)
    scene.hub.isAcking = true
    scene.hub.ack(spawn, scene.hub.agent(spawn).frames.length)
    await scene.hub.until(() => hasCounted(spawn, 20_000))
    expect(counted(spawn)).toEqual(upTo(20_000))
  })

  it("[RU5] leaves nothing on disk once it is acknowledged", async () => {
    scene = await Scene.open({ limits: { keptMemoryBytes: 1_000 } })
    const spawn = await scene.launch()
    await scene.turn(spawn, "lines 5000")
    const spool = join(scene.state, "spool", spawn)
    await eventually(() => readdirSync(spool).length === 0)
    await scene.hub.ask({ kind: "stop", spawn, reason: "test" })
    await eventually(() => !existsSync(spool))
    expect(scene.hub.exit(spawn)).toBeDefined()
  })
})
