import type { NewSession, Role } from "@signalbox/protocol/hub-api"
import { describe, expect, it } from "vitest"
import * as roles from "../../src/auth/roles.ts"
import type { AskAnswer } from "../../src/model/ask.ts"
import { DEFAULT_SETTINGS } from "../../src/policy-desk.ts"

const OTHERS: readonly Role[] = ["viewer", "agent", "runner"]

const STEERS =
  `set_model set_max_thinking_tokens mcp_status mcp_reconnect mcp_toggle rewind_files stop_task background_tasks
  get_task_output rename_session get_context_usage get_session_cost list_models get_usage get_binary_version
  file_suggestions read_file get_settings get_hooks_listing list_permission_rules mcp_read_resource interrupt initialize`.split(
    /\s+/,
  )

const ADMINS = `mcp_set_servers mcp_call mcp_message apply_flag_settings update_settings reload_plugins reload_skills
  register_repo_root seed_read_state set_cwd add_directory end_session set_has_subscribers from_the_future __proto__
  constructor`.split(/\s+/)

const SWITCHED_ON = { operatorsMayUseAuto: true, retention: null }
const mayControl = (role: Role, request: { subtype: string; mode?: unknown }, settings = DEFAULT_SETTINGS) =>
  roles.mayControl(role, request, settings)
const launchRefusal = (role: Role, launch: NewSession, settings = DEFAULT_SETTINGS) =>
  roles.launchRefusal(role, launch, settings)
const mayLaunch = (role: Role, launch: NewSession) => launchRefusal(role, launch) === undefined
const mayAnswer = (role: Role, answer: AskAnswer, settings = DEFAULT_SETTINGS) =>
  roles.mayAnswer(role, answer, settings)
const setMode = (mode: unknown) => [{ type: "setMode", mode, destination: "session" }]
const answer = (updatedPermissions: unknown[]) => ({ behavior: "allow", updatedPermissions }) as const

describe("what a role may ask of an agent", () => {
  it.each(STEERS)("[HA6] an operator may send %s", (subtype) => {
    expect(mayControl("operator", { subtype })).toBe(true)
    for (const role of OTHERS) expect(mayControl(role, { subtype }), role).toBe(false)
  })

  it.each(ADMINS)("[HA6] only an admin may send %s", (subtype) => {
    expect(mayControl("operator", { subtype })).toBe(false)
    expect(mayControl("admin", { subtype })).toBe(true)
  })

  it("[HA6] an operator sets every mode that keeps asking, and no other", () => {
    const may = (mode: unknown) => mayControl("operator", { subtype: "set_permission_mode", mode })
    for (const mode of ["default", "acceptEdits", "plan", "delegate", "dontAsk"]) expect(may(mode), mode).toBe(true)
    for (const mode of [
      "bypassPermissions",
      "auto",
      "machine",
      "bypasspermissions",
      "yolo",
      "",
      undefined,
      ["default"],
    ]) {
      expect(may(mode), String(mode)).toBe(false)
    }
    expect(mayControl("admin", { subtype: "set_permission_mode", mode: "bypassPermissions" })).toBe(true)
  })

  const plain: readonly NewSession[] = [
    {},
    { agent: "claude", cwd: "/tmp", prompt: "hi", model: "sonnet", permissionMode: "plan", title: "t" },
    { agent: "simulator", resume: "x", fork: true, worktree: true, hooks: ["Stop"] },
    { agent: "external" },
  ]
  const admins: readonly NewSession[] = [
    { agent: { command: ["/bin/sh"] } },
    { args: [] },
    { args: ["--dangerously-skip-permissions"] },
    { env: {} },
    { permissionMode: "bypassPermissions" },
    { permissionMode: "from_the_future" },
    { permissionMode: "auto" },
    { permissionMode: "machine" },
  ]

  it.each(plain)("[HA7] an operator may launch %j", (launch) => {
    expect(mayLaunch("operator", launch)).toBe(true)
    for (const role of OTHERS) expect(mayLaunch(role, launch), role).toBe(false)
  })

  it.each(admins)("[HA7] only an admin may launch %j, and the refusal says why", (launch) => {
    expect(launchRefusal("operator", launch)).toMatch(/needs an admin token$/)
    expect(mayLaunch("admin", launch)).toBe(true)
  })

  it("[HA8] an answer does not carry a mode without questions with it", () => {
    expect(mayAnswer("operator", answer(setMode("acceptEdits")))).toBe(true)
    expect(mayAnswer("operator", answer(setMode("bypassPermissions")))).toBe(false)
    expect(mayAnswer("operator", answer(setMode("auto")))).toBe(false)
    expect(mayAnswer("admin", answer(setMode("bypassPermissions")))).toBe(true)
    expect(mayAnswer("operator", { behavior: "deny" })).toBe(true)
    expect(mayAnswer("viewer", { behavior: "deny" })).toBe(false)
  })

  it("[HA60] with operatorsMayUseAuto an operator chooses auto by every door, and bypass by none", () => {
    const doors = (mode: string) => [
      launchRefusal("operator", { permissionMode: mode }, SWITCHED_ON) === undefined,
      mayControl("operator", { subtype: "set_permission_mode", mode }, SWITCHED_ON),
      mayAnswer("operator", answer(setMode(mode)), SWITCHED_ON),
    ]
    expect(doors("auto")).toEqual([true, true, true])
    for (const mode of ["bypassPermissions", "machine", "yolo"]) expect(doors(mode)).toEqual([false, false, false])
    expect(mayControl("viewer", { subtype: "set_permission_mode", mode: "auto" }, SWITCHED_ON)).toBe(false)
  })
})
