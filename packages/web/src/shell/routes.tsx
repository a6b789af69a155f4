import { type ComponentType, lazy } from "react"
import type { ScreenProps } from "../app/router.ts"
import { SessionScreen } from "../session/session-screen.tsx"
import { SessionsScreen } from "../sessions/sessions-screen.tsx"

interface ScreenRoute {
  readonly pattern: string
  readonly screen: ComponentType<ScreenProps>
}

const load = {
  approvals: async () => ({ default: (await import("../approvals/approvals-screen.tsx")).ApprovalsScreen }),
  newSession: async () => ({ default: (await import("../new-session/new-session.tsx")).NewSession }),
  search: async () => ({ default: (await import("../search/search-screen.tsx")).SearchScreen }),
  machines: async () => ({ default: (await import("../machines/machines-screen.tsx")).MachinesScreen }),
  machine: async () => ({ default: (await import("../machines/machine-screen.tsx")).MachineScreen }),
  settings: async () => ({ default: (await import("../settings/settings-screen.tsx")).SettingsScreen }),
}
const ApprovalsScreen = lazy(load.approvals)
/** Not among the routes: it is opened over one of them. */
export const NewSession = lazy(load.newSession)
const SearchScreen = lazy(load.search)
const MachinesScreen = lazy(load.machines)
const MachineScreen = lazy(load.machine)
const SettingsScreen = lazy(load.settings)

/** The other screens, once there is time: whoever goes offline meanwhile has them. What cannot be had now is asked for when wanted. */
export function preloadScreens(): void {
  for (const screen of Object.values(load)) screen().catch(() => undefined)
}

/** Every address of the cockpit but `/login`, and `/new`, which is opened over one of these. The hub serves its page at the same ones. */
export const ROUTES: readonly ScreenRoute[] = [
  { pattern: "/sessions", screen: SessionsScreen },
  { pattern: "/s/:id", screen: SessionScreen },
  { pattern: "/approvals", screen: ApprovalsScreen },
  { pattern: "/approvals/:id", screen: ApprovalsScreen },
  { pattern: "/search", screen: SearchScreen },
  { pattern: "/machines", screen: MachinesScreen },
  { pattern: "/machines/:id", screen: MachineScreen },
  { pattern: "/settings/:page", screen: SettingsScreen },
]
