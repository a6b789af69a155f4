import { describe, expect, it } from "vitest"
import { call, entriesOf, openClient, openStage, type Stage, tokenOf } from "../clients/stage.ts"
import { FakeRunner } from "./fake-runner.ts"
import { eventsOf, launch, rest, send, WAIT } from "./launching.ts"

const ADMIN = "needs an admin token"

async function switchOn(stage: Stage): Promise<void> {
  expect((await call(stage, "PUT", "/api/settings", { operatorsMayUseAuto: true })).status).toBe(200)
}

async function ended(stage: Stage, id: string): Promise<void> {
  await expect.poll(async () => (await stage.hub.core.getSession(id)).state, WAIT).toBe("ended")
}

describe("an agent's sign-in", () => {
  it("[HS60] is told before a conversation begins, and begins none", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const { body } = await launch(stage)
    const agent = await runner.agent()
    const status = { type: "auth_status", isAuthenticating: false, output: [], session_id: "never-recorded" }
    agent.say({ ...status, uuid: "1" })
    agent.say({ ...status, uuid: "2", error: "not signed in" })
    await expect.poll(() => eventsOf(stage, body.id), WAIT).toContainEqual(expect.objectContaining({ uuid: "2" }))
    expect(await eventsOf(stage, body.id)).not.toContainEqual(expect.objectContaining({ uuid: "1" }))
    expect(await stage.hub.core.getSession(body.id)).toMatchObject({ agentSessionId: null, state: "idle" })
  })
})

describe("the mode of a launch", () => {
  it("[HA61] is default where none is named, by REST and DirectConnect; machine leaves it to the machine", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    expect((await launch(stage)).body.permissionMode).toBe("default")
    expect((await runner.spec(0)).permissionMode).toBe("default")
    await call(stage, "POST", "/sessions", {})
    expect((await runner.spec(1)).permissionMode).toBe("default")
    expect((await launch(stage, { permissionMode: "machine" })).body.permissionMode).toBeNull()
    expect((await runner.spec(2)).permissionMode).toBe("machine")
    const pasted = await rest<{ ingress: { command: string } }>(stage, "POST", "/api/sessions", {
      body: { agent: "external" },
    })
    expect(pasted.body.ingress.command).toContain("--permission-mode default")
  })

  it("[HA61] comes back with the session: one that was left to the machine still is, when that asks nobody", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const { body } = await launch(stage, { permissionMode: "machine" })
    const agent = await runner.agent()
    agent.init({ permissionMode: "auto" })
    agent.exit({ reason: "over", code: 0 })
    await ended(stage, body.id)
    await send(stage, body.id, "Go on.")
    expect((await runner.spec(1)).permissionMode).toBe("machine")
  })

  it("[HA60] an operator gets auto by no door: launch, DirectConnect, control, raw socket, answer, resume", async () => {
    const stage = await openStage()
    const runner = await FakeRunner.connect(stage)
    const { token } = await tokenOf(stage, "operator")
    const as = (path: string, body: unknown) => rest(stage, "POST", path, { body, token })
    for (const permissionMode of ["auto", "machine"]) {
      expect(await launch(stage, { permissionMode }, token)).toMatchObject({
        status: 403,
        body: { error: { message: expect.stringContaining(ADMIN) } },
      })
      expect((await as("/sessions", { permission_mode: permissionMode })).status).toBe(403)
    }
    const { body } = await launch(stage)
    const agent = await runner.agent()
    const request = { subtype: "set_permission_mode", mode: "auto" }
    expect((await as(`/api/sessions/${body.id}/control`, { request })).status).toBe(403)
    const client = await openClient(stage, body.id, token)
    expect(await client.ask("m", request)).toMatchObject({ subtype: "error" })
    agent.say({
      type: "control_request",
      request_id: "q",
      request: { subtype: "can_use_tool", tool_name: "Bash", input: { command: "ls" }, tool_use_id: "t" },
    })
    await expect.poll(async () => (await stage.hub.core.getSession(body.id)).pendingAsks, WAIT).toBe(1)
    const [ask] = await entriesOf(stage.hub.core.listAsks({ session: body.id }))
    const answer = {
      behavior: "allow",
      updatedPermissions: [{ type: "setMode", mode: "auto", destination: "session" }],
    }
    expect((await as(`/api/asks/${ask?.id ?? ""}/answer`, answer)).status).toBe(403)
    agent.init({ permissionMode: "auto" })
    agent.exit({ reason: "over", code: 0 })
    await ended(stage, body.id)
    expect((await launch(stage, { resume: body.id, permissionMode: "auto" }, token)).status).toBe(403)
    expect((await launch(stage, { resume: body.id }, token)).status).toBe(201)
    expect((await runner.spec(1)).permissionMode).toBe("default")
  })

  it("[HA60] with operatorsMayUseAuto an operator may, also after a restart; the change is audited", async () => {
    const stage = await openStage()
    await switchOn(stage)
    expect(await entriesOf(stage.hub.core.listAudit({ after: 0, limit: 100 }))).toContainEqual(
      expect.objectContaining({ what: "settings/changed", by: "admin" }),
    )
    const { token } = await tokenOf(stage, "operator")
    expect((await call(stage, "PUT", "/api/settings", {}, token)).status).toBe(403)
    const again = await stage.reopen()
    const runner = await FakeRunner.connect(again)
    const { body, status } = await launch(again, { permissionMode: "auto" }, token)
    expect(status).toBe(201)
    expect((await runner.spec(0)).permissionMode).toBe("auto")
    const agent = await runner.agent()
    agent.init({ permissionMode: "auto" })
    agent.exit({ reason: "over", code: 0 })
    await ended(again, body.id)
    await send(again, body.id, "Go on.")
    expect((await runner.spec(1)).permissionMode).toBe("auto")
    expect((await launch(again, { permissionMode: "bypassPermissions" }, token)).status).toBe(403)
    expect(await (await call(again, "PUT", "/api/settings", {})).json()).toEqual({
      operatorsMayUseAuto: false,
      retention: null,
    })
    expect((await launch(again, { permissionMode: "auto" }, token)).status).toBe(403)
  })
})
