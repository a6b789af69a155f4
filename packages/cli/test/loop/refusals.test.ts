import { HubClientError } from "@signalbox/client"
import { describe, expect, it } from "vitest"
import { passingRefusal } from "../../src/loop/lasting-hub.ts"

const never = new AbortController().signal

describe("what is refused", () => {
  it("[LP9] for the moment is tried again, also when it is the reason behind another refusal", async () => {
    const refusals = [
      new HubClientError("runner/full", "the runner has its agents", { status: 409 }),
      new HubClientError("session/no-agent", "it could not be resumed", {
        status: 409,
        details: { reason: "runner/full" },
      }),
    ]
    const work = async () => {
      const refusal = refusals.shift()
      if (refusal !== undefined) throw refusal
      return "done"
    }
    expect(await passingRefusal(work, never)).toBe("done")
  })

  it("[LP9] for good is told at once, and nothing is waited for when the run is stopped", async () => {
    const refuse = (code: string) => () => Promise.reject(new HubClientError(code, "no"))
    await expect(passingRefusal(refuse("runner/no-folder"), never)).rejects.toMatchObject({ code: "runner/no-folder" })
    const stopped = passingRefusal(refuse("runner/full"), AbortSignal.abort())
    await expect(stopped).rejects.toMatchObject({ name: "AbortError" })
  })
})
