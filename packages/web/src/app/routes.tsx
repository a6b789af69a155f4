import { type ComponentType, lazy } from "react"
import { SessionScreen } from "../session/session-screen.tsx"
import { SessionsScreen } from "../sessions/sessions-screen.tsx"

export interface ScreenProps {
  /** The parts of the path that the pattern names. */
  readonly params: Readonly<Record<string, string>>
}

interface ScreenRoute {
  readonly pattern: string
  readonly screen: ComponentType<ScreenProps>
}

const ApprovalsScreen = lazy(async () => ({
  default: (await import("../approvals/approvals-screen.tsx")).ApprovalsScreen,
}))
const NewSessionScreen = lazy(async () => ({
  default: (await import("../new-session/new-session-screen.tsx")).NewSessionScreen,
}))
const SearchScreen = lazy(async () => ({ default: (await import("../search/search-screen.tsx")).SearchScreen }))
const MachinesScreen = lazy(async () => ({ default: (await import("../machines/machines-screen.tsx")).MachinesScreen }))
const MachineScreen = lazy(async () => ({ default: (await import("../machines/machine-screen.tsx")).MachineScreen }))
const SettingsScreen = lazy(async () => ({ default: (await import("../settings/settings-screen.tsx")).SettingsScreen }))

/** Every address of the cockpit but `/login`. The hub serves its page at the same ones. */
export const ROUTES: readonly ScreenRoute[] = [
  { pattern: "/sessions", screen: SessionsScreen },
  { pattern: "/s/:id", screen: SessionScreen },
  { pattern: "/new", screen: NewSessionScreen },
  { pattern: "/approvals", screen: ApprovalsScreen },
  { pattern: "/approvals/:id", screen: ApprovalsScreen },
  { pattern: "/search", screen: SearchScreen },
  { pattern: "/machines", screen: MachinesScreen },
  { pattern: "/machines/:id", screen: MachineScreen },
  { pattern: "/settings/:page", screen: SettingsScreen },
]
