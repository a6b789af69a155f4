import { type DialledConnection, dialWebSocket } from "../websocket/dial.ts"
import { type DialPreset, dialPresets } from "../websocket/presets.ts"
import type { DialEnvironment } from "../websocket/token.ts"
import { dialHybrid, type HybridDialOptions } from "./dial.ts"
import { type PostPolicy, postPolicies } from "./post-policy.ts"

export type SdkUrlOptions = Omit<HybridDialOptions, "url" | "token" | "environmentRunnerVersion">

/** Connects to `--sdk-url` as a CLI with this environment would. */
export function openSdkUrl(url: string | URL, env: DialEnvironment, options: SdkUrlOptions = {}): DialledConnection {
  const { preset, post } = presetsFor(env, options)
  const dial: HybridDialOptions = {
    ...options,
    url,
    preset,
    ...(env.token === undefined ? {} : { token: env.token }),
    ...(env.environmentRunnerVersion === undefined ? {} : { environmentRunnerVersion: env.environmentRunnerVersion }),
  }
  return env.postsEvents ? dialHybrid({ ...dial, post }) : dialWebSocket(dial)
}

function presetsFor(env: DialEnvironment, options: SdkUrlOptions): { preset: DialPreset; post: PostPolicy } {
  const { preset = "patient" } = options
  const named = typeof preset === "string" ? dialPresets[preset] : preset
  const post = postPolicies[typeof preset === "string" ? preset : "patient"]
  return {
    preset: env.remote ? { ...named, keepAliveMs: 0 } : named,
    post: { ...post, ...options.post },
  }
}
