import type { ComponentType } from "react"
import { Link, usePlace } from "../app/router.tsx"
import { APP_NAME } from "../app/screen.tsx"
import { classes } from "../design/classes.ts"
import {
  Logo,
  MachinesIcon,
  MoreIcon,
  PolicyIcon,
  RequestsIcon,
  SearchIcon,
  SessionsIcon,
  SettingsIcon,
} from "../design/icons.tsx"

interface NavEntry {
  readonly href: string
  readonly label: string
  readonly icon: ComponentType<{ size?: number }>
  /** Addresses at which it is where one is. */
  readonly at: RegExp
  readonly phone: boolean
}

/** One line per screen that can be gone to from anywhere [G-140], and none for a screen that does not exist yet. */
const ENTRIES: readonly NavEntry[] = [
  { href: "/sessions", label: "Sessions", icon: SessionsIcon, at: /^\/(?:sessions|s\/)/, phone: true },
  { href: "/requests", label: "Requests", icon: RequestsIcon, at: /^\/requests/, phone: true },
  { href: "/search", label: "Search", icon: SearchIcon, at: /^\/search/, phone: true },
  { href: "/machines", label: "Machines", icon: MachinesIcon, at: /^\/machines/, phone: false },
  { href: "/policy", label: "Policy", icon: PolicyIcon, at: /^\/(?:policy|audit)/, phone: false },
  { href: "/settings/appearance", label: "Settings", icon: SettingsIcon, at: /^\/settings/, phone: false },
]

function nameOf({ label }: NavEntry, waiting: number): string {
  return label === "Requests" && waiting > 0 ? `Requests, ${waiting} waiting` : label
}

function Badge({ count, className = "left-3" }: { readonly count: number; readonly className?: string }) {
  return (
    <span
      aria-hidden="true"
      className={classes(
        // From the icon's corner outwards: however long the number, the icon is seen.
        "absolute -top-2 min-w-4.5 rounded-full whitespace-nowrap bg-caution-solid px-1 text-center text-meta font-bold text-on-caution tabular-nums",
        className,
      )}
    >
      {count > 99 ? "99+" : count}
    </span>
  )
}

export function Rail({ waiting }: { readonly waiting: number }) {
  const { path } = usePlace()
  return (
    <nav
      aria-label="Main"
      className="hidden w-14 shrink-0 flex-col items-center gap-1 border-e border-line bg-surface py-3 tablet:flex"
    >
      <Link
        href="/sessions"
        aria-label={APP_NAME}
        className="mb-3 flex size-10 items-center justify-center rounded-control"
      >
        <Logo size={24} />
      </Link>
      {ENTRIES.map((entry) => {
        const isHere = entry.at.test(path)
        return (
          <Link
            key={entry.href}
            href={entry.href}
            aria-label={nameOf(entry, waiting)}
            title={entry.label}
            aria-current={isHere ? "page" : undefined}
            className={classes(
              "flex size-10 items-center justify-center rounded-control coarse:size-11",
              isHere ? "bg-accent-soft text-accent" : "text-text-2 hover:bg-sunken hover:text-text",
              entry.href.startsWith("/settings") && "mt-auto",
            )}
          >
            <span className="relative">
              <entry.icon size={20} />
              {entry.label === "Requests" && waiting > 0 && <Badge count={waiting} />}
            </span>
          </Link>
        )
      })}
    </nav>
  )
}

/** On a phone, and gone while its keyboard is up. */
export function BottomBar({ waiting, onMore }: { readonly waiting: number; readonly onMore: () => void }) {
  const { path } = usePlace()
  const look = "relative flex min-h-13 flex-1 flex-col items-center justify-center gap-0.5 text-meta"
  return (
    <nav
      aria-label="Main"
      className="flex shrink-0 border-t border-line bg-surface pb-[env(safe-area-inset-bottom)] in-data-typing:hidden tablet:hidden"
    >
      {ENTRIES.filter(({ phone }) => phone).map((entry) => {
        const isHere = entry.at.test(path)
        return (
          <Link
            key={entry.href}
            href={entry.href}
            aria-current={isHere ? "page" : undefined}
            className={classes(look, isHere ? "text-accent" : "text-text-2")}
          >
            <entry.icon size={20} />
            {entry.label}
            {entry.label === "Requests" && waiting > 0 && (
              // After the word, as it is said; above the icon, as it is seen.
              <span className="absolute top-2.5 left-1/2">
                <span className="sr-only">, {waiting} waiting</span>
                <Badge count={waiting} className="left-1" />
              </span>
            )}
          </Link>
        )
      })}
      <button type="button" onClick={onMore} className={classes(look, "text-text-2")}>
        <MoreIcon size={20} />
        More
      </button>
    </nav>
  )
}
