import { useEffect, useMemo, useRef, useState } from "react"
import { Announcer } from "../app/announcer.tsx"
import { useCanOperate, useConnection, useFleet } from "../app/hub-context.ts"
import { keepTypedAhead, useKeys } from "../app/keyboard.ts"
import { cycleRegions } from "../app/regions.ts"
import { closeOver, currentPlace, matchPath, navigate, type ScreenProps, useOver, usePlace } from "../app/router.tsx"
import { APP_NAME, useIsPhone, usePageTitle } from "../app/screen.tsx"
import { ARRIVALS, useAskArrivals } from "../asks/arrivals.ts"
import { Dialog } from "../design/dialog.tsx"
import { type LazyPart, lazyPart, PartBoundary, preloadParts, tryPartsAgain } from "../design/lazy-part.tsx"
import { openAsks } from "../fleet/ask-words.ts"
import { ConnectionBar } from "./connection-bar.tsx"
import { BottomBar, Rail } from "./navigation.tsx"

const AHEAD = { isAhead: true }
/** The first of them, since most go there next. */
const SessionScreen = lazyPart(async () => (await import("../session/session-screen.tsx")).SessionScreen, AHEAD)
const SessionsScreen = lazyPart(async () => (await import("../sessions/sessions-screen.tsx")).SessionsScreen, AHEAD)
const InboxScreen = lazyPart(async () => (await import("../asks/inbox/inbox-screen.tsx")).InboxScreen, AHEAD)
/** Not among the routes: it is opened over one of them. */
const NewSession = lazyPart(async () => (await import("../new-session/new-session.tsx")).NewSession, AHEAD)
const SearchScreen = lazyPart(async () => (await import("../search/search-screen.tsx")).SearchScreen, AHEAD)
const MachinesScreen = lazyPart(async () => (await import("../machines/machines-screen.tsx")).MachinesScreen, AHEAD)
const MachineScreen = lazyPart(async () => (await import("../machines/machine-screen.tsx")).MachineScreen, AHEAD)
const PolicyScreen = lazyPart(async () => (await import("../policy/policy-screen.tsx")).PolicyScreen, AHEAD)
const AuditScreens = lazyPart(async () => (await import("../policy/policy-screen.tsx")).AuditScreens, AHEAD)
const SettingsScreen = lazyPart(async () => (await import("../settings/settings-screen.tsx")).SettingsScreen, AHEAD)

/** In the place of a screen that is not among the routes. */
const Nowhere = lazyPart(async () => (await import("./nowhere.tsx")).Nowhere, AHEAD)

/** Shown by `?`, over any of them. */
const KeyTable = lazyPart(async () => (await import("../settings/key-table.tsx")).KeyTable, AHEAD)

/** Shown by `Ctrl/⌘ K`, over any of them. */
const Palette = lazyPart(async () => (await import("./palette.tsx")).Palette, AHEAD)

/** Every address of the cockpit but `/login`, and `/new`, which is opened over one of these. The hub serves its page at the same ones. */
const ROUTES: readonly { readonly pattern: string; readonly screen: LazyPart<ScreenProps> }[] = [
  { pattern: "/sessions", screen: SessionsScreen },
  { pattern: "/s/:id", screen: SessionScreen },
  { pattern: "/requests", screen: InboxScreen },
  { pattern: "/requests/:id", screen: InboxScreen },
  { pattern: "/search", screen: SearchScreen },
  { pattern: "/machines", screen: MachinesScreen },
  { pattern: "/machines/:id", screen: MachineScreen },
  { pattern: "/policy", screen: PolicyScreen },
  { pattern: "/policy/:page", screen: PolicyScreen },
  { pattern: "/audit", screen: AuditScreens },
  { pattern: "/audit/:id", screen: AuditScreens },
  { pattern: "/settings/:page", screen: SettingsScreen },
]

function routeOf(path: string) {
  for (const { pattern, screen } of ROUTES) {
    const params = matchPath(pattern, path)
    if (params !== undefined) return { screen, params }
  }
  return undefined
}

/** The screen of the page's own address is fetched while the hub is asked who is there. Other addresses lead to the sessions. */
void (routeOf(currentPlace().path)?.screen ?? SessionsScreen).preload()

type Layer = "none" | "palette" | "help"

const NO_LISTENERS: typeof ARRIVALS = []

/** After what somebody came for. */
const PRELOAD_MS = 3000

export function Shell() {
  const [layer, setLayer] = useState<Layer>("none")
  const { isPhone, isOver, wasOver } = useOverRoom()
  const isPage = isPhone && isOver
  const { path } = usePlace()
  useFocusOnScreen(isPage ? "/new" : path)
  const canOperate = useCanOperate()
  const { asks } = useFleet()
  // Viewers cannot answer: nothing waits for them, and nothing calls them.
  const waiting = useMemo(() => (canOperate ? openAsks(asks).length : 0), [asks, canOperate])
  usePageBadge(waiting, usePageTitle())
  useAskArrivals(canOperate ? ARRIVALS : NO_LISTENERS)
  const connection = useConnection()
  useEffect(() => {
    if (connection.name !== "live") return undefined
    tryPartsAgain()
    const timer = setTimeout(() => void preloadParts(), PRELOAD_MS)
    return () => clearTimeout(timer)
  }, [connection.name])
  useKeys({
    "mod+k": () => setLayer("palette"),
    "?": () => setLayer("help"),
    "g s": () => navigate("/sessions"),
    "g a": () => navigate("/requests"),
    "g m": () => navigate("/machines"),
    "g p": () => navigate("/policy"),
    "/": goToSearch,
    F6: cycleRegions,
    ...(canOperate ? { c: () => navigate("/new") } : {}),
  })
  const close = () => setLayer("none")
  // Once opened the palette stays, so that the focus returns to where it was.
  const [wasPalette, setWasPalette] = useState(false)
  if (layer === "palette" && !wasPalette) setWasPalette(true)
  return (
    <div className="shell-height flex flex-col">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:m-2 focus:rounded-control focus:bg-raised focus:px-3 focus:py-2"
      >
        Skip to content
      </a>
      <div className="flex min-h-0 flex-1">
        <Rail waiting={waiting} />
        <div className="flex min-w-0 flex-1 flex-col">
          <ConnectionBar />
          <main id="main" tabIndex={-1} className="flex min-h-0 flex-1 flex-col outline-none">
            {isPage ? (
              <PartBoundary resetKey="/new">
                <NewSession isPhone />
              </PartBoundary>
            ) : (
              <CurrentScreen />
            )}
          </main>
        </div>
      </div>
      <BottomBar waiting={waiting} onMore={() => setLayer("palette")} />
      <Announcer />
      {!isPhone && wasOver && (
        <PartBoundary
          resetKey={String(isOver)}
          waiting={null}
          frame={(words) => (
            <Dialog title="New session" open={isOver} onClose={closeOver} hasAddress>
              {words}
            </Dialog>
          )}
        >
          <NewSession isPhone={false} />
        </PartBoundary>
      )}
      {wasPalette && (
        <PartBoundary
          resetKey={layer}
          waiting={null}
          frame={(words) => (
            <Dialog title="Command palette" open={layer === "palette"} onClose={close}>
              {words}
            </Dialog>
          )}
        >
          <Palette open={layer === "palette"} onClose={close} onHelp={() => setLayer("help")} />
        </PartBoundary>
      )}
      <KeyboardDialog open={layer === "help"} onClose={close} />
    </div>
  )
}

/** A layer with an address takes the whole screen on a phone. Once opened it stays, closed, so that focus can return. */
function useOverRoom() {
  const isPhone = useIsPhone()
  const isOver = useOver() !== undefined
  const [wasOver, setWas] = useState(isOver)
  if (isOver && !wasOver) setWas(true)
  return { isPhone, isOver, wasOver }
}

/** Opens the search, within the session on its own screen. The search screen has the key for its field. */
function goToSearch(): void | "not-here" {
  const { path } = currentPlace()
  if (path === "/search") return "not-here"
  keepTypedAhead()
  const session = matchPath("/s/:id", path)?.["id"]
  return navigate(session === undefined ? "/search" : `/search?session=${encodeURIComponent(session)}`)
}

/** A reader who follows a link by keyboard goes on from the new screen, not from the top of the page. */
function useFocusOnScreen(path: string): void {
  const shown = useRef(path)
  useEffect(() => {
    if (shown.current === path) return undefined
    shown.current = path
    const frame = requestAnimationFrame(() => {
      const active = document.activeElement ?? document.body
      // The link may still have it for a moment, hidden, while the new screen is loaded.
      if (active === document.body || !active.checkVisibility())
        document.getElementById("main")?.focus({ preventScroll: true })
    })
    return () => cancelAnimationFrame(frame)
  }, [path])
}

function CurrentScreen() {
  const { path } = usePlace()
  const route = routeOf(path)
  return (
    <PartBoundary resetKey={path}>
      {route === undefined ? <Nowhere path={path} /> : <route.screen params={route.params} />}
    </PartBoundary>
  )
}

function KeyboardDialog({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" open={open} onClose={onClose} className="max-w-2xl">
      {/* On a phone it scrolls, and there is nothing in it to tab to. */}
      <div tabIndex={0} role="group" aria-label="Keys" className="overflow-y-auto px-4 pt-1 pb-4">
        <PartBoundary>
          <KeyTable />
        </PartBoundary>
      </div>
    </Dialog>
  )
}

/** The tab says how many wait, in its title, its icon and, where the platform has one, its badge. */
function usePageBadge(waiting: number, screen: string): void {
  useEffect(() => {
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${screen === "" ? "" : `${screen} · `}${APP_NAME}`
  }, [waiting, screen])
  useEffect(() => {
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
    if (icon !== null) icon.href = waiting > 0 ? "/icon-waiting.svg" : "/icon.svg"
    if (!("setAppBadge" in navigator)) return
    // Not every platform lets a page do it; then there is no badge.
    void navigator.setAppBadge(waiting).catch(() => undefined)
  }, [waiting])
}
