import { LAUNCH_MODES } from "@signalbox/protocol/launch-options"
import { describe, expect, it } from "vitest"
import { openStage, type Stage, tokenOf } from "../clients/stage.ts"
import { FakeRunner } from "./fake-runner.ts"
import { launch, rest, WAIT } from "./launching.ts"

/** Asks for a launch while the runner has these conversations on record. */
async function launchWith(stage: Stage, runner: FakeRunner, request: object, recorded: readonly unknown[]) {
  const launching = launch(stage, { continue: true, ...request })
  const asked = await runner.request("sessions", runner.kinds.filter((kind) => kind === "sessions").length)
  runner.reply(asked.id, { sessions: recorded, more: false })
  return { ...(await launching), asked: asked.request }
}

const recorded = (sessionId: string, cwd: string | null = "/srv") => ({ sessionId, cwd, summary: null })

describe("continue", () => {
  it("[HR51] goes on with the newest conversation of the folder, in a session of its own or in the one it has", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const list = [recorded("no-message-yet", null), recorded("newest"), recorded("older")]
    const request = { cwd: "/srv", env: { CLAUDE_CONFIG_DIR: "/elsewhere" } }
    const first = await launchWith(stage, runner, request, list)
    expect(first).toMatchObject({ status: 201, asked: { kind: "sessions", ...request } })
    expect(await runner.spec()).toMatchObject({ resume: "newest", cwd: "/srv" })
    const agent = await runner.agent()
    agent.init({ cwd: "/srv" })
    await expect.poll(async () => (await stage.hub.core.getSession(first.body.id)).agentSessionId, WAIT).toBe("newest")
    const conflict = await launch(stage, { resume: "newest" })
    const { asked: _asked, ...live } = await launchWith(stage, runner, { cwd: "/srv" }, list)
    expect(live).toEqual(conflict)
    expect(live).toMatchObject({ status: 409, body: { error: { code: "session/live" } } })
    const forked = await launchWith(stage, runner, { cwd: "/srv", fork: true }, list)
    expect(forked.body).toMatchObject({ parent: first.body.id })
    expect(await runner.spec(1)).toMatchObject({ resume: "newest", fork: true })
    agent.exit({ reason: "over", code: 0 })
    await expect.poll(async () => (await stage.hub.core.getSession(first.body.id)).state, WAIT).toBe("ended")
    const again = await launchWith(stage, runner, { cwd: "/srv" }, list)
    expect(again).toMatchObject({ status: 201, body: { id: first.body.id } })
    expect(await runner.spec(2)).toMatchObject({ resume: "newest" })
  })

  it("[HR51] without a folder means the home of the machine's user; a folder without a conversation is told", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    for (const list of [[], [recorded("no-message-yet", null)], "nonsense" as never]) {
      const refused = await launchWith(stage, runner, {}, list)
      expect(refused).toMatchObject({
        status: 422,
        asked: { cwd: "~" },
        body: { error: { code: "runner/no-transcript", message: expect.stringContaining("recorded in ~ on box") } },
      })
    }
    expect(runner.kinds).not.toContain("launch")
    expect((await stage.hub.core.listSessions({ limit: 1 })).sessions).toEqual([])
  })

  it("[HR51] contradictions are refused by name; false says nothing; a command to paste has the flag", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    for (const [request, name] of [
      [{ continue: true, resume: "x" }, "continue"],
      [{ continue: true, fork: true, resumeAt: "m" }, "resumeAt"],
      [{ continue: "yes" }, "continue"],
    ] as const) {
      const refused = await launch(stage, request)
      expect(refused).toMatchObject({ status: 400, body: { error: { code: "request/invalid" } } })
      expect(refused.body.error?.message).toMatch(new RegExp(`^body\\.${name}: `))
    }
    expect((await launch(stage, { continue: false, resume: "x" })).status).toBe(201)
    expect(await runner.spec()).toMatchObject({ resume: "x" })
    const body = { agent: "external", continue: true, fork: true }
    const pasted = await rest<{ ingress: { command: string } }>(stage, "POST", "/api/sessions", { body })
    expect(pasted.body.ingress.command).toContain(" --continue --fork-session")
  })
})

it("[HA81] a mode that no agent has is refused with the list of modes, whoever asks", async () => {
  const stage = await openStage()
  const runner = await FakeRunner.connect(stage)
  const { token } = await tokenOf(stage, "operator")
  for (const by of [undefined, token]) {
    const refused = await launch(stage, { permissionMode: "yolo" }, by)
    expect(refused).toMatchObject({ status: 400, body: { error: { code: "request/invalid" } } })
    expect(refused.body.error?.message).toContain(`permissionMode: expected one of ${LAUNCH_MODES.join(", ")}`)
  }
  expect(runner.kinds).toEqual([])
  for (const permissionMode of LAUNCH_MODES) expect((await launch(stage, { permissionMode })).status).toBe(201)
})

it("[HR51] a fork of nothing is refused by name", async () => {
  const stage = await openStage()
  const runner = await FakeRunner.connect(stage)
  const refused = await launch(stage, { fork: true })
  expect(refused).toMatchObject({ status: 400, body: { error: { code: "request/invalid" } } })
  expect(refused.body.error?.message).toContain("fork: needs resume or continue")
  expect(runner.kinds).toEqual([])
})
