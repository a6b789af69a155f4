import { execFile } from "node:child_process"
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import { ensureSystemPackage } from "../../../scripts/system-package.mjs"
import { isWholeRun } from "../../../test/gate.ts"
import { COMMAND, environment, folder, run, startHub } from "./signalbox-process.ts"

const runFile = promisify(execFile)

/** A PATH on which `signalbox` is ours. */
function pathWithCommand(): string {
  const place = folder()
  mkdirSync(join(place, "bin"))
  symlinkSync(COMMAND, join(place, "bin/signalbox"))
  return `${join(place, "bin")}${delimiter}${process.env["PATH"] ?? ""}`
}

/** The whole run installs the shell; the gate tries it where it is. */
function shellNow(name: string): string | undefined {
  if (isWholeRun) return ensureSystemPackage(name)
  const found = ["/bin", "/usr/bin", "/usr/local/bin"].map((place) => join(place, name)).find(existsSync)
  if (found === undefined) process.stderr.write(`${name} is not on this machine: its completion is NOT tested\n`)
  return found
}

/** What bash offers for a line, its last word being typed. */
async function inBash(words: readonly string[], PATH: string): Promise<string[]> {
  const script = join(folder(), "completion.bash")
  writeFileSync(script, (await run(["completion", "bash"])).stdout)
  const ask = [
    `source "${script}"`,
    `COMP_WORDS=(signalbox ${words.map((word) => `'${word}'`).join(" ")})`,
    `COMP_CWORD=${words.length}`,
    "complete -p signalbox >&2",
    "_signalbox",
    'printf "%s\\n" "${COMPREPLY[@]}"',
  ].join("\n")
  const { stdout } = await runFile("bash", ["--norc", "-c", ask], { env: environment({ PATH }) })
  return stdout.split("\n").filter((line) => line !== "")
}

describe("completion", () => {
  it("[CL26] bash offers commands, options, their values and ids", async () => {
    const PATH = pathWithCommand()
    expect(await inBash(["do"], PATH)).toEqual(["down", "doctor"])
    expect(await inBash(["token", ""], PATH)).toEqual(["create", "ls", "revoke", "help"])
    expect(await inBash(["ls", "--s"], PATH)).toEqual(["--state", "--search"])
    expect(await inBash(["ls", "--state", "w"], PATH)).toEqual(["waiting"])
    expect(await inBash(["answer", "some-ask", ""], PATH)).toEqual(["allow", "deny"])
    expect(await inBash(["token", "create", "--role", "o"], PATH)).toEqual(["operator"])
    const hub = await startHub("no-runner")
    const { id } = await hub.json("new", "--agent", "external")
    expect(await inBash(["log", "--data", hub.data, ""], PATH)).toEqual([id])
    expect(await inBash(["stop", "--data", hub.data, id, id.slice(0, 4)], PATH)).toEqual([id])
    expect(await inBash(["log", "--data", folder(), ""], PATH)).toEqual([])
  })

  it("[CL26] other shells are refused", async () => {
    const { code, stderr } = await run(["completion", "tcsh"])
    expect([code, stderr]).toEqual([2, "signalbox: tcsh: choose one of bash, zsh, fish\n"])
    expect((await run(["completion", "zsh"])).stdout).toMatch(/^#compdef signalbox\n/)
  })

  const zsh = shellNow("zsh")
  it.runIf(zsh !== undefined)("[CL26] zsh offers the same", async () => {
    const PATH = pathWithCommand()
    const place = folder()
    writeFileSync(join(place, "_signalbox"), (await run(["completion", "zsh"])).stdout)
    // The parts of zsh's completion that the script stands on, without a terminal: what would be added is printed.
    const ask = [
      "compadd() { shift; print -l -- ${(P)1} }",
      "_files() { print files }",
      "compdef() { : }",
      `source "${place}/_signalbox"`,
      "words=(signalbox do) CURRENT=2; _signalbox",
      "words=(signalbox ls --state w) CURRENT=4; _signalbox",
      "words=(signalbox new --cwd '') CURRENT=4; _signalbox",
    ].join("\n")
    const { stdout } = await runFile(zsh ?? "", ["-f", "-c", ask], { env: environment({ PATH }) })
    expect(stdout).toBe("down\ndoctor\nwaiting\nfiles\n")
  })

  const fish = shellNow("fish")
  it.runIf(fish !== undefined)("[CL26] fish offers the same", async () => {
    const PATH = pathWithCommand()
    const place = folder()
    writeFileSync(join(place, "a-file"), "")
    const script = join(folder(), "completion.fish")
    writeFileSync(script, (await run(["completion", "fish"])).stdout)
    const asks = ["do", "ls --state w", "answer some-ask ", "new --cwd a-f"]
    const ask = [`source "${script}"`, ...asks.map((line) => `complete -C "signalbox ${line}"`)].join("\n")
    const { stdout } = await runFile(fish ?? "", ["--no-config", "-c", ask], { env: environment({ PATH }), cwd: place })
    expect(stdout.replaceAll(/\t.*/g, "").trim().split("\n")).toEqual([
      "doctor",
      "down",
      "waiting",
      "allow",
      "deny",
      "a-file",
    ])
  })
})
