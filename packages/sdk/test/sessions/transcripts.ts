import { mkdtempSync, realpathSync } from "node:fs"
import { mkdir, rm, utimes, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"

// Transcripts as the CLI writes them, made by hand: small enough to see what a case is about.

export type Json = Record<string, unknown>

export const SESSION = "00000001-0000-4000-8000-000000000000"

/** A uuid that can be told apart by its beginning. */
export function id(n: number): string {
  return `${String(n).padStart(8, "0")}-0000-4000-8000-000000000000`
}

let seconds = 0

export function nextTime(): string {
  return new Date(1_790_000_000_000 + seconds++ * 1000).toISOString()
}

function common(): Json {
  return {
    userType: "external",
    entrypoint: "cli",
    cwd: "/w/p",
    sessionId: SESSION,
    version: "2.1.325",
    gitBranch: "main",
  }
}

export function user(uuid: number, parent: number | null, content: unknown, extra: Json = {}): Json {
  const parentUuid = parent === null ? null : id(parent)
  const message = { role: "user", content }
  const own = { parentUuid, isSidechain: false, type: "user", message, uuid: id(uuid), timestamp: nextTime() }
  return { ...own, ...common(), ...extra }
}

export function assistant(uuid: number, parent: number | null, content: unknown, extra: Json = {}): Json {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content
  const message = { id: `msg_${uuid}`, type: "message", role: "assistant", model: "m", content: blocks }
  const parentUuid = parent === null ? null : id(parent)
  const own = { parentUuid, isSidechain: false, message, requestId: "r", type: "assistant", uuid: id(uuid) }
  return { ...own, timestamp: nextTime(), ...common(), ...extra }
}

/** One of the blocks that an API message was cut into: a tool call. */
export function toolCall(
  uuid: number,
  parent: number,
  call: { tool: string; message: string },
  extra: Json = {},
): Json {
  const line = assistant(uuid, parent, [{ type: "tool_use", id: call.tool, name: "Bash", input: {} }], extra)
  return { ...line, message: { ...(line["message"] as Json), id: call.message } }
}

export function toolResult(uuid: number, parent: number, tool: string, extra: Json = {}): Json {
  return user(uuid, parent, [{ type: "tool_result", tool_use_id: tool, content: tool }], extra)
}

export function system(uuid: number, parent: number | null, subtype: string, extra: Json = {}): Json {
  const parentUuid = parent === null ? null : id(parent)
  const own = { parentUuid, isSidechain: false, type: "system", subtype, content: "c", isMeta: false }
  return { ...own, timestamp: nextTime(), uuid: id(uuid), sessionId: SESSION, ...extra }
}

export function linked(type: string, uuid: number, parent: number | null, extra: Json = {}): Json {
  return { type, uuid: id(uuid), parentUuid: parent === null ? null : id(parent), isSidechain: false, ...extra }
}

/** Lines of a file; a text is taken as it is. */
export function file(...lines: (Json | string)[]): string {
  return `${lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n")}\n`
}

/** A configuration folder, made for one case and in force until it is removed. */
export interface World {
  readonly config: string
  remove(): Promise<void>
}

/** Files under `projects`, each a little younger than the one before. */
export async function makeWorld(files: Readonly<Record<string, string>>): Promise<World> {
  const config = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-sessions-")))
  let modified = 1_700_000_000
  for (const [path, content] of Object.entries(files)) {
    const target = join(config, "projects", path)
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, content)
    modified += 10
    await utimes(target, modified, modified)
  }
  const before = process.env["CLAUDE_CONFIG_DIR"]
  process.env["CLAUDE_CONFIG_DIR"] = config
  return {
    config,
    async remove() {
      if (before === undefined) delete process.env["CLAUDE_CONFIG_DIR"]
      else process.env["CLAUDE_CONFIG_DIR"] = before
      await rm(config, { recursive: true, force: true })
    },
  }
}

export function oneSession(...lines: (Json | string)[]): Record<string, string> {
  return { [`-w-p/${SESSION}.jsonl`]: file(...lines) }
}
