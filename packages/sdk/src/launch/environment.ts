import { claudeProcessEnvironment } from "@signalbox/transport/claude-environment"
import type { Options } from "../types/options.ts"
import { environmentOf } from "./capture.ts"

/** The CLI reads from these which generation of the official package it talks to; we speak that generation's wire. */
const SPEAKS_LIKE = { entrypoint: "sdk-ts", version: "0.3.325" }

/** As the CLI reads its own switches. */
const TRUTHY: ReadonlySet<string> = new Set(["1", "true", "yes", "on"])

export interface EnvironmentOptions {
  /** Started ahead of its prompt. */
  readonly isWarm: boolean
}

/** The agent's whole environment. `options.env` stands in for ours, it is not added to it. */
export function environmentFor(options: Options, { isWarm }: EnvironmentOptions): Record<string, string> {
  const base = environmentOf(options)
  const previewFormat = options.toolConfig?.askUserQuestion?.previewFormat
  return claudeProcessEnvironment(base, {
    entrypoint: SPEAKS_LIKE.entrypoint,
    debug: TRUTHY.has(base["DEBUG_CLAUDE_AGENT_SDK"]?.trim().toLowerCase() ?? ""),
    enableFileCheckpointing: options.enableFileCheckpointing === true,
    env: {
      // On Windows no program is then found in the current folder by accident. An environment of the program's is its own.
      ...(options.env === undefined ? { NoDefaultCurrentDirectoryInExePath: "1" } : {}),
      // One that we only inherit is that of whoever started us.
      CLAUDE_AGENT_SDK_VERSION: options.env?.["CLAUDE_AGENT_SDK_VERSION"] || SPEAKS_LIKE.version,
      // Makes the CLI say when it is idle: that is how the end of a run is known.
      CLAUDE_CODE_SDK_READS_SESSION_STATE: base["CLAUDE_CODE_SDK_READS_SESSION_STATE"] ?? "1",
      ...(isWarm ? { CLAUDE_CODE_SDK_READS_STARTUP_MARKS: "1" } : {}),
      ...(previewFormat === undefined ? {} : { CLAUDE_CODE_QUESTION_PREVIEW_FORMAT: previewFormat }),
    },
  })
}
