import { describe, expect, it } from "vitest"
import { TakenMessages } from "../../src/session/taken-messages.ts"

const message = (text: string) => ({ type: "user", message: { role: "user", content: text } })
const echo = (uuid: string) => ({ type: "user", isReplay: true, uuid })
const init = { type: "system", subtype: "init" }
const said = { type: "assistant", parent_tool_use_id: null }
const result = { type: "result", subtype: "success" }
const by = { by: "ann" }

/** One message in a turn, and one that was sent in the middle of that turn. */
function inTurn(): TakenMessages {
  const taken = new TakenMessages()
  taken.sent("a", message("one"), by)
  taken.heard(init)
  return taken
}

describe("where the agent takes a message up", () => {
  it("[HS25] a message that waited for no other is told by its own event alone", () => {
    const taken = inTurn()
    expect(taken.heard(echo("a"))).toEqual([])
  })

  it("[HS25] a message sent in the middle of a turn is told where the agent echoes it, once", () => {
    const taken = inTurn()
    taken.heard(echo("a"))
    taken.sent("b", message("two"), by)
    taken.heard(said)
    taken.heard(result)
    expect(taken.heard(init)).toEqual([])
    expect(taken.heard(echo("b"))).toEqual([{ uuid: "b", by: "ann", text: "two" }])
    expect(taken.heard(echo("b"))).toEqual([])
  })

  it("[HS25] the beginning of a long text is kept, so that many that wait hold little", () => {
    const taken = inTurn()
    taken.sent("b", message("x".repeat(1_000_000)), by)
    expect(taken.heard(echo("b"))[0]?.text).toHaveLength(20_000)
  })

  it("[HS25] an agent that tells the life of its messages tells it too", () => {
    const taken = inTurn()
    taken.sent("b", message("two"), by)
    expect(taken.heard({ type: "command_lifecycle", command_uuid: "b", state: "queued" })).toEqual([])
    expect(taken.heard({ type: "command_lifecycle", command_uuid: "b", state: "started" })).toMatchObject([
      { uuid: "b" },
    ])
  })

  it("[HS25] of an agent that tells nothing, the next turn has it", () => {
    const taken = inTurn()
    taken.heard(said)
    taken.sent("b", message("two"), by)
    taken.heard(said)
    taken.heard(result)
    expect(taken.heard(init)).toMatchObject([{ uuid: "b" }])
  })

  it("[HS25] after a restart of the hub a message that the agent had and not taken up keeps its place in the conversation", () => {
    const event = (from: "agent" | "client" | "hub", what: object, key?: string) => ({
      from,
      by: "ann",
      line: JSON.stringify(what),
      ...(key === undefined ? {} : { key }),
    })
    const taken = new TakenMessages()
    taken.recall([
      event("client", message("one"), "a"),
      event("client", message("two"), "b"),
      event("agent", init),
      event("agent", said),
      event("agent", result),
      event("client", message("three"), "c"),
      event("agent", init),
      event("hub", { type: "hub", subtype: "message_taken", message_uuid: "b" }),
      event("agent", said),
      event("agent", result),
    ])
    expect(taken.uuids).toEqual(["c"])
    expect(taken.heard(echo("a"))).toEqual([])
    taken.sent("d", message("four"), by)
    expect(taken.heard(echo("c"))).toEqual([{ uuid: "c", by: "ann", text: "three" }])
    expect(taken.heard(echo("d"))).toMatchObject([{ uuid: "d" }])
  })

  it("[HS25] one sent between two turns, behind another that waits, is told behind it", () => {
    for (const echoes of [true, false]) {
      const taken = inTurn()
      if (echoes) taken.heard(echo("a"))
      taken.sent("b", message("two"), by)
      taken.heard(said)
      taken.heard(result)
      taken.sent("c", message("three"), by)
      const lines = echoes ? [init, echo("b"), said, result, init, echo("c")] : [init]
      expect(lines.flatMap((line) => taken.heard(line)).map(({ uuid }) => uuid)).toEqual(["b", "c"])
    }
  })

  it("[HS25] what was sent before the hub was started is told too; what was taken back is not", () => {
    const taken = new TakenMessages()
    taken.sent("old", message("one"), { by: "ann", isOld: true })
    expect(taken.heard(echo("old"))).toMatchObject([{ uuid: "old" }])
    taken.sent("b", message("two"), by)
    taken.sent("c", message("three"), by)
    taken.forget("c")
    expect(taken.heard(echo("c"))).toEqual([])
  })

  it("[HS25] very many messages that nobody takes are not kept for ever", () => {
    const taken = inTurn()
    for (let count = 0; count < 1_000; count++) taken.sent(`m${count}`, message("x"), by)
    expect(taken.heard(echo("m0"))).toEqual([])
    expect(taken.heard(echo("m999"))).toHaveLength(1)
  })
})
