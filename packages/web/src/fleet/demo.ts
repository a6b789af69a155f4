import type { HubStore } from "../app/hub-store.ts"
import { keepStored, ofTab, readStored } from "../app/stored.ts"

const KEY = "signalbox:demo"
/** The word that the scripted agent asks a permission for. */
const PROMPT = "Run the tests. Ask for permission first."

/** Starts the scripted agent, in a folder of its own, on a request that somebody can answer. */
export async function startDemo(store: HubStore): Promise<string> {
  const session = await store.hub.launch({ agent: "simulator", title: "Demo agent", prompt: PROMPT })
  // The stream may have told of it already, and then it knows more.
  if (!store.fleet.get().sessions.has(session.id)) store.takeSession(session)
  keepStored(KEY, session.id, ofTab)
  return session.id
}

/** True for the session that was started as a demo in this tab, until its hint is put away. */
export function isDemo(session: string): boolean {
  return readStored(KEY, ofTab) === session
}

export function endDemo(): void {
  keepStored(KEY, null, ofTab)
}
