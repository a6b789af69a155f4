import { homedir } from "node:os"
import { join } from "node:path"

/** `~` and what is below it, as a shell on this machine has it. Another user's home is not looked up. */
export function expandHome(path: string): string {
  if (path === "~") return homedir()
  return path.startsWith("~/") ? join(homedir(), path.slice(2)) : path
}
