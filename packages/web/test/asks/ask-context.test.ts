import type { HubEvent } from "@signalbox/client"
import { expect, it } from "vitest"
import { contextIn, eventsBefore, lastSentence } from "../../src/asks/ask-context.ts"

type Message = HubEvent["message"]

/** Events that a hub numbers, a second apart. */
const logOf = (...events: readonly (readonly [from: HubEvent["from"], message: Message])[]): readonly HubEvent[] =>
  events.map(([from, message], index) => ({ seq: index + 1, at: timeOf(index + 1), from, message }))
const timeOf = (second: number) => new Date(Date.UTC(2031, 0, 1) + second * 1000).toISOString()
const told = (uuid: string, text: string) =>
  ["client", { type: "user", uuid, message: { role: "user", content: text } }] as const
const said = (id: string, text: string, lane: string | null = null) => {
  const message = { id, role: "assistant", content: [{ type: "text", text }] }
  return ["agent", { type: "assistant", uuid: `u-${id}`, parent_tool_use_id: lane, message }] as const
}
const running = { state: "running", turnStartedAt: timeOf(1) } as const

it("[K-115] the agent's last sentence before a request, without its markup and code", () => {
  expect(lastSentence("Looking. I will **remove** the `build` folder first.")).toBe(
    "I will remove the build folder first.",
  )
  expect(lastSentence("Now the tests:\n\n```sh\nnpm test. Really\n```\n")).toBe("Now the tests:")
  expect(lastSentence("- one\n- two")).toBe("two")
  expect(lastSentence("```\nonly code\n```")).toBeUndefined()
  expect(lastSentence("x".repeat(10_000))).toHaveLength(240)
})

it("[K-115] what was said after the request, or about the task before, is not its reason", () => {
  const events = logOf(
    told("p1", "First task"),
    said("m1", "Done."),
    told("p2", "\nSecond task\nwith details"),
    ["agent", { type: "system", subtype: "init", session_id: "x" }],
    said("m2", "I clean up."),
    said("m3", "Later."),
  )
  const session = { state: "waiting", turnStartedAt: timeOf(4) } as const
  expect(contextIn({ request: {}, seq: 5 }, events, session)).toEqual({ said: "I clean up.", task: "Second task" })
  expect(contextIn({ request: {}, seq: 4 }, events, session)).toEqual({ said: undefined, task: "Second task" })
  expect(contextIn({ request: {}, seq: 4 }, [], undefined)).toEqual({ said: undefined, task: undefined })
})

it("[K-115] of a log only the session's own talk is read", () => {
  const events = logOf(
    told("p1", "Do it"),
    said("m1", "I do."),
    said("m2", "Sub.", "t"),
    ["client", { type: "control_request", request_id: "r", request: { subtype: "set_model" } }],
    ["agent", { type: "user", uuid: "r1", message: { role: "user", content: [{ type: "text", text: "a result" }] } }],
  )
  expect(contextIn({ request: {}, seq: 9 }, events, running)).toEqual({ said: "I do.", task: "Do it" })
})

it("[K-115] a message that waits is not the task, and one that was taken up is, wherever the request is shown", () => {
  const events = logOf(
    told("p1", "Clean up"),
    said("m1", "I remove the build first."),
    told("p2", "Then the docs"),
    ["hub", { type: "hub", subtype: "message_taken", message_uuid: "p2", text: "Then the docs" }],
    said("m2", "Now the docs."),
  )
  const ask = { request: {}, seq: 9 }
  expect(contextIn(ask, events.slice(0, 3), running)).toEqual({ said: "I remove the build first.", task: "Clean up" })
  expect(contextIn(ask, events, running)).toEqual({ said: "Now the docs.", task: "Then the docs" })
})

it("[K-115] the log is read back in small steps, until the words are there or it was much", async () => {
  const reads: number[] = []
  const readerOf = (events: readonly HubEvent[]) => async (query: { before: number; limit: number }) => {
    reads.push(query.limit)
    return { events: events.filter(({ seq }) => seq < query.before).slice(-query.limit) }
  }
  const result = (text: string) =>
    ["agent", { type: "user", uuid: text.slice(0, 9), message: { role: "user", content: [] }, text }] as const
  const near = logOf(...Array.from({ length: 90 }, (_, n) => result(`r${n}`)), told("p", "Do it"), said("m", "I do."))
  expect((await eventsBefore({ request: {}, seq: 99 }, readerOf(near))).length).toBe(4)
  expect(reads.splice(0)).toEqual([4])
  const far = logOf(told("p", "Do it"), said("m", "I do."), ...Array.from({ length: 90 }, (_, n) => result(`r${n}`)))
  expect((await eventsBefore({ request: {}, seq: 99 }, readerOf(far))).length).toBe(40)
  expect(reads.splice(0)).toEqual([4, 8, 28])
  const large = logOf(...Array.from({ length: 90 }, (_, n) => result(`${n} ${"x".repeat(100_000)}`)))
  expect((await eventsBefore({ request: {}, seq: 99 }, readerOf(large))).length).toBe(4)
  expect(reads).toEqual([4])
})
