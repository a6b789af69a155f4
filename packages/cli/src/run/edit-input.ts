import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isObject } from "@signalbox/protocol"
import type { TerminalLines } from "../terminal/terminal-lines.ts"

export type Input = Readonly<Record<string, unknown>>

/** The input as a person changed it; undefined when they gave it up. With an editor in a file, else on the line. */
export async function editInput(
  input: Input,
  { lines, env, signal }: { lines: TerminalLines; env: NodeJS.ProcessEnv; signal?: AbortSignal },
): Promise<Input | undefined> {
  const editor = env["VISUAL"] ?? env["EDITOR"]
  if (editor !== undefined && editor !== "") return inEditor(input, editor, lines)
  const command = input["command"]
  const ending = signal === undefined ? {} : { signal }
  if (typeof command === "string" && !command.includes("\n")) {
    const changed = await lines.ask("  command: ", { prefill: command, ...ending })
    return changed === undefined ? undefined : { ...input, command: changed }
  }
  const text = await lines.ask("  input as JSON: ", { prefill: JSON.stringify(input), ...ending })
  return text === undefined ? undefined : readInput(text, lines)
}

async function inEditor(input: Input, editor: string, lines: TerminalLines): Promise<Input | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-edit-"))
  try {
    const file = join(folder, "input.json")
    await writeFile(file, `${JSON.stringify(input, null, 2)}\n`, { mode: 0o600 })
    // An editor is a command line of its own ("code --wait"), as git and others take it.
    const child = spawn("sh", ["-c", `${editor} "$1"`, "sh", file], { stdio: "inherit" })
    const [code] = await once(child, "exit")
    if (code === 0) return readInput(await readFile(file, "utf8"), lines)
    lines.write(`  ${editor} ended with ${String(code)}: nothing was changed\n`)
    return undefined
  } catch (error) {
    lines.write(`  ${editor} could not be used: ${error instanceof Error ? error.message : String(error)}\n`)
    return undefined
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function readInput(text: string, lines: TerminalLines): Input | undefined {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
    lines.write("  that is no JSON object: the input was not changed\n")
  } catch (error) {
    lines.write(`  that is no JSON: ${error instanceof Error ? error.message : String(error)}\n`)
  }
  return undefined
}
