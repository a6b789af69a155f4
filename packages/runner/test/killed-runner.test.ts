import { type ChildProcess, spawn as spawnProcess } from "node:child_process"
import { once } from "node:events"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { afterEach, describe, expect, it } from "vitest"
import { findRunner } from "../src/index.ts"
import { lockAddress } from "../src/state/directory-lock.ts"
import { processEntry, psEntry } from "../src/state/process-table.ts"
import { sweep } from "../src/state/sweep.ts"
import { eventually, isAlive, LINK_TIMING, Scene } from "./runner-scene.ts"

const MAIN = join(import.meta.dirname, "runner-main.mjs")

let scene: Scene
const mains: ChildProcess[] = []

afterEach(async () => {
  for (const main of mains.splice(0)) {
    if (main.exitCode !== null || main.signalCode !== null) continue
    const exited = once(main, "exit")
    main.kill("SIGKILL")
    await exited
  }
  // A test that failed half-way leaves agents behind: the next runner ends them.
  await scene.runner?.close({ agents: true })
  await scene.start()
  await scene.dispose()
})

/** A runner in a process of its own, in the place of the scene's. */
async function startMain(): Promise<ChildProcess> {
  await scene.runner?.close({ agents: true })
  const limits = { startSpacingMs: 0, stopGraceMs: 1000, killAfterMs: 1000, spoolAfterMs: 20, statsMs: 100 }
  const options = { hubUrl: scene.hub.url, stateDirectory: scene.state, limits, linkTiming: LINK_TIMING }
  const main = spawnProcess(process.execPath, [MAIN, JSON.stringify(options)], { stdio: ["ignore", "pipe", "inherit"] })
  mains.push(main)
  await once(main.stdout ?? main, "data")
  await scene.hub.until(() => scene.hub.isControlled)
  return main
}

async function kill(main: ChildProcess, signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
  const exited = once(main, "exit")
  main.kill(signal)
  await exited
  await scene.hub.until(() => !scene.hub.isControlled)
}

/** The next runner, in this process; the hub has heard of it. */
async function startHere(): Promise<void> {
  const before = scene.hub.hellos.length
  await scene.start({ limits: { killAfterMs: 500 } })
  await scene.hub.until(() => scene.hub.hellos.length > before)
}

describe("a runner that was killed", () => {
  it("[RU20] leaves nothing running after its next start, not even what left the agent's group, and says which sessions were cut", async () => {
    scene = await Scene.open()
    const main = await startMain()
    const spawn = await scene.launch()
    await scene.turn(spawn, "stubborn")
    const pid = pidOf(spawn)
    await scene.turn(spawn, "child group")
    const inGroup = Number(scene.message(spawn, "child")["pid"])
    await scene.turn(spawn, "child away")
    const away = Number(scene.message(spawn, "child")["pid"])
    await kill(main)
    expect([pid, inGroup, away].map(isAlive)).toEqual([true, true, true])

    await startHere()
    expect([pid, inGroup, away].filter(isAlive)).toEqual([])
    const cut = [{ spawn, session: "session-1", reason: "the runner was killed" }]
    expect(scene.hub.hellos.at(-1)).toMatchObject({ agents: [], cut })

    // Told again until it is noted, by the next runner too.
    await scene.runner?.close({ agents: true })
    await startHere()
    expect(scene.hub.hellos.at(-1)).toMatchObject({ cut })
    scene.hub.note([spawn])
    await eventually(() => !readFileSync(join(scene.state, "runner-state.json"), "utf8").includes("was killed"))
    const ids = scene.hub.hellos.map(({ runner }) => runner.id)
    expect(new Set(ids).size).toBe(1)
  })

  it("[RU21] leaves on disk what the hub does not have; the next one delivers it, and then the end", async () => {
    scene = await Scene.open()
    const main = await startMain()
    const spawn = await scene.launch()
    await scene.turn(spawn, "lines 10")
    scene.hub.say(spawn, "later lines 2000")
    await scene.hub.until(() => scene.hub.lines(spawn).some((line) => line.includes("later")))
    await scene.hub.leave()
    await eventually(() => onDisk(spawn).includes('"n":2000'))
    main.kill("SIGKILL")
    await once(main, "exit")

    await scene.start()
    await scene.hub.come()
    await scene.hub.until(() => scene.hub.exit(spawn) !== undefined)
    expect(scene.hub.hellos.at(-1)).toMatchObject({ agents: [{ spawn }], cut: [] })
    expect(scene.hub.exit(spawn)).toEqual({ reason: "the runner was killed" })
    const counted = scene.hub.lines(spawn).flatMap((line) => (JSON.parse(line) as { n?: number }).n ?? [])
    expect(counted.slice(10)).toEqual(Array.from({ length: 2000 }, (_, at) => at + 1))
    await eventually(() => !existsSync(join(scene.state, "spool", spawn)))
  })

  it("[RU83] leaves no secrets of its launches on disk after the next start", async () => {
    scene = await Scene.open()
    const main = await startMain()
    const mcpServers = { web: { type: "http", url: "http://x", headers: { Authorization: "Bearer secret" } } }
    const spawn = await scene.launch({ options: { mcpServers } })
    await kill(main)
    expect(readdirSync(join(scene.state, "launch"))).toEqual([spawn])
    await startHere()
    expect(existsSync(join(scene.state, "launch"))).toBe(false)
  })

  it("[RU20] a process that only has the number of one of ours is left alone", async () => {
    scene = await Scene.open()
    const bystander = spawnProcess(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { detached: true })
    mains.push(bystander)
    const pid = bystander.pid ?? 0
    const own = await processEntry(pid)
    const record = (processStartedAt: string) => ({
      session: "s",
      startedAt: new Date().toISOString(),
      launched: { spawn: crypto.randomUUID(), pid, cwd: "/" },
      processStartedAt,
    })
    expect(await sweep([record("another time")], { killAfterMs: 100 })).toEqual(new Set())
    expect(isAlive(pid)).toBe(true)
    const exited = once(bystander, "exit")
    expect((await sweep([record(own?.startedAt ?? "")], { killAfterMs: 5_000 })).size).toBe(1)
    await exited
  })

  it("[RU20] where there is no /proc, processes are read from ps", () => {
    expect(psEntry("  501   1   501  2048   1-02:03:04.50 Ss   Mon Nov  2 10:11:12 2026  ")).toEqual({
      pid: 501,
      parent: 1,
      group: 501,
      memoryBytes: 2048 * 1024,
      cpuMs: (86_400 + 2 * 3600 + 3 * 60 + 4.5) * 1000,
      startedAt: "Mon Nov  2 10:11:12 2026",
    })
    expect(psEntry("  501   1   501  0   0:00.00 Z    Mon Nov  2 10:11:12 2026")).toBeUndefined()
  })
})

describe("a runner that is stopped", () => {
  it("[RU22] takes its agents down, and what the hub does not have of them is there for its return", async () => {
    scene = await Scene.open()
    const main = await startMain()
    const spawn = await scene.launch()
    await scene.turn(spawn, "lines 10")
    const pid = pidOf(spawn)
    await scene.hub.leave()
    main.kill("SIGTERM")
    await once(main, "exit")
    expect(isAlive(pid)).toBe(false)
    await scene.start()
    await scene.hub.come()
    await scene.hub.until(() => scene.hub.exit(spawn) !== undefined)
    expect(scene.hub.exit(spawn)).toMatchObject({ reason: "the runner was stopped" })
    expect(scene.hub.notes(spawn)).toHaveLength(1)
  })

  it("[RU22] lives on with its agents when it is asked to end only without them", async () => {
    scene = await Scene.open()
    const spawn = await scene.launch()
    expect(await scene.runner?.close({ agents: false })).toBe(false)
    await scene.hub.ask({ kind: "stop", spawn, reason: "test" })
    expect(await scene.runner?.close({ agents: false, reason: "done" })).toBe(true)
    expect(await scene.runner?.closed).toBe("done")
  })

  it("[RU23] one runner has the directory; a second says who; a killed one holds nothing", async () => {
    scene = await Scene.open()
    const main = await startMain()
    expect(await findRunner(scene.state)).toBe(main.pid)
    await expect(scene.start()).rejects.toMatchObject({
      code: "runner/locked",
      message: expect.stringContaining(`pid ${main.pid}`),
    })
    await kill(main)
    expect(await findRunner(scene.state)).toBeUndefined()
    await scene.start()
    expect(await findRunner(scene.state)).toBe(process.pid)
  })

  it("[RU23] what the directory does not say is not believed, and whoever asks and stays keeps nobody waiting", async () => {
    scene = await Scene.open()
    expect(await findRunner(scene.state)).toBe(process.pid)
    const asking = connect({ path: lockAddress(scene.state), allowHalfOpen: true })
    await once(asking.resume(), "end")
    writeFileSync(join(scene.state, "lock-holder"), "1")
    expect(await findRunner(scene.state)).toBeUndefined()
    await expect(scene.start()).rejects.toMatchObject({ code: "runner/locked" })
    await scene.runner?.close({ agents: true })
    asking.destroy()
    await scene.start()
    expect(await findRunner(scene.state)).toBe(process.pid)
  })

  it("[RU22] keeps the last of an agent of which too much waits for the hub, and how it ended", async () => {
    const limits = { keptMemoryBytes: 100_000, keptDiskBytes: 1_000_000, stopGraceMs: 200, killAfterMs: 500 }
    scene = await Scene.open({ limits })
    const spawn = await scene.launch()
    scene.hub.isAcking = false
    scene.hub.say(spawn, "lines 20000 1000")
    await scene.hub.until(() => scene.hub.agent(spawn).frames.length > 500)
    await scene.turnsStill(spawn)
    await scene.runner?.close({ agents: true })
    scene.hub.isAcking = true
    await scene.start({ limits })
    await scene.hub.until(() => scene.hub.exit(spawn) !== undefined)
    expect(scene.hub.exit(spawn)).toMatchObject({ reason: "the runner was stopped" })
  })

  it("[RU24] without an agent and without a hub it ends itself after a while, and not while it has either", async () => {
    scene = await Scene.open({ limits: { idleExitMs: 150 } })
    const spawn = await scene.launch()
    await scene.hub.leave()
    await eventually(() => existsSync(join(scene.state, "spool", spawn)) || scene.runner?.agents === 1)
    await scene.hub.come()
    await scene.hub.until(() => scene.hub.agent(spawn).socket !== undefined)
    await scene.hub.ask({ kind: "stop", spawn, reason: "test" })
    expect(scene.runner?.agents).toBe(0)
    await scene.hub.leave()
    expect(await scene.runner?.closed).toBe("no agent and no hub for a while")
  })
})

function pidOf(spawn: string): number {
  const pid = scene.hub.agent(spawn).attaches[0]?.pid
  if (pid === undefined) throw new Error(`${spawn} did not attach`)
  return pid
}

function onDisk(spawn: string): string {
  const folder = join(scene.state, "spool", spawn)
  if (!existsSync(folder)) return ""
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("")
}
