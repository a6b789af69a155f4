import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { pino } from "pino"
import { afterEach, describe, expect, it } from "vitest"
import { AgentInput } from "../src/agents/agent-stream.ts"
import { runnerIdIn } from "../src/index.ts"
import { DEFAULT_LINK_TIMING, linkEnd, retryDelayMs } from "../src/link/hub-link.ts"
import { eventually, isAlive, LINK_TIMING, Scene } from "./runner-scene.ts"

let scene: Scene

afterEach(() => scene.dispose())

function got(spawn: string): unknown[] {
  return scene.hub.lines(spawn).flatMap((line) => {
    const message = JSON.parse(line) as { type: string; message?: unknown }
    return message.type === "got" ? [message.message] : []
  })
}

function saw(spawn: string, text: string): boolean {
  return scene.hub.lines(spawn).some((line) => line.includes(text))
}

const answer = (id: string, response: unknown = {}) => ({
  type: "control_response",
  response: { subtype: "success", request_id: id, response },
})

async function awayAndBack(spawn: string): Promise<void> {
  await scene.hub.leave()
  await scene.hub.come()
  await scene.hub.until(() => scene.hub.agent(spawn).socket !== undefined)
}

describe("lines for the agent", () => {
  it("[RU7] arrive in order, and a message or an answer that comes again is not given to it again", async () => {
    scene = await Scene.open()
    const spawn = await scene.launch()
    for (const id of ["a", "b", "a", "c", "b"]) scene.hub.send(spawn, answer(id))
    scene.hub.say(spawn, "cwd", "message-1")
    scene.hub.say(spawn, "cwd", "message-1")
    await awayAndBack(spawn)
    scene.hub.say(spawn, "cwd", "message-1")
    scene.hub.send(spawn, answer("c"))
    await scene.turn(spawn, "cwd")
    expect(got(spawn)).toEqual([answer("a"), answer("b"), answer("c")])
    expect(scene.hub.lines(spawn).filter((line) => line.includes("message-1"))).toHaveLength(1)
  })

  it("[RU7] wait at the hub while the agent takes none, over a reconnect too, and none is lost", async () => {
    scene = await Scene.open()
    const spawn = await scene.launch()
    const big = "x".repeat(1024 * 1024)
    scene.hub.say(spawn, "stall 3000")
    await scene.hub.until(() => saw(spawn, "init"))
    for (let n = 0; n < 20; n++) scene.hub.say(spawn, `none ${big}`)
    const waiting = () => scene.hub.agent(spawn).socket?.bufferedAmount ?? 0
    await expect.poll(async () => waiting() === (await soon(waiting))).toBe(true)
    expect(waiting()).toBeGreaterThan(0)
    await awayAndBack(spawn)
    // More than may wait for a process.
    for (let n = 0; n < 80; n++) scene.hub.say(spawn, `none ${big}`, `big-${n}`)
    await scene.turn(spawn, "cwd")
    const done = scene.hub.lines(spawn).flatMap((line) => /"uuid":"(big-\d+)"/.exec(line)?.[1] ?? [])
    expect(done).toEqual(Array.from({ length: 80 }, (_, n) => `big-${n}`))
  })

  it("[RU7] that a process refuses because too much waits for it may come again", async () => {
    let refusal: Error | undefined = new Error("too much waits")
    const sent: string[] = []
    const child = {
      async send(line: string) {
        if (refusal !== undefined) throw refusal
        sent.push(line)
      },
    }
    const input = new AgentInput({ child, onFull: () => undefined })
    const message = JSON.stringify({ type: "user", uuid: "m1", message: { role: "user", content: "x" } })
    input.write(message)
    await expect.poll(() => input.undelivered).toEqual(["m1"])
    refusal = undefined
    input.write(message)
    await expect.poll(() => input.lastReceived).toBe("m1")
    expect([input.undelivered, sent]).toEqual([[], [message]])
  })
})

describe("a hub that has lost the session", () => {
  it("[RU130] is not listened to, whichever connection it greets on, and nothing is let go of for it; others are", async () => {
    scene = await Scene.open()
    const spawn = await scene.launch()
    const agent = scene.hub.agent(spawn)
    scene.hub.command(spawn, { ev: "attached", epoch: 2 })
    await scene.turn(spawn, "cwd")
    scene.hub.isAcking = false
    await scene.turn(spawn, "cwd")
    await awayAndBack(spawn)
    for (const attaches of [2, 3]) {
      await scene.hub.until(() => agent.attaches.length === attaches)
      scene.hub.command(spawn, { ev: "attached", epoch: 1 })
      scene.hub.send(spawn, answer("old"))
      scene.hub.ack(spawn, agent.frames.at(-1)?.number ?? 0)
    }
    await scene.hub.until(() => agent.attaches.length === 4)
    expect(agent.attaches[3]?.first).toBe(agent.attaches[1]?.first)
    scene.hub.isAcking = true
    scene.hub.command(spawn, { ev: "attached", epoch: 2 })
    scene.hub.send(spawn, answer("again"))
    await scene.hub.until(() => got(spawn).length === 1)
    await awayAndBack(spawn)
    // A hub alone, or an older one.
    scene.hub.command(spawn, { ev: "attached" })
    scene.hub.send(spawn, answer("alone"))
    await scene.hub.until(() => got(spawn).length === 2)
    await awayAndBack(spawn)
    scene.hub.command(spawn, { ev: "attached", epoch: 1 })
    scene.hub.send(spawn, answer("moved"))
    await scene.hub.until(() => got(spawn).length === 3)
    expect(got(spawn)).toEqual(["again", "alone", "moved"].map((id) => answer(id)))
  })

  it("[RU130] is believed in the end: the database was set back", async () => {
    scene = await Scene.open({ linkTiming: { ...LINK_TIMING, outdatedMs: 300 } })
    const spawn = await scene.launch()
    const { attaches } = scene.hub.agent(spawn)
    scene.hub.command(spawn, { ev: "attached", epoch: 9 })
    await scene.turn(spawn, "cwd")
    await awayAndBack(spawn)
    await scene.hub.until(() => attaches.length === 2)
    while (got(spawn).length === 0) {
      const greeted = attaches.length
      scene.hub.command(spawn, { ev: "attached", epoch: 1 })
      scene.hub.send(spawn, answer(`after ${greeted} greetings`))
      await scene.hub.until(() => attaches.length > greeted || got(spawn).length > 0)
    }
    expect(attaches.length).toBeGreaterThan(2)
    expect(got(spawn)).toEqual([answer(`after ${attaches.length} greetings`)])
  })
})

describe("while the hub is away", () => {
  it("[RU8] the agent goes on, its input stays open, and its asks wait", async () => {
    scene = await Scene.open()
    const spawn = await scene.launch()
    await scene.turn(spawn, "ask ask-1")
    await awayAndBack(spawn)
    expect(got(spawn)).toEqual([])
    scene.hub.send(spawn, answer("ask-1", { behavior: "allow" }))
    await scene.hub.until(() => got(spawn).length === 1)
    expect(got(spawn)).toEqual([answer("ask-1", { behavior: "allow" })])
    expect(scene.hub.exit(spawn)).toBeUndefined()
  })

  it("[RU9] a hook that was called is answered open, with a note, and the hub's own answer comes too late", async () => {
    scene = await Scene.open()
    const spawn = await scene.launch()
    await scene.turn(spawn, "hook hook-1")
    expect(got(spawn)).toEqual([])
    await awayAndBack(spawn)
    await scene.hub.until(() => got(spawn).length === 1)
    expect(got(spawn)).toEqual([answer("hook-1")])
    expect(scene.hub.notes(spawn)).toEqual([{ kind: "hook-answered", requestId: "hook-1", how: "open" }])
    scene.hub.send(spawn, answer("hook-1", { decision: "block" }))
    await scene.turn(spawn, "cwd")
    expect(got(spawn)).toHaveLength(1)
  })

  it("[RU9] a hook that blocks when it cannot be asked is answered so, also one that is called meanwhile", async () => {
    scene = await Scene.open()
    const spawn = await scene.launch()
    scene.hub.command(spawn, { ev: "hooks", onFailure: { "cb-hook-2": "block" } })
    await scene.turn(spawn, "cwd")
    scene.hub.say(spawn, "later hook hook-2")
    await scene.hub.until(() => saw(spawn, "later"))
    await scene.hub.leave()
    await eventually(() => onDisk(spawn).includes("hook-answered"))
    await scene.hub.come()
    await scene.hub.until(() => got(spawn).length === 1)
    expect(got(spawn)).toMatchObject([
      {
        response: {
          request_id: "hook-2",
          response: { decision: "block", hookSpecificOutput: { permissionDecision: "deny" } },
        },
      },
    ])
    expect(scene.hub.notes(spawn)).toEqual([{ kind: "hook-answered", requestId: "hook-2", how: "block" }])
  })

  it("[RU44] a call that was open when it went is answered with an error, once; one that is made meanwhile waits for it", async () => {
    scene = await Scene.open()
    const spawn = await scene.launch()
    await scene.turn(spawn, "call call-1")
    scene.hub.say(spawn, "later call call-2")
    await scene.hub.until(() => saw(spawn, "later"))
    await scene.hub.leave()
    await eventually(() => onDisk(spawn).includes("call-2"))
    await scene.hub.come()
    await scene.hub.until(() => saw(spawn, "call-2") && got(spawn).length > 0)
    const error: unknown = expect.stringContaining("try again")
    const failed = { type: "control_response", response: { subtype: "error", request_id: "call-1", error } }
    expect(got(spawn)).toEqual([failed])
    scene.hub.send(spawn, answer("call-1"))
    scene.hub.send(spawn, answer("call-2"))
    await scene.hub.until(() => got(spawn).length > 1)
    expect(got(spawn)).toEqual([failed, answer("call-2")])
  })

  it("[RU10] it is dialled again for ever, wherever it is then, and a hub that refuses is tried slowly", async () => {
    scene = await Scene.open()
    const spawn = await scene.launch()
    await scene.hub.leave()
    scene.hub.token = "another"
    await scene.hub.come()
    await scene.hub.until(() => scene.hub.refusals >= 2)
    expect(scene.hub.isControlled).toBe(false)
    scene.hub.token = "runner-token"
    await scene.turn(await connected(spawn), "cwd")
    expect(scene.hub.hellos.at(-1)?.agents).toMatchObject([{ spawn, session: "session-1" }])
  })

  it("[RU60] a hub that refuses its hello is tried slowly, and the log has the hub's own reason, once", async () => {
    const said: string[] = []
    const write = (text: string) => void said.push((JSON.parse(text) as { msg: string }).msg)
    scene = await Scene.open({ log: pino({ level: "info" }, { write }) })
    await scene.hub.until(() => scene.hub.isControlled)
    await scene.hub.leave()
    scene.hub.refuseHello = { code: 4001, reason: "this runner's id belongs to another token" }
    const before = scene.hub.hellos.length
    await scene.hub.come()
    await scene.hub.until(() => scene.hub.hellos.length >= before + 3)
    const refused = said.filter((text) => text.includes("refused"))
    expect(refused).toEqual(["The hub refused this runner: this runner's id belongs to another token"])
    expect(retryDelayMs(DEFAULT_LINK_TIMING, { why: linkEnd(4001, undefined), failures: 1, roll: 0 })).toBe(15_000)
    scene.hub.refuseHello = undefined
    await scene.hub.until(() => scene.hub.isControlled)
  })

  it("[RU61] it is the same runner after a restart, although it never started an agent", async () => {
    scene = await Scene.open()
    await scene.hub.until(() => scene.hub.isControlled)
    await scene.runner?.close({ agents: true })
    await scene.start()
    await scene.hub.until(() => scene.hub.hellos.length === 2)
    const [first, second] = scene.hub.hellos.map(({ runner }) => runner.id)
    expect(second).toBe(first)
    expect(runnerIdIn(scene.state)).toBe(first)
    expect(runnerIdIn(join(scene.base, "nowhere"))).toBeUndefined()
  })

  it("[RU10] a connection on which nothing is heard any more is given up and dialled anew", async () => {
    scene = await Scene.open({ linkTiming: { baseDelayMs: 20, maxDelayMs: 100, pingMs: 50, silenceMs: 1000 } })
    const spawn = await scene.launch()
    const { socket, attaches } = scene.hub.agent(spawn)
    const before = attaches.length
    // A hub that hangs: it reads nothing, so that it answers no ping.
    socket?.pause()
    await scene.hub.until(() => attaches.length > before)
    await scene.turn(spawn, "cwd")
    expect(scene.hub.agent(spawn).socket).not.toBe(socket)
  })

  it("[RU11] an agent whose session the hub does not know is stopped, and nothing of it is kept", async () => {
    scene = await Scene.open()
    const spec = scene.spec()
    scene.hub.refuseAgents = { code: 4004, reason: "no such session" }
    const { pid } = await scene.hub.launch(spec)
    await eventually(() => !isAlive(pid))
    await awayAndHello()
    expect(scene.hub.hellos.at(-1)).toMatchObject({ agents: [], cut: [] })
  })
})

async function soon<T>(look: () => T): Promise<T> {
  return new Promise((resolve) => setTimeout(() => resolve(look()), 100))
}

/** What is kept of an agent while the hub is away. */
function onDisk(spawn: string): string {
  const folder = join(scene.state, "spool", spawn)
  if (!existsSync(folder)) return ""
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("")
}

async function connected(spawn: string): Promise<string> {
  await scene.hub.until(() => scene.hub.agent(spawn).socket !== undefined)
  return spawn
}

async function awayAndHello(): Promise<void> {
  const before = scene.hub.hellos.length
  await scene.hub.leave()
  await scene.hub.come()
  await scene.hub.until(() => scene.hub.hellos.length > before)
}
