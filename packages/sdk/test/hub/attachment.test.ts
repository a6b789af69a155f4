import type { HubEvent } from "@signalbox/client"
import { describe, expect, it } from "vitest"
import {
  type AttachmentInput,
  initialAttachment,
  judgeAttachment,
  judgeTurn,
  stepAttachment,
} from "../../src/hub/hub-attachment.ts"

function event(from: HubEvent["from"], message: HubEvent["message"]): AttachmentInput {
  return { kind: "event", event: { seq: 1, at: "", from, message } }
}

const HERE: readonly AttachmentInput[] = [
  { kind: "connection", isConnected: true },
  { kind: "caught-up", state: "idle" },
]
const END: AttachmentInput = { kind: "end-wanted" }
const SENT: AttachmentInput = { kind: "sent", uuid: "u" }
const LOGGED = event("client", { type: "user", uuid: "u" })
const BEGUN = event("agent", { type: "system", subtype: "init" })
const RESULT = event("agent", { type: "result" })

describe("leaving a hub's agent", () => {
  it.each<[string, string, readonly AttachmentInput[]]>([
    ["leave", "there is nothing to wait for", [...HERE, END]],
    ["stay", "nobody wants to leave", HERE],
    ["stay", "the log is still being told", [{ kind: "connection", isConnected: true }, END]],
    ["stay", "somebody else's turn goes on", [...HERE, { kind: "caught-up", state: "running" }, END]],
    ["stay", "the hub is away", [...HERE, END, { kind: "connection", isConnected: false }]],
    ["settle", "a message was sent and nothing has begun", [...HERE, SENT, END]],
    ["settle", "it is in the log and nothing has begun", [...HERE, SENT, LOGGED, RESULT, END]],
    ["stay", "its turn goes on", [...HERE, SENT, LOGGED, BEGUN, END]],
    ["leave", "its turn has its result", [...HERE, SENT, LOGGED, BEGUN, RESULT, END]],
    ["settle", "a turn began that is not its own", [...HERE, SENT, BEGUN, RESULT, END]],
    [
      "stay",
      "the message waits for an agent",
      [...HERE, SENT, event("hub", { type: "hub", subtype: "disconnected" }), END],
    ],
  ])("[Q77] %s: %s", (verdict, _why, inputs) => {
    expect(judgeAttachment(inputs.reduce(stepAttachment, initialAttachment), 0)).toBe(verdict)
  })

  it("[Q77] stays while a question of the agent's is open", () => {
    expect(judgeAttachment([...HERE, END].reduce(stepAttachment, initialAttachment), 1)).toBe("stay")
  })
})

const AWAY = event("hub", { type: "hub", subtype: "disconnected" })
const BACK = event("hub", { type: "hub", subtype: "connected" })
const IDLE: AttachmentInput = { kind: "state", state: "idle" }

describe("a turn and its process", () => {
  it.each<[string, string, readonly AttachmentInput[]]>([
    ["sound", "no turn goes on", [...HERE, AWAY]],
    ["sound", "it goes on", [...HERE, BEGUN]],
    ["sound", "the hub says idle, and its result is on its way", [...HERE, BEGUN, IDLE]],
    ["away", "the agent went away", [...HERE, BEGUN, AWAY]],
    ["sound", "the agent is back and works", [...HERE, BEGUN, AWAY, BACK, { kind: "state", state: "running" }]],
    ["settle", "an agent is back and does nothing", [...HERE, BEGUN, AWAY, BACK, IDLE]],
    ["sound", "it is back, and its result came", [...HERE, BEGUN, AWAY, BACK, IDLE, RESULT]],
    ["lost", "one is back and begins another turn", [...HERE, BEGUN, AWAY, BACK, BEGUN]],
    ["sound", "the log is still being told", [{ kind: "connection", isConnected: true }, BEGUN, AWAY]],
  ])("[Q79] %s: %s", (verdict, _why, inputs) => {
    expect(judgeTurn(inputs.reduce(stepAttachment, initialAttachment))).toBe(verdict)
  })
})
