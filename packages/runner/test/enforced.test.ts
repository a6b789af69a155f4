import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { LaunchSpec } from "@signalbox/protocol/runner-wire"
import { afterEach, describe, expect, it } from "vitest"
import { HeldHooks } from "../src/agents/held-hooks.ts"
import { guardedInput } from "../src/launch/executable.ts"
import { launchArguments } from "../src/launch/launch-spec.ts"
import { PROGRAM, Scene } from "./runner-scene.ts"

let scene: Scene

afterEach(() => scene?.dispose())

/** A runner whose `claude` is the test's own program, of this version. */
async function openScene(version = "2.1.325", env: Record<string, string> = {}): Promise<Scene> {
  const opened = await Scene.open()
  const claude = join(opened.base, "claude")
  writeFileSync(
    claude,
    `#!/bin/sh\n[ "$1" = --version ] && echo "${version} (Claude Code)" && exit\nexec "${process.execPath}" "${PROGRAM}" "$@"\n`,
  )
  chmodSync(claude, 0o755)
  await opened.runner?.close({ agents: true })
  await opened.start({ env: { PATH: process.env["PATH"], HOME: opened.base, CLAUDE_BIN: claude, ...env } })
  await opened.hub.until(() => opened.hub.isControlled)
  return opened
}

const ENFORCED = { agent: "claude", enforce: true } as const
const answer = (id: string, response: unknown) => ({
  type: "control_response",
  response: { subtype: "success", request_id: id, response },
})
const got = (process: string) =>
  scene.hub.lines(process).flatMap((line) => {
    const message = JSON.parse(line) as { type: string; message?: unknown }
    return message.type === "got" ? [message.message] : []
  })
const hooks = (process: string, id: string) =>
  scene.hub.lines(process).filter((line) => line.includes(`"request_id":"${id}"`) && line.includes("hook_callback"))

describe("an enforced agent", () => {
  it("[EN13] that calls its hook while the hub is away is not answered; the next hub is asked again, and decides", async () => {
    scene = await openScene()
    const process = await scene.launch(ENFORCED)
    await scene.turn(process, "hook before")
    scene.hub.say(process, "later hook meanwhile")
    await scene.hub.until(() => scene.hub.lines(process).some((line) => line.includes('"later"')))
    await scene.hub.leave()
    await new Promise((resolve) => setTimeout(resolve, 600))
    await scene.hub.come()
    await scene.hub.until(() => scene.hub.agent(process).socket !== undefined)
    scene.hub.command(process, { ev: "attached" })
    await scene.hub.until(() => hooks(process, "before").length === 2 && hooks(process, "meanwhile").length > 0)
    expect(got(process)).toEqual([])
    for (const id of ["before", "meanwhile"]) scene.hub.send(process, answer(id, { said: id }))
    await scene.hub.until(() => got(process).length === 2)
    expect(got(process)).toEqual([answer("before", { said: "before" }), answer("meanwhile", { said: "meanwhile" })])
    expect(scene.hub.notes(process)).toEqual([])
    const asked = hooks(process, "before").length
    scene.hub.command(process, { ev: "attached" })
    await scene.turn(process, "cwd")
    expect(hooks(process, "before")).toHaveLength(asked)
  })

  it("[EN13] holds a call by the hub's callback too; another hook that no hub has said anything about blocks, one of the hub's does not", async () => {
    scene = await openScene()
    const process = await scene.launch(ENFORCED)
    await scene.turn(process, "hook nameless hub-hook:PreToolUse none")
    await scene.turn(process, "hook unknown hook_0 none")
    await scene.turn(process, "hook misnamed hub-hook:PreToolUse Stop")
    await scene.turn(process, "hook foreign hook_0 Stop")
    await scene.turn(process, "hook own hub-hook:Stop none")
    await scene.hub.leave()
    await scene.hub.come()
    await scene.hub.until(() => scene.hub.agent(process).socket !== undefined)
    scene.hub.command(process, { ev: "attached" })
    await scene.hub.until(() => got(process).length === 2 && hooks(process, "misnamed").length === 2)
    const block = { decision: "block", reason: expect.any(String) }
    expect(got(process)).toEqual([answer("foreign", block), answer("own", {})])
    expect(["nameless", "unknown"].map((id) => hooks(process, id).length)).toEqual([2, 2])
  })

  it("[EN13] has a call denied 5 s before its hook's time-out, unless it is decided or taken back before", () => {
    const due = new Map<() => void, number>()
    const clock = {
      now: () => 0,
      after(ms: number, run: () => void) {
        due.set(run, ms)
        return () => void due.delete(run)
      },
    }
    const denied: string[] = []
    const held = new HeldHooks({ clock, deny: (id) => denied.push(id) })
    const call = (id: string, event: string) => ({
      type: "control_request",
      request_id: id,
      request: { subtype: "hook_callback", callback_id: "x", input: { hook_event_name: event } },
    })
    for (const id of ["decided", "open", "cancelled"]) held.heard(call(id, "PreToolUse"), `line ${id}`)
    held.heard(call("other", "Stop"), "line other")
    expect(held.lines).toEqual(["line decided", "line open", "line cancelled"])
    held.written(answer("decided", {}))
    held.heard({ type: "control_cancel_request", request_id: "cancelled" }, "")
    expect([...due.values()]).toEqual([595_000])
    for (const run of due.keys()) run()
    expect(denied).toEqual(["open"])
    held.releaseAll()
    expect([held.lines, due.size]).toEqual([[], 0])
  })

  it("[EN13] is told why its call is denied, and the hub that it was", async () => {
    const deny = {
      permissionDecision: "deny",
      permissionDecisionReason: expect.stringContaining("did not answer in time"),
    }
    scene = await openScene()
    // Nobody waits ten minutes: a clock whose long waits are short.
    await scene.runner?.close({ agents: true })
    const claude = join(scene.base, "claude")
    await scene.start({
      env: { PATH: process.env["PATH"], HOME: scene.base, CLAUDE_BIN: claude },
      clock: {
        now: () => Date.now(),
        after(ms, run) {
          const timer = setTimeout(run, ms === 595_000 ? 100 : ms)
          return () => clearTimeout(timer)
        },
      },
    })
    const agent = await scene.launch(ENFORCED)
    await scene.turn(agent, "hook slow")
    await scene.hub.until(() => got(agent).length === 1)
    expect(got(agent)).toEqual([answer("slow", { hookSpecificOutput: { hookEventName: "PreToolUse", ...deny } })])
    const denied = { toolName: "Bash", toolUseId: "toolu-slow" }
    expect(scene.hub.notes(agent)).toEqual([{ kind: "hook-answered", requestId: "slow", how: "block", denied }])
  })

  it("[EN14] has an input that never ends: a stop ends it by a signal", async () => {
    scene = await openScene()
    const process = await scene.launch(ENFORCED)
    await scene.turn(process, "hook open")
    await scene.hub.ask({ kind: "stop", spawn: process, reason: "test" })
    await scene.hub.until(() => scene.hub.exit(process) !== undefined)
    expect(scene.hub.lines(process).some((line) => line.includes("input-ended"))).toBe(false)
    expect(scene.hub.exit(process)).toMatchObject({ reason: "test" })
  })

  it("[EN17] runs no hooks but the hub's, whatever the runner's own environment and the user's settings say", async () => {
    scene = await openScene(undefined, { CLAUDE_CODE_SIMPLE: "1", OTHER: "1" })
    const process = await scene.launch({ ...ENFORCED, args: ["--add-dir", "/elsewhere", "--append-system-prompt"] })
    await scene.turn(process, "argv")
    const argv = scene.message(process, "argv")["argv"] as string[]
    // Before everything else: the last word of the launch would take it for its value.
    expect(argv.slice(-3)).toEqual(["--add-dir", "/elsewhere", "--append-system-prompt"])
    const at = argv.indexOf("--settings")
    expect(argv.slice(0, at).filter((word) => word.startsWith("-"))).toEqual([])
    expect(JSON.parse(argv[at + 1] ?? "")).toEqual({
      disableAllHooks: true,
      env: { CLAUDE_CODE_SIMPLE: "0", CLAUDE_CODE_SAFE_MODE: "0", CLAUDE_CODE_RESTRICTED: "0" },
    })
    await scene.turn(process, "env")
    const env = scene.message(process, "env")["env"] as Record<string, string>
    expect([env["CLAUDE_CODE_SIMPLE"], env["OTHER"]]).toEqual([undefined, "1"])
  })

  it("[EN3] is refused where its version would let a tool run, or nobody knows its version", async () => {
    scene = await openScene("2.1.199")
    const refused = { op: "refused", code: "policy/cannot-enforce" }
    expect(await scene.hub.request({ kind: "launch", spec: scene.spec(ENFORCED) })).toMatchObject({
      ...refused,
      message: expect.stringContaining("it needs claude 2.1.200 or newer, and this is 2.1.199"),
    })
    expect(await scene.hub.request({ kind: "launch", spec: scene.spec({ enforce: true }) })).toMatchObject(refused)
  })
})

it.each(["--settings", "--settings={}", "--bare", "--safe-mode", "--"])(
  "[EN3] %s in the arguments is refused",
  (word) => {
    const spec: LaunchSpec = { spawn: "p", session: "s", ...ENFORCED, args: [word, "{}"] }
    expect(() => launchArguments(spec, "2.1.325")).toThrow(`args has ${word}`)
    expect(() => launchArguments({ ...spec, args: ["--add-dir", "/x"] }, "2.1.325")).not.toThrow()
  },
)

it.each(["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"])(
  "[EN3] the variable %s is refused, whatever it is set to",
  (name) => {
    const spec: LaunchSpec = { spawn: "p", session: "s", ...ENFORCED, env: { [name]: "yes" } }
    expect(() => launchArguments(spec, "2.1.325")).toThrow(`env has ${name}`)
    const { enforce: _enforced, ...asked } = spec
    expect(() => launchArguments(asked, "2.1.325")).not.toThrow()
    expect(() => launchArguments({ ...spec, env: { OTHER: "yes" } }, "2.1.325")).not.toThrow()
  },
)

it("[EN3] a variable in the machine's managed settings is refused, because these win over the runner's", () => {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-managed-"))
  const spec: LaunchSpec = { spawn: "p", session: "s", ...ENFORCED }
  const launch = () => launchArguments(spec, "2.1.325", folder)
  try {
    for (const harmless of ["no JSON", '{"env":{"CLAUDE_CODE_SIMPLE":"0","OTHER":"1"},"disableAllHooks":true}']) {
      writeFileSync(join(folder, "managed-settings.json"), harmless)
      expect(launch).not.toThrow()
    }
    mkdirSync(join(folder, "managed-settings.d"))
    writeFileSync(join(folder, "managed-settings.d/10-more.json"), '\uFEFF{"env":{"CLAUDE_CODE_SAFE_MODE":"1"}}')
    expect(launch).toThrow("have CLAUDE_CODE_SAFE_MODE")
    writeFileSync(join(folder, "managed-settings.json"), '{"env":{"CLAUDE_CODE_SIMPLE":"1"}}')
    expect(launch).toThrow("have CLAUDE_CODE_SIMPLE")
    const { enforce: _enforced, ...asked } = spec
    expect(() => launchArguments(asked, "2.1.325", folder)).not.toThrow()
  } finally {
    rmSync(folder, { recursive: true })
  }
})

describe("an input that never ends", () => {
  const SAYS = `process.stdin.on("data", (data) => process.stdout.write("got " + data.length + "\\n"))
    process.stdin.on("end", () => console.log("end"))
    process.on("SIGTERM", () => { console.log("term"); process.exit(7) })
    console.log("ready"); setInterval(() => {}, 1000)`

  async function start(): Promise<{ child: ChildProcess; said: () => string; pipe: string }> {
    scene = await Scene.open()
    const pipe = join(scene.base, "input")
    const { command, args } = guardedInput({ command: process.execPath, args: ["-e", SAYS] }, pipe)
    const child = spawn(command, args, { detached: true, stdio: ["pipe", "pipe", "inherit"] })
    let said = ""
    child.stdout?.on("data", (data: Buffer) => {
      said += data.toString()
    })
    await expect.poll(() => said).toContain("ready")
    return { child, said: () => said, pipe }
  }

  it("[EN14] carries all that is written, and leaves nothing on disk", async () => {
    const { child, said, pipe } = await start()
    expect(existsSync(pipe)).toBe(false)
    const total = () => [...said().matchAll(/got (\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0)
    child.stdin?.write("x".repeat(1_000_000))
    await expect.poll(total).toBe(1_000_000)
    child.kill("SIGKILL")
    await once(child, "exit")
  })

  it("[EN14] whoever writes is gone: the process gets a signal and no end of its input, and nothing of its group is left", async () => {
    const { child, said } = await start()
    child.stdin?.destroy()
    const [code] = (await once(child, "exit")) as [number]
    expect([code, said()]).toEqual([7, "ready\nterm\n"])
    await expect.poll(() => groupLives(child.pid ?? 0)).toBe(false)
  })
})

function groupLives(pid: number): boolean {
  try {
    return process.kill(-pid, 0)
  } catch {
    return false
  }
}
