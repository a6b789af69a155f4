import { getEventListeners, setMaxListeners } from "node:events"
import { describe, expect, it } from "vitest"
import { query } from "../src/index.ts"
import { ask, canUseBash, fakeAgent, hear, isAlive, result, state, system } from "./fake-agent.ts"

const AT_ONCE = 40

/** What keeps the process alive, but for what the test runner itself holds. */
function heldOpen(): string[] {
  return process.getActiveResourcesInfo().filter((kind) => /Timeout|Process|Pipe|TCP/.test(kind))
}

describe("many queries", () => {
  it(`[Q49] ${AT_ONCE} at once all finish, and leave no timer, listener, pipe or process behind`, async () => {
    const before = heldOpen().toSorted()
    const controller = new AbortController()
    setMaxListeners(AT_ONCE * 4, controller.signal)
    const agents = Array.from({ length: AT_ONCE }, () =>
      fakeAgent(
        [
          { until: "user" },
          { say: state("running") },
          { say: system("init") },
          { say: ask("may-i", canUseBash) },
          { until: "control_response" },
          { say: result({ result: "done" }) },
          { say: state("idle") },
        ],
        { canUseTool: async () => ({ behavior: "allow" as const }), abortController: controller },
      ),
    )
    const heard = await Promise.all(agents.map((agent) => hear(query({ prompt: "hello", options: agent.options }))))
    for (const { messages, error } of heard) {
      expect(error).toBeUndefined()
      expect(messages.at(-1)).toMatchObject({ type: "result", result: "done" })
    }
    for (const agent of agents) expect(agent.answers()["may-i"]).toMatchObject({ response: { behavior: "allow" } })
    const pids = agents.flatMap((agent) => agent.log().flatMap(({ pid }) => pid ?? []))
    expect(pids).toHaveLength(AT_ONCE)
    await expect.poll(() => pids.filter(isAlive)).toEqual([])
    expect(getEventListeners(controller.signal, "abort")).toEqual([])
    await expect.poll(() => heldOpen().toSorted()).toEqual(before)
  })
})
