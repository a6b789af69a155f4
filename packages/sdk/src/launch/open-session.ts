import { join } from "node:path"
import type { TranscriptMirror } from "../store/transcript-mirror.ts"
import type { SDKMirrorErrorMessage } from "../types/messages.ts"
import type { Options } from "../types/options.ts"
import type { AgentLink } from "./agent-link.ts"
import { type OpenAgentOptions, openAgent } from "./open-agent.ts"

export interface OpenSessionOptions extends OpenAgentOptions {
  /** Aborts when nobody wants the agent any more, while it is still being prepared. */
  readonly ended: AbortSignal
  readonly onMirrorError: (message: SDKMirrorErrorMessage) => void
}

/** An agent that runs, and what is kept beside it. */
export interface OpenedSession {
  readonly link: AgentLink
  readonly mirror: TranscriptMirror | undefined
  /** For when it is gone. */
  readonly cleanUp: () => Promise<void>
}

/** Starts the agent: at once, or with a session store as soon as there is something to resume from. */
export async function openSession(options: Options, opening: OpenSessionOptions): Promise<OpenedSession> {
  const { sessionStore: store } = options
  if (store === undefined) {
    return { link: await openAgent(options, opening), mirror: undefined, cleanUp: async () => undefined }
  }
  const { configFolder, resumeFromStore, TranscriptMirror } = await import("../store/index.ts")
  const resumed = await resumeFromStore(options, store, opening.ended)
  try {
    opening.ended.throwIfAborted()
    const link = await openAgent(resumed.options, opening)
    const mirror = new TranscriptMirror({
      store,
      flush: options.sessionStoreFlush ?? "batched",
      projects: join(configFolder(resumed.options.env ?? process.env), "projects"),
      onError: opening.onMirrorError,
    })
    return { link, mirror, cleanUp: resumed.cleanUp }
  } catch (error) {
    await resumed.cleanUp()
    throw error
  }
}
