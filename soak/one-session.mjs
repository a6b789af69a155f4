// @ts-check
// The life of one session in the scripted year. Most are short: made, sent a message and stopped. Some have an
// agent that dials in, takes turns and asks; a few of those are kept for good.

import { randomUUID } from "node:crypto"
import { setTimeout as pause } from "node:timers/promises"
import { WireAgent } from "../scripts/wire-agent.mjs"
import { hashOf, readEvents } from "./ledger.mjs"

/**
 * @import { HubUnderTest, Json } from "./hub-under-test.mjs"
 * @import { Kept, Ledger } from "./ledger.mjs"
 * @typedef {{ hub: HubUnderTest, ledger: Ledger, random: () => number, keptShare: number }} Scene
 */

const TALKING = 0.2
/** Kept sessions that are never stopped: their agents just leave. */
const LEFT_OPEN = 0.1
const CONTESTED = 0.2
const PURGED_BY_HAND = 0.02
const PATIENCE_MS = 60_000

/** @param {Scene} scene */
export async function liveOneSession(scene) {
  const { hub, ledger, random, keptShare } = scene
  const isKept = random() < keptShare
  const isTalking = isKept || random() < TALKING
  const request = { agent: "external", title: `Session ${ledger.created}`, requestKey: randomUUID() }
  ledger.created += 1
  const { id, ingress } = await hub.must("POST", "/api/sessions", request)
  /** @type {Kept} */
  const kept = { messages: new Map(), asks: new Map(), said: [], events: [] }
  // The hub was killed after it had made the session and before it could say so: its agent's token is lost.
  const agent = isTalking && ingress !== undefined ? await dial(ingress) : undefined
  try {
    if (agent === undefined) await send(scene, id, kept)
    else for (let turn = random() < 0.5 ? 1 : 2; turn > 0; turn -= 1) await takeTurn(scene, { id, agent, kept })
    if (isKept && agent !== undefined) return await keep(scene, id, kept)
    await end(scene, id)
  } finally {
    agent?.leave()
  }
}

/** @param {Scene} scene @param {string} id @param {Kept} kept */
async function send({ hub, ledger }, id, kept) {
  const uuid = randomUUID()
  const { seq } = await hub.must("POST", `/api/sessions/${id}/messages`, { content: `Go on, ${uuid}.`, uuid })
  kept.messages.set(uuid, seq)
  ledger.messages += 1
  return uuid
}

/** @param {Scene} scene @param {{ id: string, agent: WireAgent, kept: Kept }} session */
async function takeTurn(scene, { id, agent, kept }) {
  const uuid = await send(scene, id, kept)
  await agent.hears((line) => line["uuid"] === uuid)
  const said = [agent.begin("/srv/project"), agent.speak(`The answer to ${uuid}. ${"All is well. ".repeat(20)}`)]
  const request = agent.ask("Bash", { command: `make ${uuid}`, description: "one of many" })
  const state = await settle(scene, id, request, kept)
  const { behavior } = await agent.answer(request)
  scene.ledger.require(
    (behavior === "allow") === (state === "allowed"),
    () => `${id}: the agent was told ${behavior}, and it was ${state}`,
  )
  said.push(agent.speak("That was it."), agent.finish("Done."))
  kept.said.push(...said.map((line) => line["uuid"]))
  await until(async () => {
    const { body } = await scene.hub.call("GET", `/api/sessions/${id}`)
    return body["state"] === "idle"
  }, `${id} did not come to the end of its turn`)
}

/** One answer, or two at once that contradict each other. @param {Scene} scene @param {string} id @param {Json} request @param {Kept} kept */
async function settle({ hub, ledger, random }, id, request, kept) {
  /** @type {Json} */
  let ask = {}
  await until(async () => {
    const { body } = await hub.call("GET", `/api/asks?session=${id}&state=pending`)
    ask = body["asks"]?.find((/** @type {Json} */ { requestId }) => requestId === request["request_id"]) ?? {}
    return ask["id"] !== undefined
  }, `${id}: its request was not asked`)
  const verdicts = random() < 0.7 ? ["allow", "deny"] : ["deny", "allow"]
  const given = verdicts.slice(0, random() < CONTESTED ? 2 : 1)
  const answer = (/** @type {string} */ behavior) =>
    hub.call("POST", `/api/asks/${ask["id"]}/answer`, { behavior, answerId: `${ask["id"]} ${behavior}` })
  const replies = await Promise.all(given.map(answer))
  const winners = replies.filter(({ status }) => status === 200).map(({ body }) => body["state"])
  ledger.require(winners.length === 1, () => `${id}: ${winners.length} answers won, of ${JSON.stringify(replies)}`)
  ledger.asks += 1
  kept.asks.set(ask["id"], winners[0])
  return winners[0]
}

/** @param {Scene} scene @param {string} id @param {Kept} kept */
async function keep({ hub, ledger, random }, id, kept) {
  // Pinned sessions are never pruned, nor are those that have not ended.
  if (random() >= LEFT_OPEN) {
    await hub.must("PATCH", `/api/sessions/${id}`, { pinned: true })
    await hub.must("DELETE", `/api/sessions/${id}`)
  }
  kept.events = (await readEvents(hub, id))?.map(hashOf) ?? []
  ledger.require(kept.events.length > 0, () => `${id} cannot be read`)
  ledger.kept.set(id, kept)
}

/** @param {Scene} scene @param {string} id */
async function end({ hub, ledger, random }, id) {
  await hub.must("DELETE", `/api/sessions/${id}`)
  if (random() < PURGED_BY_HAND) {
    // Killed after it was purged and before it could say so, the hub knows it no more.
    const { status } = await hub.call("DELETE", `/api/sessions/${id}?purge=true`)
    ledger.require(status === 204 || status === 404, () => `${id}: purging it is answered with ${status}`)
    ledger.pruned += 1
    return
  }
  ledger.ended.set(id, Date.now())
}

/** @param {{ url: string, token: string }} ingress */
async function dial(ingress) {
  /** @type {WireAgent | undefined} */
  let agent
  await until(async () => {
    agent = await WireAgent.dial(ingress).catch(() => undefined)
    return agent !== undefined
  }, "an agent was not let in")
  return agent
}

/** @param {() => Promise<boolean>} holds @param {string} otherwise */
async function until(holds, otherwise) {
  const deadline = Date.now() + PATIENCE_MS
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(otherwise)
    await pause(20)
  }
}
