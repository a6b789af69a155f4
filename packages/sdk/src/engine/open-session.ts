import { join } from "node:path"
import type { HubOpening } from "../hub/attach-to-hub.ts"
import { environmentOf } from "../launch/capture.ts"
import type { AgentLink } from "../launch/open-agent.ts"
import { type OpenAgentOptions, openAgent } from "../launch/open-agent.ts"
import type { TranscriptMirror } from "../store/transcript-mirror.ts"
import type { SDKMirrorErrorMessage } from "../types/messages.ts"
import type { Options } from "../types/options.ts"

export interface OpenSessionOptions extends OpenAgentOptions, HubOpening {
  /** The agent, if it is being started already. */
  readonly agent: Promise<AgentLink> | undefined
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
  const { hub, sessionStore: store } = options
  if (hub !== undefined) {
    const { attachToHub } = await import("../hub/attach-to-hub.ts")
    return { link: await attachToHub(options, hub, opening), mirror: undefined, cleanUp: async () => undefined }
  }
  if (store === undefined) {
    const link = await (opening.agent ?? openAgent(options, opening))
    return { link, mirror: undefined, cleanUp: async () => undefined }
  }
  const [{ resumeFromStore }, { configFolder, TranscriptMirror }] = await Promise.all([
    import("../store/stored-resume.ts"),
    import("../store/transcript-mirror.ts"),
  ])
  const resumed = await resumeFromStore(options, store, opening.ended)
  try {
    opening.ended.throwIfAborted()
    const link = await openAgent(resumed.options, opening)
    const mirror = new TranscriptMirror({
      store,
      flush: options.sessionStoreFlush ?? "batched",
      projects: join(configFolder(environmentOf(resumed.options)), "projects"),
      onError: opening.onMirrorError,
    })
    return { link, mirror, cleanUp: resumed.cleanUp }
  } catch (error) {
    await resumed.cleanUp()
    throw error
  }
}
