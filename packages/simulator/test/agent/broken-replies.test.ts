import { type Envelope, fieldOf, textOf } from "@signalbox/protocol"
import type { Scenario } from "@signalbox/simulator"
import { describe, expect, it } from "vitest"
import { subtypeOf, withSim } from "../support/sim-host.ts"

// How each version was seen to take them is compared with the real ones in test/parity.

type Steps = Scenario["turns"][number]["steps"]

const steps = (...list: Steps): Scenario => ({ turns: [{ steps: list }] })
const launch = { includePartialMessages: true, env: { CLAUDE_CODE_MAX_RETRIES: "2" } }
const failing = { streamError: "overloaded_error", message: "too much" }
const refused = (category?: "cyber") => ({
  reply: [{ say: "I would rather" }],
  stop: { reason: "refusal" as const, ...(category === undefined ? {} : { category }) },
})

function courseOf(turn: readonly Envelope[]): string[] {
  return turn.slice(1).map((message) => {
    const content = fieldOf(message, "message")?.["content"]
    const text = Array.isArray(content) ? textOf(content[0], "text") : undefined
    if (text !== undefined) return `${message.type}: ${text.slice(0, 30)}`
    return textOf(fieldOf(message, "event"), "type") ?? subtypeOf(message) ?? message.type
  })
}

const STREAMED =
  "message_start content_block_start content_block_delta assistant: Again. content_block_stop message_delta message_stop"
const BEGUN = "message_start content_block_start content_block_delta"

const broken: readonly [what: string, reply: Steps[number], course: Readonly<Record<string, string>>][] = [
  [
    "in the middle of a word",
    { reply: [{ say: "Some wo", unfinished: true }, { cut: true }] },
    {
      "2.1.37": `${BEGUN} assistant: Again. success`,
      "2.1.120": `status ${BEGUN} assistant: Again. success`,
      "2.1.325": `status ${BEGUN} content_block_stop message_stop api_retry ${STREAMED} success`,
    },
  ],
  [
    "after whole words",
    { reply: [{ say: "Words." }, failing] },
    {
      "2.1.37": `${BEGUN} assistant: Words. content_block_stop assistant: Again. success`,
      "2.1.120": `status ${BEGUN} assistant: Words. content_block_stop assistant: API Error: {"type":"error","er success`,
      "2.1.325": `status ${BEGUN} assistant: Words. content_block_stop message_stop user: Your response above was cut of status ${STREAMED} success`,
    },
  ],
]

describe("a reply that breaks off", () => {
  for (const [what, reply, courses] of broken)
    for (const [profile, course] of Object.entries(courses))
      it(`[A39] ${what}: ${profile} asks again in its own way`, async () => {
        await withSim({ scenario: steps(reply, { say: "Again." }), profile, launch }, async (host) => {
          expect(courseOf(await host.turn("go")).join(" ")).toBe(course)
        })
      })

  it("[A39] again and again: the newest goes on three times, then says that it is over", async () => {
    const scenario = { turns: [{ steps: [{ reply: [{ say: "Words." }, failing] }], repeat: true }] }
    await withSim({ scenario, profile: "2.1.325" }, async (host) => {
      const said = courseOf(await host.turn("go"))
      expect(said.filter((each) => each.startsWith("user: "))).toHaveLength(3)
      expect(said.slice(-2)).toEqual(["assistant: API Error: Server error mid-re", "success"])
      expect(host.seen.at(-1)).toMatchObject({ is_error: true, terminal_reason: "api_error" })
    })
  })
})

describe("a reply that the model refuses, on the newest", () => {
  it("[A40] is noted once; at the second another model answers in its place, and stays", async () => {
    const scenario = {
      turns: [{ steps: [refused("cyber"), refused("cyber"), { say: "Fine." }] }, { steps: [{ say: "Still." }] }],
    }
    await withSim({ scenario, profile: "2.1.325" }, async (host) => {
      const turn = await host.turn("go")
      const fallback = turn.find((message) => subtypeOf(message) === "model_refusal_fallback")
      const [, retracted, answer] = turn.filter(({ type }) => type === "assistant")
      expect(fallback).toMatchObject({ original_model: "claude-opus-5-5", fallback_model: "claude-opus-4-8" })
      expect(fallback?.["retracted_message_uuids"]).toEqual([retracted?.["uuid"]])
      expect(answer).toMatchObject({ message: { model: "claude-opus-4-8" }, supersedes: [retracted?.["uuid"]] })
      expect(host.seen.at(-1)).toMatchObject({ result: "Fine.", safety_stops: 2 })
      const [init] = await host.turn("and now")
      expect(init).toMatchObject({ subtype: "init", model: "claude-opus-4-8" })
    })
  })

  it("[A40] ends the turn when no other model may answer", async () => {
    await withSim({ scenario: steps(refused(), refused()), profile: "2.1.325" }, async (host) => {
      const turn = courseOf(await host.turn("go"))
      expect(turn).toContain("model_refusal_no_fallback")
      expect(host.seen.at(-1)).toMatchObject({ is_error: true, stop_reason: "refusal" })
    })
  })
})
