import { composeAllow, composeDeny, type Envelope, fieldOf } from "@signalbox/protocol"
import { builtInScenario, type Scenario } from "@signalbox/simulator"
import { describe, expect, it } from "vitest"
import { question } from "../../../../test/conformance/answers.ts"
import { Player } from "../../src/messages-api/player.ts"
import { parseRequest } from "../../src/messages-api/request.ts"
import { SimHost } from "../support/sim-host.ts"

const bash = { tool: "Bash", input: { command: "touch it" }, result: "ok", otherwise: [{ say: "Then not." }] }
const scenario: Scenario = { turns: [{ repeat: true, steps: [bash, { say: "Done." }] }] }

/** What the agent says in the end, to a host that allows everything or nothing. */
async function lastWord(played: Scenario, prompt: string, allows: boolean): Promise<unknown> {
  const host = new SimHost({
    scenario: played,
    onRequest: ({ request_id, request }): Envelope =>
      allows ? composeAllow(question(request_id, request)) : composeDeny(question(request_id, request), "no"),
  })
  const turn = await host.turn(prompt)
  await host.close()
  return turn.at(-1)?.["result"]
}

describe("a way out for a call that comes to nothing", () => {
  it("[N11] is taken when it is denied, and only then", async () => {
    expect(await lastWord(scenario, "go", false)).toBe("Then not.")
    expect(await lastWord(scenario, "go", true)).toBe("Done.")
  })

  it("[N11] is taken when it fails", async () => {
    const failing = { turns: [{ steps: [{ ...bash, isError: true }, { say: "Done." }] }] }
    expect(await lastWord(failing, "go", true)).toBe("Then not.")
  })

  it("[N11] is taken by the Messages API too", () => {
    const told = (isError: boolean) => {
      const player = new Player(scenario)
      const ask = (messages: unknown[]) => {
        const request = parseRequest(JSON.stringify({ model: "m", messages, tools: [{ name: "Bash" }] }), {})
        return JSON.stringify(fieldOf(request === undefined ? {} : player.play(request), "call"))
      }
      const user = { role: "user", content: "go" }
      ask([user])
      const use = { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "Bash", input: {} }] }
      const result = { type: "tool_result", tool_use_id: "t1", content: "x", is_error: isError }
      return ask([user, use, { role: "user", content: [result] }])
    }
    expect(told(true)).toContain("Then not.")
    expect(told(false)).toContain("Done.")
  })

  it("[N6] [N11] the built-in scenario does not say that tests pass which were not allowed to run", async () => {
    expect(await lastWord(builtInScenario, "permission please", false)).not.toContain("pass")
    expect(await lastWord(builtInScenario, "permission please", true)).toContain("pass")
    expect(await lastWord(builtInScenario, "a plan", false)).toContain("Then not that way")
  })
})
