import type { Session } from "@signalbox/client"
import { type ComponentType, type KeyboardEvent, type PointerEvent, useState } from "react"
import { setQuery } from "../../app/router.tsx"
import { IconButton } from "../../design/button.tsx"
import { classes } from "../../design/classes.ts"
import { SLIDING } from "../../design/dialog.tsx"
import { CloseIcon } from "../../design/icons.tsx"
import { lazyPart, PartBoundary } from "../../design/lazy-part.tsx"
import { Skeleton } from "../../design/notice.tsx"
import type { SessionFeed } from "../../transcript/window/session-feed.ts"

export interface PanelProps {
  readonly session: Session
  readonly feed: SessionFeed
}

interface Panel {
  readonly id: string
  readonly title: string
  readonly view: ComponentType<PanelProps>
}

const ChangesPanel = lazyPart(async () => (await import("./changes-panel.tsx")).ChangesPanel)
const TasksPanel = lazyPart(async () => (await import("./tasks-panel.tsx")).TasksPanel)
const ContextPanel = lazyPart(async () => (await import("./context-panel.tsx")).ContextPanel)
const ToolsPanel = lazyPart(async () => (await import("./tools-panel.tsx")).ToolsPanel)
const AsksPanel = lazyPart(async () => (await import("./asks-panel.tsx")).AsksPanel)
const RawPanel = lazyPart(async () => (await import("./raw-panel.tsx")).RawPanel)

/** One line per panel; each is loaded when it is opened. */
const PANELS: readonly Panel[] = [
  { id: "changes", title: "Changes", view: ChangesPanel },
  { id: "tasks", title: "Tasks", view: TasksPanel },
  { id: "context", title: "Context", view: ContextPanel },
  { id: "tools", title: "Tools", view: ToolsPanel },
  { id: "asks", title: "Requests", view: AsksPanel },
  { id: "raw", title: "Raw", view: RawPanel },
]

/** One stop for Tab; the arrows go from one to the next and open it. */
function onTabKey(event: KeyboardEvent<HTMLElement>): void {
  const tabs = [...event.currentTarget.querySelectorAll<HTMLElement>('[role="tab"]')]
  const at = tabs.findIndex((tab) => tab === document.activeElement)
  const places: Readonly<Record<string, number>> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }
  const to = places[event.key]
  const tab = to === undefined || at === -1 ? undefined : tabs.at(to % tabs.length)
  if (tab === undefined) return
  event.preventDefault()
  event.stopPropagation()
  tab.focus()
  tab.click()
}

const DESKTOP = "(min-width: 1100px)"

function close(): void {
  setQuery({ panel: null, event: null })
}

const WIDTH_KEY = "signalbox:panel-width"
const [MIN, MAX, STEP] = [280, 800, 20]

function keptWidth(): number {
  const kept = Number(localStorage.getItem(WIDTH_KEY) ?? "400")
  return Number.isFinite(kept) ? Math.min(MAX, Math.max(MIN, kept)) : 400
}

interface SessionPanelsProps extends PanelProps {
  readonly panel: string
}

/** Beside the transcript where there is room, over it where there is none. */
export function SessionPanels({ panel, session, feed }: SessionPanelsProps) {
  const [width, setWidth] = useState(keptWidth)
  const current = PANELS.find(({ id }) => id === panel) ?? PANELS[0]
  const resize = (next: number) => {
    const clamped = Math.min(MAX, Math.max(MIN, next))
    setWidth(clamped)
    localStorage.setItem(WIDTH_KEY, String(clamped))
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "ArrowLeft") resize(width + STEP)
    else if (event.key === "ArrowRight") resize(width - STEP)
    else return
    event.preventDefault()
  }
  const onDrag = (event: PointerEvent<HTMLDivElement>) => {
    if (event.currentTarget.hasPointerCapture(event.pointerId)) resize(innerWidth - event.clientX)
  }
  if (current === undefined) return null
  return (
    <>
      {/* A separator that moves is a control: it takes the focus and the arrow keys. */}
      <div
        role="separator"
        aria-orientation="vertical"
        aria-label="Width of the panels"
        aria-valuenow={width}
        aria-valuemin={MIN}
        aria-valuemax={MAX}
        tabIndex={0}
        onKeyDown={onKey}
        onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
        onPointerMove={onDrag}
        className="hidden w-1.5 shrink-0 cursor-col-resize touch-none border-e border-line hover:bg-accent-soft desktop:block"
      />
      {/* Over the transcript it is a layer, and beside it a tap closes it. */}
      <div aria-hidden="true" onClick={close} className="fixed inset-0 z-20 bg-[oklch(0_0_0/0.3)] desktop:hidden" />
      <aside
        aria-label="Session panels"
        data-region="panels"
        onKeyDown={(event) => {
          // Over the transcript it is a layer, and Escape closes layers; beside it there is nothing to close.
          if (event.key === "Escape" && !matchMedia(DESKTOP).matches) close()
        }}
        ref={(element) => element?.style.setProperty("--panel-width", `${width}px`)}
        className={`${SLIDING} starting:translate-x-full fixed inset-y-0 right-0 z-20 flex w-full max-w-lg min-w-0 shrink-0 flex-col border-s border-line bg-surface shadow-popover desktop:static desktop:w-(--panel-width) desktop:max-w-none desktop:border-s-0 desktop:shadow-none`}
      >
        <div className="flex items-center border-b border-line px-2">
          <div role="tablist" aria-label="Panels" onKeyDown={onTabKey} className="flex min-w-0 flex-1 overflow-x-auto">
            {PANELS.map(({ id, title }) => (
              <button
                key={id}
                type="button"
                role="tab"
                aria-selected={id === current.id}
                tabIndex={id === current.id ? 0 : -1}
                onClick={() => setQuery({ panel: id })}
                className={classes(
                  "-mb-px min-h-10 shrink-0 border-b-2 px-2 text-dense whitespace-nowrap max-tablet:px-1.5 coarse:min-h-11 coarse:min-w-11",
                  id === current.id
                    ? "border-accent font-medium text-accent"
                    : "border-transparent text-text-2 hover:text-text",
                )}
              >
                {title}
              </button>
            ))}
          </div>
          <IconButton label="Close panels" onClick={close}>
            <CloseIcon />
          </IconButton>
        </div>
        <div role="tabpanel" aria-label={current.title} className="min-h-0 flex-1 overflow-y-auto p-3">
          <PartBoundary resetKey={current.id} waiting={<Skeleton rows={3} />}>
            <current.view session={session} feed={feed} />
          </PartBoundary>
        </div>
      </aside>
    </>
  )
}
