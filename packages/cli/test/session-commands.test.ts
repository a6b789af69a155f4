import { spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, existsSync, openSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { atEnd, COMMAND, environment, folder, run, start, startHub, type TestHub } from "./signalbox-process.ts"

const POLL = { timeout: 30_000, interval: 100 }

async function newSession(hub: TestHub, ...more: string[]): Promise<string> {
  const { code, stdout, stderr } = await hub.run(["new", "--agent", "simulator", "--cwd", folder(), ...more])
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
  expect(stdout).toMatch(/^[0-9a-f-]{36}\n$/)
  return stdout.trim()
}

async function makeSession(hub: TestHub, body: object): Promise<string> {
  return (await hub.call("POST", "/api/sessions", { agent: "external", ...body })).id
}

/** A first turn that goes on until somebody stops it, and a second that does not. */
const SLOW = `turns:
  - steps:
      - say: One moment.
      - hang: true
  - steps:
      - say: Read it.
`

function stateOf(hub: TestHub, id: string): Promise<string> {
  return hub.json("ls", "--all").then(({ sessions }) => sessions.find((each: { id: string }) => each.id === id)?.state)
}

describe("sessions from the command line", () => {
  it("[CL8] [CL39] right after `up` says that it is ready, a session starts on its runner; its ask is answered and its turn logged", async () => {
    const hub = await startHub("runner")
    const id = await newSession(hub, "--prompt", "permission please", "--title", "A first one")
    await expect.poll(() => stateOf(hub, id), POLL).toBe("waiting")
    const table = await hub.run(["ls"])
    expect(table.stdout).toMatch(new RegExp(`^ID +STATE[^\\n]*\\n${id.slice(0, 8)} +waiting +1 +A first one`))
    const { asks } = await hub.json("asks", "--session", id.slice(0, 6))
    expect(asks).toMatchObject([{ sessionId: id, kind: "tool", toolName: "Bash", state: "pending" }])
    expect((await hub.run(["asks"])).stdout).toContain("Bash npm test")
    const settled = await hub.json("answer", asks[0].id.slice(0, 10), "allow")
    expect(settled).toMatchObject({ id: asks[0].id, state: "allowed", via: "person" })
    await expect.poll(() => stateOf(hub, id), POLL).toBe("idle")
    const again = await hub.run(["answer", asks[0].id, "deny"])
    expect(again.code).toBe(1)
    expect(again.stderr).toMatch(/^signalbox: .*needs no answer any more\n$/)
    const log = await hub.run(["log", id.slice(0, 8)])
    expect(log.stdout).toMatch(
      /admin: permission please\n[^]*asks: Bash npm test\n[^]*admin allowed it\n[^]*turn: done/,
    )
    const events = (await hub.run(["log", id, "--json"])).stdout.trim().split("\n")
    expect(events.map((line) => JSON.parse(line).seq)).toEqual(events.map((_, index) => index + 1))
    const tail = await hub.run(["log", id, "--json", "--tail", "2"])
    expect(tail.stdout.trim().split("\n")).toEqual(events.slice(-2))
  })

  it("[CL9] [CL39] sends, follows, interrupts and stops", async () => {
    const hub = await startHub("runner")
    const scenario = join(folder(), "slow.yaml")
    writeFileSync(scenario, SLOW)
    const id = await newSession(hub, "--arg", "--scenario", "--arg", scenario)
    const follower = start(["log", id, "--follow", "--json", "--data", hub.data])
    expect(await hub.json("send", id.slice(0, 8), "take your time")).toMatchObject({
      session: id,
      seq: expect.any(Number),
    })
    await expect.poll(() => stateOf(hub, id), POLL).toBe("running")
    expect((await hub.run(["interrupt", id.slice(0, 8)])).code).toBe(0)
    await expect.poll(() => stateOf(hub, id), POLL).toBe("idle")
    expect((await hub.run(["send", id], { input: "from a pipe\n" })).code).toBe(0)
    const said = () => follower.lines.map((line) => JSON.parse(line).message)
    await expect.poll(() => said().filter(({ type }) => type === "result").length, POLL).toBe(2)
    const told = (await hub.run(["log", id])).stdout
    expect(told).toMatch(/admin: take your time\n[^]*admin interrupted the turn\n[^]*turn: /)
    expect(told).not.toContain("asks: interrupt")
    expect(JSON.stringify(said())).toContain("from a pipe")
    expect((await hub.run(["stop", id])).code).toBe(0)
    expect(await stateOf(hub, id)).toBe("ended")
    // There is nothing more to follow.
    if (follower.child.exitCode === null) await once(follower.child, "exit")
    expect(follower.child.exitCode).toBe(0)
    expect((await hub.json("ls")).sessions).toEqual([])
    expect((await hub.run(["log", id, "--follow", "--tail", "0"])).stdout).toBe("")
    // Brought back, it goes on after its end.
    expect((await hub.run(["send", id, "once more"])).code).toBe(0)
    const again = start(["log", id, "--follow", "--data", hub.data])
    await expect.poll(() => again.lines.join("\n"), POLL).toMatch(/hub: ended[^]*admin: once more/)
    expect(again.child.exitCode).toBeNull()
    await expect.poll(() => stateOf(hub, id), POLL).toBe("running")
    expect((await hub.run(["stop", id])).code).toBe(0)
    if (again.child.exitCode === null) await once(again.child, "exit")
    expect(again.child.exitCode).toBe(0)
    expect((await hub.json("ls", "--state", "ended")).sessions).toHaveLength(1)
  })

  it("[CL10] watches asks until Ctrl-C, and shows each once with what became of it", async () => {
    const hub = await startHub("runner")
    const watcher = start(["asks", "--watch", "--json", "--data", hub.data])
    const id = await newSession(hub, "--prompt", "permission please")
    const seen = () => watcher.lines.map((line) => JSON.parse(line))
    await expect.poll(() => seen().length, POLL).toBe(1)
    const message = "Not today"
    expect((await hub.run(["answer", seen()[0].id, "deny", "--message", message])).code).toBe(0)
    await expect.poll(() => seen().map(({ state }) => state), POLL).toEqual(["pending", "denied"])
    expect(seen()[1]).toMatchObject({ sessionId: id, answer: { behavior: "deny", message } })
    watcher.child.kill("SIGINT")
    await once(watcher.child, "exit")
    expect([watcher.child.exitCode, watcher.said()]).toEqual([0, ""])
  })
})

describe("what every command has in common", () => {
  it("[CL11] exits 3 without a hub, 4 without the right, 2 when used wrongly, each with one line that says what to do", async () => {
    const empty = folder()
    const noHub = await run(["ls", "--data", empty])
    expect(noHub.code).toBe(3)
    expect(noHub.stderr).toMatch(/^signalbox: no hub is running [^\n]*signalbox up[^\n]*\n$/)
    const gone = await run(["ls"], { env: { SIGNALBOX_URL: "http://127.0.0.1:9", SIGNALBOX_TOKEN: "sbx_none" } })
    expect(gone.code).toBe(3)
    expect(gone.stderr).toMatch(
      /^signalbox: can't reach [^\n]* \([^\n]*\): check SIGNALBOX_URL, and that the hub is running\n$/,
    )
    const hub = await startHub("no-runner")
    const wrongToken = await run(["ls"], { env: { SIGNALBOX_URL: hub.url, SIGNALBOX_TOKEN: "sbx_wrong" } })
    expect(wrongToken.code).toBe(4)
    const noToken = await run(["ls"], { env: { SIGNALBOX_URL: hub.url, SIGNALBOX_DATA: empty } })
    expect(noToken.code).toBe(4)
    expect(noToken.stderr).toContain("SIGNALBOX_TOKEN")
    const { token } = await hub.json("token", "create", "--role", "viewer")
    const asViewer = { env: { SIGNALBOX_URL: hub.url, SIGNALBOX_TOKEN: token } }
    expect((await run(["ls", "--json"], asViewer)).code).toBe(0)
    const forbidden = await run(["new"], asViewer)
    expect(forbidden.code).toBe(4)
    expect(forbidden.stderr.split("\n")).toHaveLength(2)
    const noAddress = await run(["ls"], { env: { SIGNALBOX_URL: "notaurl", SIGNALBOX_TOKEN: token } })
    expect(noAddress.code).toBe(2)
    expect(noAddress.stderr).toMatch(/^signalbox: SIGNALBOX_URL is notaurl: set it to [^\n]*http[^\n]*\n$/)
    for (const args of [["send"], ["answer", "x", "perhaps"], ["ls", "--state", "tired"], ["nonsense"], ["token"]]) {
      const wrong = await hub.run(args)
      expect({ args, code: wrong.code, stdout: wrong.stdout }).toEqual({ args, code: 2, stdout: "" })
      expect(wrong.stderr).not.toBe("")
    }
    const mistyped = await hub.run(["lss"])
    expect([mistyped.code, mistyped.stderr]).toEqual([
      2,
      "signalbox: unknown command 'lss' (Did you mean ls?) (see signalbox --help)\n",
    ])
  })

  it("[CL12] an id may be abbreviated as far as it is unique", async () => {
    const hub = await startHub("no-runner")
    const ids = await Promise.all(Array.from({ length: 17 }, () => makeSession(hub, {})))
    // Two of seventeen ids begin with the same digit.
    const shared = ids.map((id) => id.slice(0, 1)).find((digit, index, all) => all.indexOf(digit) !== index) ?? ""
    const ambiguous = await hub.run(["log", shared])
    expect(ambiguous.code).toBe(2)
    expect(ambiguous.stderr).toMatch(/^signalbox: [0-9a-f] matches \d+ \([^\n]*\): give more of the id\n$/)
    const unknown = await hub.run(["log", "zzz"])
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      `signalbox: no session has an id starting with zzz: see "signalbox ls --all --data ${hub.data}"\n`,
    ])
    for (const id of ids.slice(0, 2)) expect((await hub.run(["log", id.slice(0, 13)])).code).toBe(0)
  })

  it("[CL13] a reader that goes away ends it quietly, and colours are for terminals", async () => {
    const hub = await startHub("no-runner")
    for (let count = 0; count < 3; count++) await makeSession(hub, { prompt: "\u001b[31mred\u001b[0m" })
    const shell = spawn(
      "bash",
      ["-c", `set -o pipefail; "${process.execPath}" "${COMMAND}" ls --data "${hub.data}" | head -1`],
      {
        env: environment({ FORCE_COLOR: "1" }),
        stdio: ["ignore", "pipe", "pipe"],
      },
    )
    let [out, err] = ["", ""]
    shell.stdout.on("data", (data: Buffer) => void (out += data.toString()))
    shell.stderr.on("data", (data: Buffer) => void (err += data.toString()))
    const [code] = await once(shell, "close")
    expect({ code, err }).toEqual({ code: 0, err: "" })
    expect(out).toMatch(/^ID +STATE/)
    expect((await hub.run(["ls"])).stdout).not.toContain("\u001b")
  })

  it.runIf(existsSync("/dev/full"))("[CL13] a disk that is full is told in one line", async () => {
    const hub = await startHub("no-runner")
    await makeSession(hub, { prompt: "a" })
    const full = openSync("/dev/full", "w")
    atEnd(() => closeSync(full))
    for (const args of [["ls"], ["ls", "--json"], ["--help"], ["sim", "--list"]]) {
      const child = spawn(process.execPath, [COMMAND, ...args, ...(args[0] === "ls" ? ["--data", hub.data] : [])], {
        env: environment(),
        stdio: ["ignore", full, "pipe"],
      })
      let said = ""
      child.stderr?.on("data", (data: Buffer) => void (said += data.toString()))
      const [code] = await once(child, "close")
      expect({ args, code }).toEqual({ args, code: 1 })
      expect(said).toMatch(
        /^(?:signalbox|claude-sim): (?:can't write the output|what it prints cannot be written): [^\n]+\n$/,
      )
    }
  })

  it("[CL71] new takes the options of a launch as flags", async () => {
    const hub = await startHub("no-runner")
    const file = join(folder(), "servers.json")
    writeFileSync(file, JSON.stringify({ mcpServers: { web: { type: "http", url: "http://127.0.0.1:1" } } }))
    const flags = [
      "--system-prompt",
      "Be X.",
      "--append-system-prompt",
      "Be brief.",
      "--max-turns",
      "3",
      "--max-budget-usd",
      "1.5",
      "--agents",
      '{"a":{"description":"d","prompt":"p"}}',
      "--json-schema",
      '{"type":"object"}',
      "--mcp-config",
      file,
      "--allowed-tools",
      "Read",
      "--allowed-tools",
      "Bash(ls:*)",
      "--disallowed-tools",
      "Write",
      "--add-dir",
      "/a",
      "--setting-sources",
      "",
      "--effort",
      "low",
      "--thinking",
      "2000",
      "--beta",
      "x",
    ]
    const { ingress } = await hub.json("new", "--agent", "external", "--continue", "--fork", ...flags)
    for (const words of [
      " --continue --fork-session",
      "--max-turns 3 --max-budget-usd 1.5 --max-thinking-tokens 2000 --effort low --betas x",
      `--json-schema '{"type":"object"}'`,
      "--allowedTools 'Read,Bash(ls:*)' --disallowedTools Write",
      "--setting-sources ''",
      "--add-dir /a",
      '"web"',
    ]) {
      expect(ingress.command).toContain(words)
    }
  })

  it("[CL38] what is wrong with a command is told before anything is made: no terminal, no session", async () => {
    const hub = await startHub("no-runner")
    const ended = await hub.run(["new", "--agent", "simulator", "--attach"])
    expect(ended).toMatchObject({ code: 2, stdout: "" })
    expect(ended.stderr).toMatch(/^signalbox: attach needs a terminal\. [^\n]*signalbox log [^\n]*\n$/)
    expect((await hub.json("ls", "--all")).sessions).toEqual([])
    // Nor is a hub looked for.
    const wrong = [
      ["new", "--agent", "robot"],
      ["new", "--fork"],
      ["new", "--resume", "x", "--at", "m"],
      ["new", "--resume", "x", "--continue"],
      ["new", "--continue", "--fork", "--at", "m"],
      ["new", "--env", "X"],
      ["new", "--max-turns", "none"],
      ["new", "--thinking", "hard"],
      ["new", "--agents", '{"a":1}'],
      ["new", "--json-schema", "no-such-file.json"],
      ["new", "--prompt", ""],
      ["new", "--prompt", "-"],
      ["send", "x", "-"],
      ["token", "revoke", ""],
      ["token", "create", "--role", "viewer", "--expires", "2001-01-31T00:00:00Z"],
      ["answer", "x", "allow", "--input", "{"],
      ["log", "x", "--tail", "-1"],
    ]
    for (const args of wrong) {
      const told = await run([...args, "--data", join(folder(), "none")])
      expect({ args, code: told.code, lines: told.stderr.split("\n").length }).toEqual({ args, code: 2, lines: 2 })
    }
    const missing = await run(["token", "revoke"])
    expect([missing.code, missing.stderr]).toEqual([
      2,
      "signalbox: missing required argument 'id' (see signalbox token revoke --help)\n",
    ])
  })
})
