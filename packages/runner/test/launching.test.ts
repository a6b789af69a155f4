import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, describe, expect, it } from "vitest"
import { launchArguments } from "../src/launch/launch-spec.ts"
import { eventually, isAlive, PROGRAM, Scene } from "./runner-scene.ts"

const SIMULATOR = join(import.meta.dirname, "../../simulator/bin/claude-sim.mjs")

let scene: Scene

afterEach(() => scene.dispose())

function childPid(spawn: string): number {
  return Number(scene.message(spawn, "child")["pid"])
}

describe("a launch", () => {
  it("[RU12] starts one process however often it is asked for, also at the same time", async () => {
    scene = await Scene.open()
    const spec = scene.spec()
    const [one, other] = await Promise.all([scene.hub.launch(spec), scene.hub.launch(spec)])
    expect(other).toEqual(one)
    expect(await scene.hub.launch(spec)).toEqual(one)
    await scene.hub.ask({ kind: "stop", spawn: spec.spawn, reason: "test" })
    await scene.hub.until(() => scene.hub.exit(spec.spawn) !== undefined)
    await eventually(() => !isAlive(one.pid))
    await scene.hub.until(() => scene.hub.agent(spec.spawn).socket === undefined)
    expect(await scene.hub.request({ kind: "launch", spec })).toMatchObject({
      op: "refused",
      code: "runner/spawn-failed",
      message: expect.stringContaining("is over: launch a new one"),
    })
  })

  it("[RU13] passes the flags that make an agent of it, those of the launch, and its own arguments last", async () => {
    scene = await Scene.open()
    const agent = { command: [process.execPath, PROGRAM, "leading"] }
    const more = { model: "model-1", permissionMode: "plan", args: ["--add-dir", "/elsewhere"] }
    const spawn = await scene.launch({ agent, ...more })
    await scene.turn(spawn, "argv")
    const argv = scene.message(spawn, "argv")["argv"] as string[]
    expect(argv[0]).toBe("leading")
    expect(argv.slice(-2)).toEqual(["--add-dir", "/elsewhere"])
    const line = argv.join(" ")
    for (const flag of [
      "--output-format stream-json",
      "--input-format stream-json",
      "--verbose",
      "--permission-prompt-tool stdio",
      "--include-partial-messages",
      "--replay-user-messages",
      "--model model-1",
      "--permission-mode plan",
    ]) {
      expect(line).toContain(flag)
    }
    expect(line).not.toContain("dangerously")
  })

  it("[RU80] always names the mode, unless the machine's own settings are to say it", async () => {
    scene = await Scene.open()
    const flags = (permissionMode?: string) =>
      launchArguments(scene.spec(permissionMode === undefined ? {} : { permissionMode }), "2.1.300").join(" ")
    expect(flags()).toContain("--permission-mode default")
    expect(flags("auto")).toContain("--permission-mode auto")
    expect(flags("machine")).not.toContain("--permission-mode")
  })

  it("[RU82] writes the options of a launch as flags, and refuses by name what this version cannot take", async () => {
    scene = await Scene.open()
    const flags = (options: object, version?: string, initializes: string[] = []) =>
      launchArguments(scene.spec({ options, initializes }), version).join(" ")
    const options = {
      maxTurns: 3,
      allowedTools: ["Read", "Bash(ls:*)"],
      additionalDirectories: ["/a", "-b"],
      settingSources: [],
      mcpServers: { web: { type: "http", url: "http://x" } },
      effort: "low",
      thinking: { type: "adaptive", display: "omitted" },
      betas: ["x"],
      outputFormat: { type: "json_schema", schema: { type: "object" } },
    }
    for (const flag of [
      "--max-turns 3",
      "--allowedTools Read,Bash(ls:*)",
      "--add-dir /a --add-dir=-b",
      '--mcp-config {"mcpServers":{"web":{"type":"http","url":"http://x"}}}',
      "--effort low",
      "--thinking adaptive --thinking-display omitted",
      "--betas x",
      '--json-schema {"type":"object"}',
    ]) {
      expect(flags(options, "2.1.325")).toContain(flag)
    }
    expect(() => flags({ effort: "low" }, "2.1.37")).toThrow(/effort needs claude 2\.1\.45 or newer.* has 2\.1\.37/)
    expect(() => flags({ thinking: { type: "adaptive" } }, "2.1.37")).toThrow(/^thinking needs/)
    expect(flags({ thinking: { type: "enabled", budgetTokens: 9 } }, "2.1.37")).toContain("--max-thinking-tokens 9")
    expect(() => flags({}, "2.0.0", ["agents"])).toThrow(/^agents needs claude 2\.0\.77/)
    expect(() => flags({}, "2.1.120", ["systemPrompt as a list"])).toThrow(/^systemPrompt as a list needs/)
    expect(flags({ effort: "low" })).toContain("--effort low")
  })

  it("[RU81] asks for hook events and sign-in status where the version knows them", async () => {
    scene = await Scene.open()
    const flags = (version: string) => launchArguments(scene.spec(), version)
    expect(flags("2.1.325")).toEqual(expect.arrayContaining(["--include-hook-events", "--enable-auth-status"]))
    expect(flags("2.1.37")).toContain("--enable-auth-status")
    expect(flags("2.1.37")).not.toContain("--include-hook-events")
    expect(flags("2.0.0")).not.toContain("--enable-auth-status")
  })

  it("[RU13] leaves out what an old version does not know", async () => {
    scene = await Scene.open()
    const spec = scene.spec({ permissionMode: "bypassPermissions", resume: "s", fork: true })
    const flags = (version: string) => launchArguments(spec, version).join(" ")
    expect(flags("2.1.325")).toContain("--allow-dangerously-skip-permissions --resume s --fork-session")
    expect(flags("2.1.325")).toContain("--replay-user-messages")
    expect(flags("1.0.90")).toContain("--replay-user-messages")
    expect(flags("1.0.90")).not.toContain("--include-partial-messages")
    expect(flags("1.0.50")).not.toContain("--replay-user-messages")
    expect(flags("1.0.50")).not.toContain("dangerously")
  })

  it("[RU46] a fork that names a message begins after it; nothing else does", async () => {
    scene = await Scene.open()
    const flags = (spec: { resume?: string; fork?: boolean }) =>
      launchArguments(scene.spec({ ...spec, resumeAt: "m" }), "2.1.325").join(" ")
    expect(flags({ resume: "s", fork: true })).toContain("--resume s --fork-session --resume-session-at m")
    // No value becomes a flag.
    expect(flags({ resume: "--continue" })).toContain(" --resume=--continue")
    for (const spec of [{ resume: "s" }, { fork: true }, {}]) expect(flags(spec)).not.toContain("--resume-session-at")
  })

  it("[RU14] gives the agent the runner's environment with the launch's own laid over, and nothing that is Signalbox's", async () => {
    const env = {
      PATH: process.env["PATH"],
      SIGNALBOX_TOKEN: "secret",
      NODE_OPTIONS: "--no-warnings",
      DEBUG: "x",
      OURS: "1",
    }
    scene = await Scene.open({ env })
    const spawn = await scene.launch({ env: { OURS: "2", THEIRS: "3", SIGNALBOX_URL: "secret" } })
    await scene.turn(spawn, "env")
    const seen = scene.message(spawn, "env")["env"] as Record<string, string>
    expect(seen).toMatchObject({ OURS: "2", THEIRS: "3", CLAUDE_CODE_ENTRYPOINT: "signalbox" })
    expect(seen).toMatchObject({ CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: "true" })
    expect(Object.keys(seen).filter((name) => /^(?:SIGNALBOX_|NODE_OPTIONS$|DEBUG$)/.test(name))).toEqual([])
    expect(JSON.stringify(seen)).not.toContain("secret")
  })

  it("[RU15] runs the machine's claude and tells its version; without one it says where it looked", async () => {
    scene = await Scene.open()
    const bin = join(scene.base, "bin")
    mkdirSync(bin)
    writeFileSync(
      join(bin, "claude"),
      `#!/bin/sh\n[ "$1" = --version ] && echo "2.1.99 (Claude Code)" || exec ${process.execPath} ${PROGRAM} "$@"\n`,
    )
    chmodSync(join(bin, "claude"), 0o755)
    const env = { CLAUDE_BIN: join(bin, "claude") }
    const launched = await scene.hub.launch(scene.spec({ agent: "claude", env }))
    expect(launched).toMatchObject({ cliVersion: "2.1.99", cwd: scene.base })
    const missing = await scene.hub.request({
      kind: "launch",
      spec: scene.spec({ agent: "claude", env: { CLAUDE_BIN: join(bin, "none") } }),
    })
    expect(missing).toMatchObject({ code: "runner/no-claude", message: expect.stringContaining("CLAUDE_BIN") })
  })

  it("[RU15] plays the simulator where the runner has one", async () => {
    scene = await Scene.open({ simulator: [process.execPath, SIMULATOR] })
    expect(scene.runner?.facts).toMatchObject({ hasSimulator: true })
    const spec = scene.spec({ agent: "simulator" })
    expect(await scene.hub.launch(spec)).toMatchObject({ cliVersion: "2.1.325" })
    await scene.hub.until(() => scene.hub.agent(spec.spawn).socket !== undefined)
    scene.hub.say(spec.spawn, "hello")
    await scene.hub.until(() => scene.hub.lines(spec.spawn).some((line) => JSON.parse(line).type === "result"))
  })

  it.each([
    ["a spawn that is a path", { spawn: "../x" }],
    ["no session", { session: "" }],
    ["an unknown agent", { agent: "other" }],
    ["arguments that are no texts", { args: [1] }],
    ["an environment that is none", { env: { "A=B": "c" } }],
  ])("[RU16] is refused with what is wrong with it: %s", async (_what, wrong) => {
    scene = await Scene.open()
    const spec = { ...scene.spec(), ...wrong } as ReturnType<Scene["spec"]>
    expect(await scene.hub.request({ kind: "launch", spec })).toMatchObject({ op: "refused", code: "runner/invalid" })
  })

  it("[RU16] of what cannot be run is refused", async () => {
    scene = await Scene.open()
    const spec = scene.spec({ agent: { command: [join(scene.base, "nothing-here")] } })
    expect(await scene.hub.request({ kind: "launch", spec })).toMatchObject({ code: "runner/spawn-failed" })
    expect(scene.runner?.agents).toBe(0)
  })
})

describe("the secrets of a launch", () => {
  const headers = { Authorization: "Bearer secret-1" }
  const mcpServers = { web: { type: "http", url: "http://x", headers } }
  const settings = JSON.stringify({ env: { KEY: "secret-2" } })
  const more = JSON.stringify({
    mcpServers: { two: { type: "http", url: "http://y", headers: { "X-Key": "secret-3" } } },
  })
  const args = ["--settings", settings, "--model", "{m}", "--mcp-config", "own.json", more, `--settings=${settings}`]
  const secretFolder = () => join(scene.state, "launch")
  const pathsIn = (argv: readonly string[]) => argv.map((word) => word.slice(word.indexOf("/"))).filter(isOurs)
  const isOurs = (path: string) => path.startsWith(`${secretFolder()}/`)

  it("[RU83] are in files of the runner's own while the agent lives, and not in its arguments; each start writes them anew", async () => {
    scene = await Scene.open()
    for (let life = 1; life <= 2; life++) {
      const spawn = await scene.launch({ options: { mcpServers }, args })
      await scene.turn(spawn, "argv")
      const argv = scene.message(spawn, "argv")["argv"] as string[]
      expect(argv.join(" ")).not.toContain("secret-")
      const paths = pathsIn(argv)
      const [servers, ...others] = paths.map((path): unknown => JSON.parse(readFileSync(path, "utf8")))
      expect(servers).toEqual({ mcpServers })
      expect(others.map((value) => JSON.stringify(value))).toEqual([settings, more, settings])
      expect(argv[argv.indexOf("--mcp-config") + 1]).toBe(paths[0])
      // Nothing else is changed.
      const own = ["--settings", paths[1], "--model", "{m}", "--mcp-config", "own.json", paths[2]]
      expect(argv.slice(-8)).toEqual([...own, `--settings=${paths[3]}`])
      const modes = [secretFolder(), join(secretFolder(), spawn), ...paths].map((path) => statSync(path).mode & 0o777)
      expect(modes).toEqual([0o700, 0o700, 0o600, 0o600, 0o600, 0o600])
      scene.hub.say(spawn, "exit 0")
      await scene.hub.until(() => scene.hub.exit(spawn) !== undefined)
      await eventually(() => !existsSync(join(secretFolder(), spawn)))
    }
    await scene.launch({ options: { mcpServers } })
    await scene.runner?.close({ agents: true })
    expect(readdirSync(secretFolder())).toEqual([])
  })

  it("[RU83] that cannot be written down fail the launch, and nothing is left of it", async () => {
    scene = await Scene.open()
    writeFileSync(secretFolder(), "")
    const spec = scene.spec({ options: { mcpServers } })
    const refused = await scene.hub.request({ kind: "launch", spec })
    expect(refused).toMatchObject({ op: "refused", code: "runner/spawn-failed" })
    expect(refused).toMatchObject({ message: expect.stringMatching(/--mcp-config.* cannot be written to .*free some/) })
    expect(scene.runner?.agents).toBe(0)
    await scene.launch()
    rmSync(secretFolder())
    await scene.hub.launch(spec)
    const broken = scene.spec({ options: { mcpServers }, agent: { command: [join(scene.base, "nothing-here")] } })
    expect(await scene.hub.request({ kind: "launch", spec: broken })).toMatchObject({ code: "runner/spawn-failed" })
    expect(readdirSync(secretFolder())).toEqual([spec.spawn])
  })
})

describe("the end of an agent", () => {
  it("[RU6] is told after its last line: its code, its signal, and the last it wrote to stderr", async () => {
    scene = await Scene.open()
    const [one, other] = [await scene.launch(), await scene.launch()]
    await scene.turn(one, "stderr something broke")
    scene.hub.say(one, "exit 3")
    scene.hub.say(other, "crash")
    await scene.hub.until(() => scene.hub.exit(one) !== undefined && scene.hub.exit(other) !== undefined)
    const lastReceived: unknown = expect.any(String)
    expect(scene.hub.exit(one)).toEqual({ reason: "exit code 3", code: 3, stderrTail: "something\n", lastReceived })
    expect(scene.hub.exit(other)).toEqual({ reason: "signal SIGKILL", signal: "SIGKILL", lastReceived })
    expect(scene.hub.inOrder(one).at(-1)?.kind).toBe("note")
  })

  it("[RU17] a stop ends its input and lets it finish; one that does not is ended with all it started", async () => {
    scene = await Scene.open({ limits: { stopGraceMs: 200, killAfterMs: 300 } })
    const [polite, stubborn] = [await scene.launch(), await scene.launch()]
    await scene.turn(stubborn, "stubborn")
    await scene.turn(stubborn, "child group")
    await scene.hub.ask({ kind: "stop", spawn: polite, reason: "somebody said so" })
    await scene.hub.until(() => scene.hub.exit(polite) !== undefined)
    expect(scene.hub.exit(polite)).toMatchObject({ reason: "somebody said so" })
    await scene.hub.ask({ kind: "stop", spawn: stubborn, reason: "now" })
    await scene.hub.until(() => scene.hub.exit(stubborn) !== undefined)
    expect(scene.hub.lines(stubborn).at(-1)).toContain("term")
    await eventually(() => !isAlive(childPid(stubborn)))
    expect(await scene.hub.request({ kind: "stop", spawn: "unknown", reason: "x" })).toMatchObject({
      code: "runner/unknown-agent",
    })
  })

  it("[RU18] a message that came too late for it is named in its exit", async () => {
    scene = await Scene.open({ limits: { stopGraceMs: 300, killAfterMs: 300 } })
    const spawn = await scene.launch()
    await scene.turn(spawn, "stubborn")
    const stopped = scene.hub.ask({ kind: "stop", spawn, reason: "parked" })
    await scene.hub.until(() => scene.hub.lines(spawn).some((line) => line.includes("input-ended")))
    scene.hub.say(spawn, "cwd", "late-1")
    await stopped
    await scene.hub.until(() => scene.hub.exit(spawn) !== undefined)
    expect(scene.hub.exit(spawn)).toMatchObject({ undelivered: ["late-1"] })
  })

  it("[RU18] the last message that it was given is named too: what came after the note of its end came too late", async () => {
    scene = await Scene.open()
    const [silent, spoken] = [await scene.launch(), await scene.launch()]
    await scene.turn(spoken, "cwd")
    scene.hub.say(spoken, "exit 0", "last-1")
    scene.hub.isAcking = false
    await scene.hub.ask({ kind: "stop", spawn: silent, reason: "test" })
    await scene.hub.until(() => scene.hub.exit(silent) !== undefined && scene.hub.exit(spoken) !== undefined)
    scene.hub.say(spoken, "cwd", "after-1")
    expect(scene.hub.exit(spoken)).toMatchObject({ lastReceived: "last-1" })
    expect(scene.hub.exit(silent)).toMatchObject({ lastReceived: null })
  })

  it("[RU43] takes along what it had started, also when it ends by itself, and in a group of its own or without a leader", async () => {
    scene = await Scene.open()
    const spawn = await scene.launch()
    await scene.turn(spawn, "child group")
    const inGroup = childPid(spawn)
    await scene.turn(spawn, "child away")
    const away = childPid(spawn)
    expect([inGroup, away].map(isAlive)).toEqual([true, true])
    scene.hub.say(spawn, "exit 0")
    await scene.hub.until(() => scene.hub.exit(spawn) !== undefined)
    await eventually(() => !isAlive(inGroup) && !isAlive(away))
    // It is forgotten only then.
    await eventually(() => !JSON.stringify(stateOf(scene).agents).includes(spawn))
    expect(stateOf(scene).over).toEqual([spawn])
  })

  it("[RU19] one that reads no more input, or is gone in the middle of a write, harms nothing", async () => {
    scene = await Scene.open()
    const [deaf, other] = [await scene.launch(), await scene.launch()]
    scene.hub.say(deaf, "deaf")
    scene.hub.say(other, "exit 0")
    const big = "x".repeat(1_000_000)
    for (let n = 0; n < 20; n++) {
      scene.hub.say(deaf, `cwd ${big}`)
      scene.hub.say(other, `cwd ${big}`)
    }
    await scene.hub.until(() => scene.hub.exit(other) !== undefined)
    await scene.turn(await scene.launch(), "cwd")
    await scene.hub.ask({ kind: "stop", spawn: deaf, reason: "test" })
    await scene.hub.until(() => scene.hub.exit(deaf) !== undefined)
    expect(scene.runner?.agents).toBe(1)
  })
})

function stateOf({ state }: Scene): { agents: unknown[]; over: string[] } {
  return JSON.parse(readFileSync(join(state, "runner-state.json"), "utf8")) as { agents: unknown[]; over: string[] }
}
