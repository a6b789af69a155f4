import { fork } from "node:child_process"
import { once } from "node:events"
import { afterEach, expect } from "vitest"
import { abuse } from "../gate.ts"
import {
  abuseCase,
  Bystander,
  expectUnharmed,
  type PlayedAgent,
  residentMb,
  Stage,
  socketUrl,
  streamUrl,
} from "./abuse-actors.ts"
import { RawSocket } from "./abuse-socket.ts"
import type { HubProcess } from "./hub-process.ts"

const stage = new Stage()
afterEach(() => stage.end())

const TEXT = "x".repeat(20_000)

/** A viewer may be so much behind, and no more than a few times that. */
const AHEAD = 100

/**
 * Says so much that no viewer's bound is left, as fast as the hub takes it, or the reader: on a busy machine a reader in this
 * process may be slower than the hub. Returns the last message's uuid.
 */
async function chatter(agent: PlayedAgent, megabytes: number, reader?: RawSocket): Promise<string> {
  const said: string[] = []
  while (said.length * TEXT.length < megabytes * 1024 * 1024) {
    said.push(agent.speak(TEXT))
    await agent.socket.drained()
    const isPause = said.length % AHEAD === 0
    const behind = said.at(-AHEAD)
    if (isPause) await reader?.until((line) => line.message?.uuid === behind)
  }
  return said.at(-1) ?? ""
}

abuseCase(
  "[AB11] one that never reads is told it lags and resumes at its cursor; another gets everything meanwhile",
  async () => {
    const hub = await stage.hub()
    const bystander = await Bystander.on(stage, hub)
    const agent = await stage.agent(hub)
    const reader = await stage.viewer(hub, agent.sessionId)
    const deaf = await stage.viewer(hub, agent.sessionId)
    deaf.socket.pause()
    const talk = chatter(agent, 60, reader)
    await bystander.workWhile(talk)
    const last = await talk
    await reader.until((line) => line.message?.uuid === last)
    deaf.socket.resume()
    const lagged = await deaf.until((line) => line.ev === "lagged")
    const seqsBefore = deaf.lines.flatMap((line) => (line.ev === "event" ? [line.seq] : []))
    expect(lagged).toMatchObject({ session: agent.sessionId, resumeAfter: seqsBefore.at(-1) })
    deaf.say({ op: "subscribe", session: agent.sessionId, after: lagged.resumeAfter })
    await deaf.until((line) => line.message?.uuid === last)
    const seqs = deaf.lines.flatMap((line) => (line.ev === "event" ? [line.seq] : []))
    const firstAmiss = seqs.findIndex((seq, index) => seq !== index + 1)
    expect(seqs.slice(Math.max(0, firstAmiss - 2), firstAmiss + 1), "around the first that is amiss").toEqual([])
    await expectUnharmed(hub, bystander)
  },
)

abuseCase("[AB12] one that never reads and asks for more and more is cut off", async () => {
  const hub = await stage.hub()
  const bystander = await Bystander.on(stage, hub)
  const deaf = await stage.socket(streamUrl(hub), hub.ready.token)
  deaf.say({ op: "subscribe", session: "*" })
  await deaf.until((line) => line.ev === "subscribed")
  deaf.socket.pause()
  const pings = Buffer.from('{"op":"ping"}\n'.repeat(4_000))
  const flood = async () => {
    while (!deaf.socket.destroyed) {
      deaf.write(pings)
      await deaf.drained()
      // Nothing is read of a paused socket: that it was ended shows in what can be written.
      if (deaf.socket.errored !== null || deaf.socket.closed) break
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await bystander.workWhile(flood())
  await expectUnharmed(hub, bystander)
})

abuseCase("[AB13] raw clients and relay frontends that never read are sent away and hold up nobody", async () => {
  const hub = await stage.hub(["--anonymous-relay"])
  const bystander = await Bystander.on(stage, hub)
  const agent = await stage.agent(hub)
  const raw = await stage.socket(`${socketUrl(hub)}/ws/session/${agent.sessionId}`, hub.ready.token)
  const relay = await stage.socket(`${socketUrl(hub)}/ws`)
  raw.socket.pause()
  relay.socket.pause()
  const sse = await fetch(`${hub.ready.url}/v1/code/sessions/${agent.sessionId}/events/stream`, {
    headers: { authorization: `Bearer ${hub.ready.token}` },
  })
  await bystander.workWhile(chatter(agent, 60))
  raw.socket.resume()
  relay.socket.resume()
  expect(await raw.closed).toSatisfy((code) => code === 1012 || code === 1006)
  expect(await relay.closed).toSatisfy((code) => code === 1012 || code === 1006)
  await sse.body?.cancel()
  await expectUnharmed(hub, bystander)
})

abuseCase("[AB14] a client whose process is stopped holds up nobody, and misses nothing when it goes on", async () => {
  const hub = await stage.hub()
  const bystander = await Bystander.on(stage, hub)
  const agent = await stage.agent(hub)
  const child = fork(new URL("./abuse-stopped-viewer.mjs", import.meta.url), [streamUrl(hub), agent.sessionId], {
    env: { SIGNALBOX_TOKEN: hub.ready.token },
    execArgv: [],
  })
  stage.onEnd(() => void child.kill("SIGKILL"))
  await once(child, "message")
  child.kill("SIGSTOP")
  const talk = chatter(agent, 3)
  await bystander.workWhile(talk)
  const last = await talk
  child.kill("SIGCONT")
  child.send(last)
  const [seqs] = await once(child, "message")
  expect(seqs).toEqual(seqs.map((_: number, index: number) => index + 1))
  expect(seqs.length).toBeGreaterThan(100)
  await expectUnharmed(hub, bystander)
})

abuseCase("[AB30] does so within five seconds although nobody answers its goodbye", async () => {
  const hub = await stage.hub(["--anonymous-relay"])
  const agent = await stage.agent(hub)
  const deaf = [
    agent.socket,
    await stage.viewer(hub, agent.sessionId),
    await stage.socket(`${socketUrl(hub)}/ws/session/${agent.sessionId}`, hub.ready.token),
    await stage.socket(`${socketUrl(hub)}/ws`),
  ]
  for (const { socket } of deaf) socket.pause()
  const startedAt = performance.now()
  expect(await hub.stop()).toBe(0)
  expect(performance.now() - startedAt).toBeLessThan(5_000)
})

abuseCase(
  "[AB15] thousands of idle viewers and agents are carried, within memory, while others work",
  async () => {
    const hub = await stage.hub(["--anonymous-agents"])
    const bystander = await Bystander.on(stage, hub)
    const before = residentMb(hub)
    const { connections } = abuse
    const viewers = await openMany(connections, () => RawSocket.open(streamUrl(hub), { token: hub.ready.token }))
    for (const viewer of viewers) viewer.say({ op: "subscribe", session: bystander.agent.sessionId })
    await Promise.all(viewers.map((viewer) => viewer.until((line) => line.ev === "subscribed", 60_000)))
    await bystander.work(20_000)
    for (const viewer of viewers) viewer.end()
    await expect.poll(() => viewersOf(hub, bystander), { timeout: 20_000 }).toBe(1)
    const agents = await openMany(connections, () => RawSocket.open(`${socketUrl(hub)}/`))
    await Promise.all(agents.map((one) => one.until((line) => line.request?.subtype === "initialize", 60_000)))
    await bystander.work(20_000)
    expect(residentMb(hub) - before).toBeLessThan(200)
    for (const agent of agents) agent.end()
    await expectUnharmed(hub, bystander)
  },
  180_000,
)

async function openMany(count: number, open: () => Promise<RawSocket>): Promise<RawSocket[]> {
  const opened: RawSocket[] = []
  while (opened.length < count) {
    const some = await Promise.all(Array.from({ length: Math.min(100, count - opened.length) }, open))
    for (const socket of some) stage.onEnd(() => socket.end())
    opened.push(...some)
  }
  return opened
}

async function viewersOf(hub: HubProcess, bystander: Bystander): Promise<number> {
  return (await hub.get(`/api/sessions/${bystander.agent.sessionId}`)).viewers
}
