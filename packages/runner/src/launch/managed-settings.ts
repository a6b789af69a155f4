import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fieldOf, parseObject } from "@signalbox/protocol/envelope"
import { UNHOOKING_VARIABLES } from "@signalbox/protocol/runner-wire"

/** The folder with the settings that this machine's administrator manages for Claude Code. They win over a runner's. */
export const MANAGED_SETTINGS =
  process.platform === "darwin" ? "/Library/Application Support/ClaudeCode" : "/etc/claude-code"

/**
 * The variable in managed settings that leaves hooks out, if there is one. Settings that are managed elsewhere, by a server or in a
 * registry, are not seen here; neither is a file that cannot be read, since the agent is the same user.
 */
export function managedUnhooking(folder: string): string | undefined {
  const files = [join(folder, "managed-settings.json"), ...piecesIn(join(folder, "managed-settings.d"))]
  for (const file of files) {
    const env = fieldOf(settingsIn(file), "env")
    const found = UNHOOKING_VARIABLES.find((name) => env?.[name] !== undefined && env[name] !== "0")
    if (found !== undefined) return found
  }
  return undefined
}

function piecesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name))
  } catch {
    return []
  }
}

function settingsIn(file: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return parseObject(readFileSync(file, "utf8").replace(/^\uFEFF/, ""))
  } catch {
    return undefined
  }
}
