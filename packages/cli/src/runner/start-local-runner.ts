import { spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync } from "node:fs"
import { parse } from "node:path"
import type { Hub } from "@signalbox/hub"
import type { DataDirectory } from "../data-directory.ts"
import { ensureRunnerToken } from "./runner-token.ts"
import { SIGNALBOX } from "./signalbox-path.ts"

/**
 * A process of its own, so that agents survive the hub. Where one lives already it has the lock: the new one sees that and ends,
 * and the old one finds this hub by the data directory.
 */
export async function startLocalRunner(hub: Hub, data: DataDirectory): Promise<void> {
  // First: a runner whose token is refused does not hurry to try again.
  await ensureRunnerToken(hub, data)
  await spawnRunner(data)
}

async function spawnRunner(data: DataDirectory): Promise<void> {
  const log = openSync(data.runnerLog, "a", 0o600)
  try {
    const child = spawn(process.execPath, [SIGNALBOX, "runner", "--local", "--data", data.path], {
      detached: true,
      stdio: ["ignore", "ignore", log],
      env: withoutOurs(process.env),
      // Not the folder that somebody happened to be in: that one could never be removed.
      cwd: parse(data.path).root,
    })
    child.unref()
    await once(child, "spawn")
  } finally {
    closeSync(log)
  }
}

/** It finds everything in the data directory: another hub's address and token are no business of its. */
function withoutOurs(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^SIGNALBOX_(?:URL|TOKEN|DATA)$/.test(name)))
}
