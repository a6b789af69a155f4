import { describe, expect, it } from "vitest"
import { askModels, modelChoices } from "../../src/agent/session-choices.ts"

const NOW = { models: [{ value: "opus", displayName: "Opus" }, { value: "tide" }, { displayName: "no value" }] }
const THEN = { models: [{ value: "opus", displayName: "Opus" }] }

/** An agent that answers these, and refuses everything else. */
function agentWith(answers: Readonly<Record<string, unknown>>) {
  const asked: string[] = []
  const control = async ({ subtype }: { readonly subtype: string }) => {
    asked.push(subtype)
    if (subtype in answers) return answers[subtype]
    throw new Error(`Unsupported control request subtype: ${subtype}`)
  }
  return { asked, control }
}

describe("the models to choose from", () => {
  it("are those that the agent lists when it is asked", async () => {
    const agent = agentWith({ list_models: NOW, initialize: THEN })
    const models = await askModels(agent, "2.1.325")
    expect([models, agent.asked]).toEqual([
      [
        { value: "opus", label: "Opus" },
        { value: "tide", label: "tide" },
      ],
      ["list_models"],
    ])
  })

  it("are those of its beginning where the CLI refuses to list them", async () => {
    const agent = agentWith({ initialize: THEN })
    expect(await askModels(agent, "2.1.120")).toEqual([{ value: "opus", label: "Opus" }])
    expect(agent.asked).toEqual(["list_models", "initialize"])
  })

  it("are not asked of a CLI that would say nothing, or whose version nobody knows", async () => {
    for (const version of ["2.1.37", null]) {
      const agent = agentWith({ initialize: THEN })
      expect(await askModels(agent, version)).toHaveLength(1)
      expect(agent.asked).toEqual(["initialize"])
    }
  })

  it("are unknown where nobody tells, and the current one is shown all the same", async () => {
    const models = await askModels(agentWith({}), "2.1.325")
    expect(models).toBeUndefined()
    expect(modelChoices("moon-9", models)).toEqual([{ value: "moon-9", label: "moon-9" }])
    expect(modelChoices("moon-9", [{ value: "opus", label: "Opus" }])).toHaveLength(2)
  })
})
