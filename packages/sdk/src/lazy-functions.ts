/**
 * Functions that most programs never call, loaded when the first of them is called: every module that is not imported is
 * time saved at the start of all the others.
 */

import { isObject } from "./base/wire.ts"
import { captureOptions } from "./launch/capture.ts"
import type * as Startup from "./query/query.ts"
import type * as Prewarm from "./query/spare.ts"
import type * as Sessions from "./sessions/index.ts"
import type * as Import from "./store/import-session.ts"

const sessions = () => import("./sessions/index.ts")

/** Takes the options as they are when it is called, and not when the module has been loaded. */
function lazily<A extends unknown[], R>(pick: (loaded: typeof Sessions) => (...args: A) => Promise<R>) {
  return async (...args: A): Promise<R> => {
    const given = asTheyAre(args)
    return pick(await sessions())(...given)
  }
}

function asTheyAre<A extends unknown[]>(args: A): A
function asTheyAre(args: unknown[]): unknown {
  return args.map((arg) => (isObject(arg) ? { ...arg } : arg))
}

export const archiveSession: typeof Sessions.archiveSession = lazily((loaded) => loaded.archiveSession)
export const deleteSession: typeof Sessions.deleteSession = lazily((loaded) => loaded.deleteSession)
export const forkSession: typeof Sessions.forkSession = lazily((loaded) => loaded.forkSession)
export const getSessionInfo: typeof Sessions.getSessionInfo = lazily((loaded) => loaded.getSessionInfo)
export const getSessionMessages: typeof Sessions.getSessionMessages = lazily((loaded) => loaded.getSessionMessages)
export const getSubagentMessages: typeof Sessions.getSubagentMessages = lazily((loaded) => loaded.getSubagentMessages)
export const listSessions: typeof Sessions.listSessions = lazily((loaded) => loaded.listSessions)
export const listSubagents: typeof Sessions.listSubagents = lazily((loaded) => loaded.listSubagents)
export const renameSession: typeof Sessions.renameSession = lazily((loaded) => loaded.renameSession)
export const tagSession: typeof Sessions.tagSession = lazily((loaded) => loaded.tagSession)
export const unarchiveSession: typeof Sessions.unarchiveSession = lazily((loaded) => loaded.unarchiveSession)

const captured = (params: Startup.StartupParams) => ({ ...params, options: captureOptions(params.options ?? {}) })

export const prewarm: typeof Prewarm.prewarm = async (...[params = {}]) => {
  const given = captured(params)
  return (await import("./query/spare.ts")).prewarm(given)
}
export const startup: typeof Startup.startup = async (...[params = {}]) => {
  const given = captured(params)
  return (await import("./query/query.ts")).startup(given)
}
export const importSessionToStore: typeof Import.importSessionToStore = async (sessionId, store, options) => {
  const given = { ...options }
  return (await import("./store/import-session.ts")).importSessionToStore(sessionId, store, given)
}
