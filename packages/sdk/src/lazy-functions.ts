/**
 * Functions that most programs never call, loaded when the first of them is called: every module that is not imported is
 * time saved at the start of all the others.
 */
import type * as Prewarm from "./prewarm.ts"
import type * as Sessions from "./sessions/index.ts"
import type * as Startup from "./startup.ts"
import type * as Import from "./store/import-session.ts"

const sessions = () => import("./sessions/index.ts")

export const archiveSession: typeof Sessions.archiveSession = async (...args) =>
  (await sessions()).archiveSession(...args)
export const deleteSession: typeof Sessions.deleteSession = async (...args) => (await sessions()).deleteSession(...args)
export const forkSession: typeof Sessions.forkSession = async (...args) => (await sessions()).forkSession(...args)
export const getSessionInfo: typeof Sessions.getSessionInfo = async (...args) =>
  (await sessions()).getSessionInfo(...args)
export const getSessionMessages: typeof Sessions.getSessionMessages = async (...args) =>
  (await sessions()).getSessionMessages(...args)
export const getSubagentMessages: typeof Sessions.getSubagentMessages = async (...args) =>
  (await sessions()).getSubagentMessages(...args)
export const listSessions: typeof Sessions.listSessions = async (...args) => (await sessions()).listSessions(...args)
export const listSubagents: typeof Sessions.listSubagents = async (...args) => (await sessions()).listSubagents(...args)
export const renameSession: typeof Sessions.renameSession = async (...args) => (await sessions()).renameSession(...args)
export const tagSession: typeof Sessions.tagSession = async (...args) => (await sessions()).tagSession(...args)
export const unarchiveSession: typeof Sessions.unarchiveSession = async (...args) =>
  (await sessions()).unarchiveSession(...args)

export const prewarm: typeof Prewarm.prewarm = async (params) => (await import("./prewarm.ts")).prewarm(params)
export const startup: typeof Startup.startup = async (params) => (await import("./startup.ts")).startup(params)
export const importSessionToStore: typeof Import.importSessionToStore = async (...args) =>
  (await import("./store/import-session.ts")).importSessionToStore(...args)
