#!/usr/bin/env node
// Does what the program tells it in the variable STEPS, one step after the other, and then waits for the end of its
// input: { until: "user" | "end" }, { say: message, times: 1 }, { raw: text }, { ask: request }, { cancel: id }, { exit: code },
// { answered: n }: waits for so many answers to what `raw` asked, and tells in which order they came.
import { createInterface } from "node:readline"
import { SESSION, say, sayResult } from "./agent.mjs"

/** @typedef {{ until?: string, say?: object, times?: number, raw?: string, ask?: object, id?: string, cancel?: string, answered?: number, result?: string, stderr?: string, exit?: number }} Step */

/** @type {Step[]} */
const steps = JSON.parse(process.env["STEPS"] ?? "[]")
const exitCode = Number(process.env["EXIT_CODE"] ?? 0)
const isMute = process.env["MUTE"] === "1"
/** @type {any[]} */
const heard = []
let isEnded = false
let wake = () => {}

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const message = JSON.parse(line)
    heard.push(message)
    if (message.type === "control_request" && !isMute) {
      const response = {
        commands: [],
        models: [],
        agents: [],
        account: {},
        output_style: "",
        available_output_styles: [],
      }
      say({ type: "control_response", response: { subtype: "success", request_id: message.request_id, response } })
    }
    wake()
  })
  .on("close", () => {
    isEnded = true
    wake()
  })

/** The first that fits, taken out of what was heard; undefined when nothing more can come. @param {(message: any) => boolean} fits */
async function hear(fits) {
  for (;;) {
    const at = heard.findIndex(fits)
    if (at !== -1) return heard.splice(at, 1)[0]
    if (isEnded) return undefined
    await new Promise((resolve) => {
      wake = () => resolve(undefined)
    })
  }
}

/** @param {Step} step */
async function take(step) {
  if (step.until === "user") await hear((message) => message.type === "user")
  if (step.until === "end") await hear(() => false)
  if (step.say !== undefined)
    for (let n = 0; n < (step.times ?? 1); n++) say({ ...step.say, session_id: SESSION, uuid: SESSION })
  if (step.raw !== undefined) process.stdout.write(step.raw)
  if (step.stderr !== undefined) process.stderr.write(step.stderr)
  if (step.ask !== undefined) await ask(step.ask, step.id ?? "asked")
  if (step.answered !== undefined) await answered(step.answered)
  if (step.cancel !== undefined) say({ type: "control_cancel_request", request_id: step.cancel })
  if (step.result !== undefined) sayResult(step.result)
  if (step.exit !== undefined) process.exit(step.exit)
}

/** @param {object} request @param {string} id */
async function ask(request, id) {
  say({ type: "control_request", request_id: id, request })
  const answer = await hear((message) => message.type === "control_response" && message.response.request_id === id)
  say({ type: "told", answer: answer ?? "none", session_id: SESSION, uuid: SESSION })
}

/** @param {number} count */
async function answered(count) {
  const order = []
  while (order.length < count) {
    const answer = await hear((message) => message.type === "control_response")
    if (answer === undefined) break
    order.push(answer.response.request_id)
  }
  say({ type: "told", answered: order, session_id: SESSION, uuid: SESSION })
}

for (const step of steps) await take(step)
await hear(() => false)
process.exit(exitCode)
