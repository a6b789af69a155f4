import { spawn } from "node:child_process"

type Opener = readonly [command: string, ...args: string[]]

/** How a page is opened here; undefined where nobody would see it. */
export function browserOpener(
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): Opener | undefined {
  // Over SSH the browser would open on a screen at the other end.
  if (isSet(env["SSH_CONNECTION"]) || isSet(env["CI"])) return undefined
  if (platform === "darwin") return ["open"]
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"]
  return isSet(env["DISPLAY"]) || isSet(env["WAYLAND_DISPLAY"]) ? ["xdg-open"] : undefined
}

/** Tries to; where it fails, the address stands in the greeting. */
export function openBrowser(url: string, [command, ...args]: Opener, env: NodeJS.ProcessEnv): void {
  const child = spawn(command, [...args, url], { detached: true, stdio: "ignore", env })
  child.on("error", () => undefined)
  child.unref()
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== ""
}
