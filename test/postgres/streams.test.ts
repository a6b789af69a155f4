import { connectHub, type FollowItem } from "@signalbox/client"
import { describe, expect, it, onTestFinished } from "vitest"
import type { HubProcess, Json } from "../hub/hub-process.ts"
import { pendingAsk, textsOf, WORDS } from "../runner/turns.ts"
import { hasPostgres } from "./server.ts"
import { isIn, openTwo, selfOf, startBeside } from "./several-hubs.ts"

const POLL = { timeout: 60_000, interval: 50 }

/** A program that watches on one hub: what it was told, in order. */
function watch(hub: HubProcess, session?: string) {
  const client = connectHub({
    url: hub.ready.url,
    token: hub.ready.token,
    reconnect: { baseDelayMs: 50, maxDelayMs: 500 },
  })
  const items: FollowItem[] = []
  const following = (async () => {
    const feed = session === undefined ? client.watch() : client.session(session).follow({ after: 0 })
    for await (const item of feed) items.push(item)
  })()
  onTestFinished(async () => {
    client.close()
    await following
  })
  const events = () => items.flatMap((item) => (item.type === "event" ? [item] : []))
  return {
    client,
    items,
    events,
    seqs: () => events().map(({ seq }) => seq),
    said: () => textsOf(events()),
    deltas: () => items.filter(({ type }) => type === "delta").length,
    asks: () => items.flatMap((item) => (item.type === "ask" ? [`${item.ask.id} ${item.ask.state}`] : [])),
    states: (id: string) =>
      items.flatMap((item) => (item.type === "changed" && item.session.id === id ? [item.session.state] : [])),
  }
}

const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

describe.runIf(hasPostgres)("watching on another hub than the agent's", () => {
  it("[CT50] events, deltas, requests and changes come as on the agent's own hub, also to somebody who comes in the middle of a sentence", async () => {
    const { at, beside } = await openTwo()
    const { id } = await at.launch()
    const [here, there] = [watch(at.hub, id), watch(beside, id)]
    await at.say(id, "speak")
    await expect.poll(() => there.deltas(), POLL).toBeGreaterThan(3)
    const late = watch(beside, id)
    await isIn(at.hub, id, "idle")
    const heard = async () => (await at.session(id)).lastSeq
    for (const viewer of [here, there, late]) {
      await expect.poll(async () => viewer.seqs().at(-1) === (await heard()), POLL).toBe(true)
      expect(viewer.seqs()).toEqual(upTo(viewer.seqs().length))
      expect(viewer.said()).toEqual([`Turn 0: ${WORDS}`])
    }
    expect(JSON.stringify(there.events())).toBe(JSON.stringify(here.events()))
    // The sentence so far came first: the whole of it can be put together.
    const text = late.items.flatMap((item) => {
      const event = item.type === "delta" ? (item.message["event"] as Json) : undefined
      return event?.type === "content_block_delta" ? [event.delta.text] : []
    })
    expect(text.join("")).toBe(`Turn 0: ${WORDS}`)

    await there.client.session(id).send("ask")
    const ask = await pendingAsk(at, id)
    await expect.poll(() => there.asks(), POLL).toEqual([`${ask.id} pending`])
    const later = watch(beside, id)
    await expect.poll(() => later.asks(), POLL).toEqual([`${ask.id} pending`])
    await there.client.answer(ask.id, { behavior: "allow" })
    await expect.poll(() => there.asks().at(-1), POLL).toBe(`${ask.id} allowed`)
    await expect.poll(() => there.states(id).at(-1), POLL).toBe("idle")
    expect(there.states(id)).toContain("running")
    await expect.poll(() => there.seqs().at(-1) === here.seqs().at(-1), POLL).toBe(true)
    expect(there.seqs()).toEqual(upTo(there.seqs().length))
  }, 180_000)

  it("[CT51] whoever watches all sessions hears of those of every hub: launches, requests, answers, reading and deleting", async () => {
    const { at, beside } = await openTwo()
    const all = [watch(at.hub), watch(beside)]
    for (const { items } of all) await expect.poll(() => items.length, POLL).toBeGreaterThan(0)
    const { id } = await at.launch({ prompt: "speak" })
    for (const viewer of all) await expect.poll(() => viewer.states(id).at(-1), POLL).toBe("idle")
    await at.say(id, "ask")
    const first = await pendingAsk(at, id)
    for (const viewer of all) await expect.poll(() => viewer.asks(), POLL).toContain(`${first.id} pending`)
    const newcomer = watch(beside)
    await expect.poll(() => newcomer.asks(), POLL).toEqual([`${first.id} pending`])
    await beside.post(`/api/asks/${first.id}/answer`, { behavior: "allow" })
    for (const viewer of [...all, newcomer]) {
      await expect.poll(() => viewer.asks(), POLL).toContain(`${first.id} allowed`)
      await expect.poll(() => viewer.states(id).at(-1), POLL).toBe("idle")
    }
    await beside.call("PUT", `/api/sessions/${id}/read`, { seq: 3 })
    for (const { items } of all)
      await expect.poll(() => items.find(({ type }) => type === "read"), POLL).toMatchObject({ sessionId: id, seq: 3 })
    await beside.call("DELETE", `/api/sessions/${id}`)
    await beside.call("DELETE", `/api/sessions/${id}?purge=true`)
    for (const { items } of all)
      await expect.poll(() => items.find(({ type }) => type === "purged"), POLL).toMatchObject({ sessionId: id })
    // Nobody is told by the other hub what they have heard here.
    expect(all.map(({ items }) => items.filter(({ type }) => type === "purged").length)).toEqual([1, 1])
  }, 180_000)

  it("[CT52] the agent's hub is killed in the middle of a sentence: its viewers on another hub go on, with every event once, and learn what was settled meanwhile", async () => {
    const { at, beside } = await openTwo()
    const { id } = await at.launch()
    const [one, all] = [watch(beside, id), watch(beside)]
    await at.say(id, "speak")
    await expect.poll(() => one.deltas(), POLL).toBeGreaterThan(3)
    await at.hub.kill()
    await at.restartHub()
    await isIn(beside, id, "idle")
    await beside.post(`/api/sessions/${id}/messages`, { content: "ask" })
    const ask = await pendingAsk(at, id)
    await expect.poll(() => one.asks(), POLL).toContain(`${ask.id} pending`)
    await expect.poll(() => all.asks(), POLL).toContain(`${ask.id} pending`)
    await beside.post(`/api/asks/${ask.id}/answer`, { behavior: "allow" })
    for (const viewer of [one, all]) await expect.poll(() => viewer.asks(), POLL).toContain(`${ask.id} allowed`)
    await expect.poll(() => all.states(id).at(-1), POLL).toBe("idle")
    await expect.poll(() => one.said(), POLL).toEqual([`Turn 0: ${WORDS}`, "Asked 0."])
    expect(one.seqs()).toEqual(upTo(one.seqs().length))
  }, 180_000)

  it("[CT53] only hubs that know the secret come in where hubs follow each other, and a hub that stops is taken for gone by those who watch", async () => {
    const { at, beside, hubFlags } = await openTwo()
    const { id } = await at.launch()
    const address = `${at.hub.ready.url.replace("http", "ws")}/cluster/stream`
    for (const token of ["", at.hub.ready.token]) {
      const socket = new (await import("ws")).WebSocket(address, { headers: { authorization: `Bearer ${token}` } })
      const status = await new Promise((resolve) => {
        socket.on("unexpected-response", (_request, response) => resolve(response.statusCode))
        socket.on("open", () => resolve("open"))
        socket.on("error", () => undefined)
      })
      expect(status).toBe(401)
      socket.terminate()
    }
    const third = await startBeside(hubFlags)
    const [one, all] = [watch(third, id), watch(third)]
    await at.say(id, "speak")
    await expect.poll(() => one.said(), POLL).toEqual([`Turn 0: ${WORDS}`])
    await at.hub.stop()
    await expect.poll(() => all.states(id).at(-1), POLL).toBe("disconnected")
    expect([await selfOf(beside), await selfOf(third)]).toContain((await third.get(`/api/sessions/${id}`)).owner)
    await at.restartHub()
    await isIn(third, id, "idle")
    await expect.poll(() => all.states(id).at(-1), POLL).toBe("idle")
    await third.post(`/api/sessions/${id}/messages`, { content: "ask" })
    const ask = await pendingAsk(at, id)
    // Whoever subscribes is told of what is open, also if it has just been asked.
    await expect.poll(() => [...new Set(one.asks())], POLL).toEqual([`${ask.id} pending`])
    expect(one.seqs()).toEqual(upTo(one.seqs().length))
  }, 180_000)
})
