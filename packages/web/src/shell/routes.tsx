import type { ComponentType } from "react"
import type { ScreenProps } from "../app/router.tsx"
import { AskRecord, ElicitationAsk } from "../asks/ask-card.tsx"
import { lazyPart } from "../design/lazy-part.tsx"
import { SessionPanels, SessionScreen } from "../session/session-screen.tsx"
import { SessionsScreen } from "../sessions/sessions-screen.tsx"

interface ScreenRoute {
  readonly pattern: string
  readonly screen: ComponentType<ScreenProps>
}

const InboxScreen = lazyPart(async () => (await import("../asks/inbox/inbox-screen.tsx")).InboxScreen)
/** Not among the routes: it is opened over one of them. */
export const NewSession = lazyPart(async () => (await import("../new-session/new-session.tsx")).NewSession)
const SearchScreen = lazyPart(async () => (await import("../search/search-screen.tsx")).SearchScreen)
const MachinesScreen = lazyPart(async () => (await import("../machines/machines-screen.tsx")).MachinesScreen)
const MachineScreen = lazyPart(async () => (await import("../machines/machine-screen.tsx")).MachineScreen)
const SettingsScreen = lazyPart(async () => (await import("../settings/settings-screen.tsx")).SettingsScreen)

/** Shown by `?`, over any of them. */
export const KeyTable = lazyPart(async () => (await import("../settings/key-table.tsx")).KeyTable)

/** Shown by `Ctrl/⌘ K`, over any of them. */
export const Palette = lazyPart(async () => (await import("./palette.tsx")).Palette)

const LATER = [
  InboxScreen,
  NewSession,
  SearchScreen,
  MachinesScreen,
  MachineScreen,
  SettingsScreen,
  KeyTable,
  Palette,
  AskRecord,
  ElicitationAsk,
  SessionPanels,
]

/** The other screens and parts, once there is time: whoever goes offline meanwhile has them. What cannot be had now is asked for when wanted. */
export function preloadScreens(): void {
  for (const part of LATER) void part.preload()
}

/** Every address of the cockpit but `/login`, and `/new`, which is opened over one of these. The hub serves its page at the same ones. */
export const ROUTES: readonly ScreenRoute[] = [
  { pattern: "/sessions", screen: SessionsScreen },
  { pattern: "/s/:id", screen: SessionScreen },
  { pattern: "/requests", screen: InboxScreen },
  { pattern: "/requests/:id", screen: InboxScreen },
  { pattern: "/search", screen: SearchScreen },
  { pattern: "/machines", screen: MachinesScreen },
  { pattern: "/machines/:id", screen: MachineScreen },
  { pattern: "/settings/:page", screen: SettingsScreen },
]
