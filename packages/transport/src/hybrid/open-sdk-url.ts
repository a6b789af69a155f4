import { type DialledConnection, dialWebSocket } from "../websocket/dial.ts"
import type { DialEnvironment } from "../websocket/dial-environment.ts"
import { presetOf } from "../websocket/presets.ts"
import { dialHybrid, type HybridDialOptions } from "./dial.ts"

export type SdkUrlOptions = Omit<HybridDialOptions, "url" | "token" | "environmentRunnerVersion">

/** Connects to `--sdk-url` as a CLI with this environment would. */
export function openSdkUrl(url: string | URL, env: DialEnvironment, options: SdkUrlOptions = {}): DialledConnection {
  const preset = presetOf(options.preset)
  const dial: HybridDialOptions = {
    ...options,
    url,
    preset: env.remote ? { ...preset, keepAliveMs: 0 } : preset,
    ...(env.token === undefined ? {} : { token: env.token }),
    ...(env.environmentRunnerVersion === undefined ? {} : { environmentRunnerVersion: env.environmentRunnerVersion }),
  }
  return env.postsEvents ? dialHybrid(dial) : dialWebSocket(dial)
}
