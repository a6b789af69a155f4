import { type Hub, HubClientError, type HubEvent } from "@signalbox/client"
import { describe, expect, it } from "vitest"
import { findPoint, forkPointIn } from "../../src/new-session/start-from.tsx"

describe("where a fork begins", () => {
  const at = "2026-01-01T10:00:00.000Z"
  const event = (seq: number, message: HubEvent["message"], from: HubEvent["from"] = "agent"): HubEvent => ({
    seq,
    at,
    from,
    message,
  })

  it("is after the last thing that the agent itself said", () => {
    const said = event(2, { type: "assistant", uuid: "a", parent_tool_use_id: null })
    const helper = event(3, { type: "assistant", uuid: "b", parent_tool_use_id: "tool" })
    const nameless = event(4, { type: "assistant" })
    const asked = event(5, { type: "user", uuid: "c" }, "client")
    expect(forkPointIn([event(1, { type: "system" }), said, helper, nameless, asked])).toEqual({
      name: "found",
      message: "a",
      at,
    })
  })

  it("is nowhere before it said something", () => {
    expect(forkPointIn([])).toEqual({ name: "missing" })
    expect(forkPointIn([event(1, { type: "user", uuid: "u" }, "client")])).toEqual({ name: "missing" })
  })

  it("is missing only where the hub says so: what could not be asked is told, and is not the end", async () => {
    const answers = (cause: Error) => {
      const events = async () => {
        throw cause
      }
      return findPoint({ session: () => ({ events }) } as unknown as Hub, "s", 5)
    }
    const refused = (status: number) => new HubClientError("some/code", "no luck", { status })
    expect(await answers(refused(404))).toEqual({ name: "missing" })
    expect(await answers(refused(503))).toEqual({ name: "failed", why: "no luck" })
    expect(await answers(new HubClientError("client/unreachable", "away"))).toEqual({ name: "failed", why: "away" })
  })
})
