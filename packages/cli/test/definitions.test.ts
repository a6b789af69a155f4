import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import { definitionOf } from "../src/base/define-command.ts"
import { cliDocs } from "../src/docs.ts"
import { createProgram, everyCommand } from "../src/program.ts"
import { COMMAND, environment, run } from "./signalbox-process.ts"

const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))))
const { env, stdin, stdout, stderr } = process
const program = await createProgram({ env, stdin, stdout, stderr })
/** Not the groups, and not what is for shells alone. */
const commands = everyCommand(program).filter(
  (command) => command.commands.length === 0 && !["complete", "help"].includes(command.name()),
)

describe("the definitions", () => {
  it("[CL25] every command has an example in its help, and takes --data", () => {
    const names = commands.map((command) => ({
      name: command.name(),
      hasExample: (definitionOf(command)?.examples.length ?? 0) > 0,
      hasData: command.options.some(({ long }) => long === "--data"),
    }))
    expect(names.length).toBeGreaterThan(17)
    expect(names.filter(({ hasExample, hasData }) => !hasExample || !hasData)).toEqual([])
  })

  it("[CL53] every command takes --json", () => {
    const without = commands.filter((command) => !command.options.some(({ long }) => long === "--json"))
    expect(without.map((command) => command.name())).toEqual([])
  })

  it("[CL25] docs/cli.md is what the definitions say; if not: node scripts/generate-cli-docs.mjs", async () => {
    expect(readFileSync(join(root, "docs/cli.md"), "utf8")).toBe(await cliDocs())
  })

  it("[CL25] the help of each is shown, exits 0, and ends in its example", async () => {
    const all = await run(["--help"])
    expect(all).toMatchObject({ code: 0, stderr: "" })
    for (const name of ["up", "down", "answer", "completion"]) {
      expect(all.stdout).toMatch(new RegExp(`^ {2}${name} `, "m"))
      const { code, stdout: help } = await run([name, "--help"])
      expect({ name, code, hasExample: /\nExamples?:\n {2}signalbox /.test(help) }).toEqual({
        name,
        code: 0,
        hasExample: true,
      })
    }
    expect((await run(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  it("[CL30] what they load is small: neither hub, nor runner, nor simulator, nor client", async () => {
    const trace = await promisify(execFile)(process.execPath, [COMMAND, "ls", "--help"], {
      env: environment({ NODE_DEBUG: "esm" }),
      maxBuffer: 64 * 1024 * 1024,
    })
    const loaded = new Set(trace.stderr.match(/packages\/\w+\/dist\/[\w./-]+\.js/g))
    const ofOthers = [...loaded].filter((file) => !file.startsWith("packages/cli/"))
    // The table of characters that cannot be seen: errors must not steer somebody's terminal.
    expect(ofOthers).toEqual(["packages/protocol/dist/unseen.js"])
  })
})
