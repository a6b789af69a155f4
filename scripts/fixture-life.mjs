// @ts-check
// A small but rich life of a hub, lived through its public API alone, so that every release can live it: sessions in every
// state, requests of every kind and with odd input, messages, tokens, grants, rules, a run.

import { randomUUID } from "node:crypto"
import { setTimeout as pause } from "node:timers/promises"
import { WireAgent } from "./wire-agent.mjs"

/** @typedef {Record<string, any>} Json */
/** @typedef {(method: string, path: string, body?: unknown) => Promise<Json>} Call fails unless the hub agrees */

const PATIENCE_MS = 60_000
/** A NUL, halves of surrogate pairs, an emoji with a joiner, a character that turns the direction of text. */
const ODD = "nul \u0000 high \ud83d low \udc00 train \u{1f682} family \u{1f468}\u200d\u{1f469} turned \u202e end"
const LARGE = "the signalman writes every train into the register; ".repeat(2_000)
/** Words that are searched for later, each said in one place or a few. */
export const WORDS = ["semaphore", "distant", "ballast", "signals"]
const TURN = {
  steps: [
    { say: "The points are set, the ballast is firm." },
    { tool: "Bash", input: { command: "touch runner-file", description: "make a file" } },
    { say: "Done." },
  ],
}
/** The scenarios of the simulated agents on the runner. */
export const SCENARIO = { turns: Array.from({ length: 5 }, () => TURN) }

/**
 * @param {Call} call
 * @param {string} folder that agents work in
 * @returns {Promise<{ secrets: Json, leave: () => void }>} what cannot be asked for later, and the end of the agent that is still here
 */
export async function live(call, folder) {
  const tokens = await makeTokens(call)
  await call("PUT", "/api/policy", {
    rules: [
      { id: "tests", effect: "allow", tool: "Bash", input: { command: "npm test*" } },
      { id: "secrets", effect: "deny", tool: "Read", input: { file_path: "**/.env" }, message: "Secrets stay here." },
    ],
  })
  await wholeLife(call, folder)
  await rotated(call, folder)
  await onRunner(call, folder)
  await call("POST", "/api/sessions", { agent: "external", title: "Never came", prompt: "Are you there?" })
  const run = await call("POST", "/api/runs", {
    title: "A list",
    tasks: [{ text: "first" }, { text: `second ${ODD.slice(6)}` }],
  })
  await call("PATCH", `/api/runs/${run.id}/tasks/1`, { state: "done", tries: 1, note: "well done" })
  const { agent, ...here } = await stillHere(call, folder)
  return { secrets: { tokens, away: await away(call, folder), here }, leave: () => agent.leave() }
}

/** @param {Call} call */
async function makeTokens(call) {
  const made = []
  for (const role of ["viewer", "operator", "admin", "runner"])
    made.push(await newToken(call, { role, name: `the ${role}` }))
  made.push(await newToken(call, { role: "viewer", name: "far off", expiresAt: "2099-01-01T00:00:00.000Z" }))
  const revoked = await newToken(call, { role: "operator", name: "revoked" })
  await call("DELETE", `/api/tokens/${revoked.id}`)
  return [...made, { ...revoked, isRevoked: true }]
}

/** @param {Call} call @param {Json} body */
async function newToken(call, body) {
  const { id, role, token } = await call("POST", "/api/tokens", body)
  return { id, role, token }
}

/** @param {Call} call @param {string} folder @param {Json} [more] */
async function openSession(call, folder, more = {}) {
  const { id, ingress } = await call("POST", "/api/sessions", { agent: "external", ...more })
  const agent = await WireAgent.dial(ingress)
  const prompt = { content: `Begin. ${ODD}`, uuid: randomUUID() }
  await call("POST", `/api/sessions/${id}/messages`, prompt)
  await agent.hears((line) => line["uuid"] === prompt.uuid)
  agent.begin(folder)
  return { id, ingress, agent }
}

/** Every kind of request and every kind of end; then the session is stopped and archived. @param {Call} call @param {string} folder */
async function wholeLife(call, folder) {
  const { id, agent } = await openSession(call, folder, { title: "Signals \u{1f6a6}", requestKey: "whole-life" })
  agent.speak(`The semaphore is clear. ${ODD}`)
  await answered(call, agent.ask("Bash", { command: `echo '${ODD}'` }), { behavior: "allow" })
  await answered(call, agent.ask("Write", { file_path: "/a/b", content: LARGE }), {
    behavior: "deny",
    message: `No. ${ODD}`,
  })
  await answered(call, agent.ask("Bash", { command: "make all" }), {
    behavior: "allow",
    updatedInput: { command: "make one" },
  })
  const rules = [{ toolName: "Bash", ruleContent: "git status" }]
  const always = [{ type: "addRules", rules, behavior: "allow", destination: "session" }]
  const granted = agent.ask("Bash", { command: "git status" }, { permission_suggestions: always })
  await answered(call, granted, { behavior: "allow", updatedPermissions: always })
  const questions = [
    {
      question: "Which line?",
      header: "Line",
      multiSelect: false,
      options: [
        { label: "Up", description: "u" },
        { label: "Down", description: "d" },
      ],
    },
  ]
  const asked = agent.ask("AskUserQuestion", { questions })
  await answered(call, asked, { behavior: "allow", updatedInput: { questions, answers: { "Which line?": "Up" } } })
  for (const ask of [agent.ask("Bash", { command: "npm test" }), agent.ask("Read", { file_path: "/a/.env" })])
    await agent.answer(ask)
  agent.say({ type: "made_up", odd: ODD })
  agent.finish("The distant signal is at caution.")
  await until(async () => (await call("GET", `/api/sessions/${id}`)).state === "idle")
  await call("DELETE", `/api/sessions/${id}`)
  await call("PATCH", `/api/sessions/${id}`, { archived: true, title: "Signals \u{1f6a6} (old)" })
  agent.leave()
}

/** The agent goes on in another conversation: the session is followed by another. @param {Call} call @param {string} folder */
async function rotated(call, folder) {
  const { id, agent } = await openSession(call, folder, { title: "Before the clear" })
  agent.finish("First.")
  agent.sessionId = randomUUID()
  agent.begin(folder)
  agent.speak("After the clear.")
  agent.finish("Second.")
  await until(async () => (await call("GET", `/api/sessions/${id}`)).next !== undefined)
  agent.leave()
}

/** One that ended, a fork of it, and one that waits for somebody when the hub ends. @param {Call} call @param {string} folder */
async function onRunner(call, folder) {
  await until(async () =>
    (await call("GET", "/api/runners")).runners.some((/** @type {Json} */ { connected }) => connected),
  )
  const launch = { agent: "simulator", cwd: folder }
  const { id } = await call("POST", "/api/sessions", { ...launch, prompt: "Say something." })
  const isIn = (/** @type {string} */ session, /** @type {string} */ state) =>
    until(async () => (await call("GET", `/api/sessions/${session}`)).state === state)
  await isIn(id, "waiting")
  const { asks } = await call("GET", `/api/asks?state=pending&session=${id}`)
  await call("POST", `/api/asks/${asks[0].id}/answer`, { behavior: "allow" })
  await isIn(id, "idle")
  await call("DELETE", `/api/sessions/${id}`)
  const fork = await call("POST", "/api/sessions", { ...launch, resume: id, fork: true, prompt: "Go on." })
  await isIn(fork.id, "waiting")
}

/** Its agent is gone, and a message waits for it. @param {Call} call @param {string} folder */
async function away(call, folder) {
  const { id, ingress, agent } = await openSession(call, folder, { title: "Away" })
  agent.finish("Until later.")
  await until(async () => (await call("GET", `/api/sessions/${id}`)).state === "idle")
  agent.leave()
  await until(async () => (await call("GET", `/api/sessions/${id}`)).state === "disconnected")
  const message = { content: `Are you back? ${ODD}`, uuid: randomUUID() }
  await call("POST", `/api/sessions/${id}/messages`, message)
  return { id, ...comingBack(ingress, agent), waiting: message.uuid }
}

/** At work when the hub ends, with requests that nobody has answered. @param {Call} call @param {string} folder */
async function stillHere(call, folder) {
  const { id, ingress, agent } = await openSession(call, folder, { title: "At work" })
  const asks = [
    agent.ask("Bash", { command: `printf '${ODD}'` }),
    agent.ask("Write", { file_path: "/a/c", content: LARGE }),
  ]
  const ids = []
  for (const ask of asks) ids.push((await pendingAsk(call, ask)).id)
  return { agent, id, ...comingBack(ingress, agent), requests: asks.map((ask) => ask["request_id"]), asks: ids }
}

/** @param {{ url: string, token: string }} ingress @param {WireAgent} agent */
function comingBack({ url, token }, { sessionId, lastUuid }) {
  return { path: new URL(url).pathname, token, sessionId, lastUuid }
}

/** @param {Call} call @param {Json} request of the agent's @returns {Promise<Json>} its ask */
async function pendingAsk(call, request) {
  /** @type {Json | undefined} */
  let found
  await until(async () => {
    const { asks } = await call("GET", "/api/asks?state=pending")
    found = asks.find((/** @type {Json} */ { requestId }) => requestId === request["request_id"])
    return found !== undefined
  })
  return found ?? {}
}

/** @param {Call} call @param {Json} request @param {Json} answer */
async function answered(call, request, answer) {
  const { id, inputHash } = await pendingAsk(call, request)
  await call("POST", `/api/asks/${id}/answer`, { ...answer, inputHash })
}

/** @param {() => Promise<boolean>} holds */
export async function until(holds) {
  const deadline = Date.now() + PATIENCE_MS
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`it did not come to this within ${PATIENCE_MS} ms: ${holds.toString()}`)
    await pause(50)
  }
}
