import { claudeEnvironment, openScriptedApi, type Scenario } from "@signalbox/simulator"
import { afterEach, describe, expect, it } from "vitest"
import { ensureClaude } from "../../scripts/claude-cli.mjs"
import { LoopScene } from "./loop-scene.ts"

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
})

async function sceneWithClaude(scenario: Scenario): Promise<LoopScene> {
  const api = await openScriptedApi({ scenario })
  cleanUps.push(() => api.close())
  const { command } = await ensureClaude("2.1.325")
  const scene = new LoopScene((home) => ({ ...claudeEnvironment({ home, apiUrl: api.url }), CLAUDE_BIN: command }))
  cleanUps.push(() => scene.dispose())
  await scene.startHub()
  return scene
}

describe("signalbox loop with a real CLI", () => {
  it("[LP3] [LP12] a failed check goes back to it; stopped by Ctrl-C in mid-turn, it goes on in its session", async () => {
    const scene = await sceneWithClaude({
      turns: [
        { on: "You were stopped", repeat: true, steps: [{ say: "Now it is done." }] },
        {
          on: "wait",
          repeat: true,
          steps: [{ say: "One moment." }, { tool: "Bash", input: { command: "touch made" } }],
        },
        { repeat: true, steps: [{ say: "Done." }] },
      ],
    })
    const check = 'test "$SIGNALBOX_TASK$SIGNALBOX_TRY" != 11'
    const loop = scene.loop(scene.list("be quick", "wait"), "--json", "--verify", check)
    const [ask] = await scene.asks(1)
    loop.child.kill("SIGINT")
    expect([await loop.exit, loop.said()]).toEqual([1, ""])
    const [{ run: id }] = loop.events("run")
    expect((await scene.run(id)).tasks).toMatchObject([
      { state: "done", tries: 2 },
      { state: "waiting", tries: 0, turns: 1, session: ask.sessionId },
    ])
    expect(await scene.session(ask.sessionId)).toMatchObject({ state: "ended" })
    const again = scene.loop("--json", "--resume", id)
    expect([await again.exit, again.said()]).toEqual([0, ""])
    expect((await scene.run(id)).tasks[1]).toMatchObject({ state: "done", tries: 1, turns: 2, session: ask.sessionId })
    expect((await scene.call("GET", "/api/sessions")).sessions).toHaveLength(2)
  })
})
