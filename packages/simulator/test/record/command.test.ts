import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { composeAllow, composeUserMessage, type Envelope, encode, fieldOf } from "@signalbox/protocol"
import { decodeRecording, galleryNames, readReplayFile, readScenarioFile } from "@signalbox/simulator"
import { type ChildTransport, claudeArguments, openChildProcess } from "@signalbox/transport"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { question } from "../../../../test/conformance/answers.ts"
import { withoutIds } from "./conversation.ts"

const bin = fileURLToPath(new URL("../../bin/claude-sim.mjs", import.meta.url))
const flags = claudeArguments({ permissionPromptTool: "stdio", includePartialMessages: true })

describe("claude-sim", () => {
  let folder = ""
  beforeEach(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-record-")))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  function start(...args: string[]): Promise<ChildTransport> {
    const env = { PATH: process.env["PATH"] ?? "", HOME: folder, SIGNALBOX_SIM_SPEED: "max" }
    return openChildProcess({ command: process.execPath, args: [bin, ...args], cwd: folder, env })
  }

  /** Says one thing, allows everything, and ends its input after the result. */
  async function oneTurn(child: ChildTransport): Promise<Envelope[]> {
    const seen: Envelope[] = []
    await child.send(encode(composeUserMessage("go")))
    for await (const line of child.lines) {
      const message: Envelope = JSON.parse(line)
      seen.push(message)
      if (message.type === "control_request") {
        await child.send(
          encode(composeAllow(question(String(message["request_id"]), fieldOf(message, "request") ?? {}))),
        )
      }
      if (message.type === "result") child.endInput()
    }
    await child.closed
    return seen
  }

  it("[SR9] stands in for another executable, passes every line on, and records both sides and the exit code", async () => {
    const file = join(folder, "deploy.ndjson")
    const command = [process.execPath, bin, ...flags, "--scenario", "deploy"]
    const recorder = await start("record", "--out", file, "--", ...command)
    const seen = await oneTurn(recorder)
    expect((await recorder.closed).error).toBeUndefined()
    const { lines, exitCode } = decodeRecording(readFileSync(file, "utf8"), file)
    expect(exitCode).toBe(0)
    expect(lines.filter(({ from }) => from === "agent").map(({ line }) => JSON.parse(line))).toEqual(seen)
    expect(lines.filter(({ from }) => from === "host").length).toBeGreaterThan(8)

    const again = await oneTurn(await start(...flags, "--replay", file))
    expect(withoutIds(again)).toEqual(withoutIds(seen))

    const [replay, turns] = [join(folder, "replay.yaml"), join(folder, "turns.yaml")]
    expect((await (await start("convert", file, "--out", replay)).closed).error).toBeUndefined()
    expect((await readReplayFile(replay)).exitCode).toBe(0)
    expect(withoutIds(await oneTurn(await start(...flags, "--replay", replay)))).toEqual(withoutIds(seen))
    expect((await (await start("convert", file, "--turns", "--out", turns)).closed).error).toBeUndefined()
    expect((await readScenarioFile(turns)).turns).toHaveLength(1)
  })

  it("[SR10] says of a recording that was cut off where, and plays it as far as it goes", async () => {
    const file = join(folder, "cut.ndjson")
    const seen = await oneTurn(await start(...flags, "--scenario", "bug-fix", "--record", file))
    const rows = readFileSync(file, "utf8").split("\n")
    const middle = rows.findIndex((row) => row.includes('"type":"assistant"')) + 1
    writeFileSync(file, [...rows.slice(0, middle), rows[middle]?.slice(0, 20)].join("\n"))
    const child = await start(...flags, "--replay", file)
    await child.send(encode(composeUserMessage("go")))
    const again: Envelope[] = []
    for await (const line of child.lines) {
      again.push(JSON.parse(line))
      if (again.at(-1)?.type === "assistant") child.endInput()
    }
    expect(withoutIds(again)).toEqual(withoutIds(seen.slice(0, again.length)))
    const words = `${file}:${middle + 1}: its last line is cut off, and passed over; the recording ends in the middle of a turn`
    expect(child.stderrTail()).toContain(words)
    const converter = await start("convert", file, "--out", join(folder, "cut.yaml"))
    await converter.closed
    expect(converter.stderrTail()).toContain(words)
    const edited = await start(...flags, "--replay", join(folder, "cut.yaml"))
    edited.endInput()
    await edited.closed
    expect(edited.stderrTail()).toContain("cut.yaml: the recording ends in the middle of a turn")
  })

  it("[SR9] records a run of its own, as the host saw it", async () => {
    const file = join(folder, "own.ndjson")
    const seen = await oneTurn(await start(...flags, "--scenario", "bug-fix", "--record", file))
    const { lines } = decodeRecording(readFileSync(file, "utf8"), file)
    expect(lines.filter(({ from }) => from === "agent").map(({ line }) => JSON.parse(line))).toEqual(seen)
  })

  it.each([
    [["record", "--", "claude"], "it is written as: claude-sim record --out FILE -- claude …"],
    [["convert"], "it is written as: claude-sim convert RECORDING"],
    [["convert", "none.ndjson"], "none.ndjson: cannot be read"],
    [[...flags, "--replay", bin], "A replay is a recording of `claude-sim record`"],
  ])("[SR9] says how it is done when %j makes no sense, and exits 1", async (args, words) => {
    const child = await start(...args)
    expect((await child.closed).error).toMatchObject({ details: { exitCode: 1 } })
    expect(child.stderrTail()).toContain(words)
  })

  it("[SR9] passes on the exit code of an executable that cannot be started", async () => {
    const child = await start("record", "--out", join(folder, "r"), "--", join(folder, "no-such-claude"))
    expect((await child.closed).error).toMatchObject({ details: { exitCode: 127 } })
    expect(child.stderrTail()).toContain("cannot be started")
  })

  it("[SG4] lists the gallery, a line each", async () => {
    const child = await start("--list")
    const lines: string[] = []
    for await (const line of child.lines) lines.push(line)
    expect(lines.map((line) => line.split(" ")[0])).toEqual(galleryNames())
    for (const line of lines) expect(line).toMatch(/^\S+ {2,}\S.*\.$/)
  })
})
