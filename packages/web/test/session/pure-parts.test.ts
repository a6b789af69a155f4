import { describe, expect, it } from "vitest"
import { stepOutgoing } from "../../src/session/composer/outgoing.ts"

describe("a message on its way", () => {
  const sent = stepOutgoing([], { type: "send", message: { uuid: "u", content: "hi", text: "hi" } })

  it("is sending, then accepted, then in the log and gone from here", () => {
    expect(sent[0]?.state.name).toBe("sending")
    const accepted = stepOutgoing(sent, { type: "accepted", uuid: "u" })
    expect(accepted[0]?.state.name).toBe("accepted")
    expect(stepOutgoing(accepted, { type: "logged", uuids: new Set(["u"]) })).toEqual([])
  })

  it("that was not sent can be tried again, as the same message", () => {
    const failed = stepOutgoing(sent, { type: "failed", uuid: "u", why: "away" })
    expect(failed[0]?.state).toEqual({ name: "not-sent", why: "away" })
    expect(stepOutgoing(failed, { type: "retry", uuid: "u" })[0]).toMatchObject({
      uuid: "u",
      state: { name: "sending" },
    })
    expect(stepOutgoing(failed, { type: "discard", uuid: "u" })).toEqual([])
  })
})
