import { type KeyboardEvent, type ReactNode, useMemo, useRef, useState } from "react"
import { setPreferences, usePreferences } from "../../app/preferences.ts"
import { Button } from "../../design/button.tsx"
import { ChangeCounts } from "../../design/change-counts.tsx"
import { classes } from "../../design/classes.ts"
import { useTextWidth } from "../../design/text-width.ts"
import { VisibleText } from "../../design/visible-text.tsx"
import { DRAWN_AT_ONCE, Windowed } from "../../design/windowed.tsx"
import { plural } from "../../design/words.ts"
import { DiffLineView, DiffPairView, type LineTools, useLineColours } from "./diff-line.tsx"
import { type DiffRow, diffRows } from "./diff-rows.ts"
import { countsOf, type Hunk } from "./line-diff.ts"

/** Room for two sides: a screen of 1,100 px without the space around it. Whoever wants them has them in less. */
const SPLIT_PX = 1040
const LEAST_SPLIT_PX = 700
/** Rows of one piece, and the most pieces there are: each is an element, drawn or not. */
const PIECE_ROWS = 40
const MAX_PIECES = 2000
/** In a transcript, more rows have a box of their own to scroll in. */
const BOXED_ROWS = 400
const GUTTER_PX = 72

/** So many rows are drawn without looking at what is in view. */
const MAX_DRAWN = DRAWN_AT_ONCE * PIECE_ROWS

const drawable = new WeakMap<readonly Hunk[], boolean>()

/** Whether all of it is in the document at once, but for what is folded. */
export function isDrawable(hunks: readonly Hunk[]): boolean {
  const known = drawable.get(hunks)
  if (known !== undefined) return known
  const rows = diffRows(hunks, { isSplit: false, unfolded: new Set(), folds: true })
  drawable.set(hunks, rows.length <= MAX_DRAWN)
  return rows.length <= MAX_DRAWN
}

interface DiffViewProps {
  readonly hunks: readonly Hunk[]
  /** The file's name: it tells the language. With a header it is shown there. */
  readonly path?: string | undefined
  /** The head above the lines: the file's name and how many lines changed, or only that. */
  readonly header?: "path" | "counts"
  /** Rows shown before the rest is asked for. A decision is never cut: leave it out there. */
  readonly maxRows?: number
  /** A text as it is, not a difference. */
  readonly isWhole?: boolean
  /** It did not happen. */
  readonly isDim?: boolean
  readonly tools?: LineTools
}

/**
 * A difference between two texts, everywhere in the cockpit. However long it is, only the part in view is in the document. Every line
 * says in words too whether it was added or removed, for those who do not see colours or signs.
 */
export function DiffView(props: DiffViewProps) {
  const { hunks, path = "", header, maxRows = Number.POSITIVE_INFINITY, isWhole = false, isDim = false, tools } = props
  const [all, setAll] = useState(false)
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set())
  const box = useRef<HTMLDivElement>(null)
  const room = useTextWidth(box)
  const { diff: choice } = usePreferences()
  const { added, removed } = countsOf(hunks)
  // A new file has no other side.
  const canSplit = removed > 0 && room.px >= LEAST_SPLIT_PX
  const isSplit = canSplit && (choice === "split" || (choice === "auto" && room.px >= SPLIT_PX))
  const rows = useMemo(
    () => diffRows(hunks, { isSplit, unfolded, folds: !isWhole }),
    [hunks, isSplit, unfolded, isWhole],
  )
  const shown = useMemo(() => (all || rows.length <= maxRows ? rows : rows.slice(0, maxRows)), [all, rows, maxRows])
  const isBoxed = all && rows.length > BOXED_ROWS && Number.isFinite(maxRows)
  const drawn = useDrawnRow({
    hunks,
    path: isDim ? "" : path,
    tools,
    onUnfold: (id) => {
      setUnfolded(new Set([...unfolded, id]))
      // The button is gone with its row.
      box.current?.focus({ preventScroll: true })
    },
  })
  return (
    <div
      ref={box}
      tabIndex={-1}
      data-split={isSplit ? "" : undefined}
      data-dim={isDim ? "" : undefined}
      className={classes(
        "overflow-hidden rounded-control border bg-sunken font-mono text-dense outline-none",
        isDim ? "border-danger/50 text-text-3" : "border-line",
      )}
    >
      {header !== undefined && (
        <DiffHeader path={header === "path" ? path : ""} added={added} removed={removed}>
          {canSplit && (
            <Button
              look="quiet"
              aria-pressed={isSplit}
              onClick={() => setPreferences({ diff: isSplit ? "unified" : "split" })}
              className="min-h-6! px-2! font-sans text-meta!"
            >
              Side by side
            </Button>
          )}
        </DiffHeader>
      )}
      <Rows
        rows={shown}
        isBoxed={isBoxed}
        columns={Math.max(20, Math.floor(((isSplit ? room.px / 2 : room.px) - GUTTER_PX) / room.characterPx))}
        linePx={room.linePx}
        hasTools={tools !== undefined}
      >
        {drawn}
      </Rows>
      {shown.length < rows.length && (
        <Button look="quiet" onClick={() => setAll(true)} className="w-full rounded-none! font-sans">
          Show {plural(rows.length - shown.length, "more line")}
        </Button>
      )}
    </div>
  )
}

interface DiffHeaderProps {
  readonly path: string
  readonly added: number
  readonly removed: number
  readonly children: ReactNode
}

function DiffHeader({ path, added, removed, children }: DiffHeaderProps) {
  return (
    <div className="flex min-h-7 items-center gap-2 border-b border-line px-2 text-meta">
      <VisibleText as="span" className="min-w-0 flex-1 wrap-anywhere" text={path} />
      {children}
      <ChangeCounts added={added} removed={removed} />
    </div>
  )
}

type DrawnRow = (row: DiffRow, isStop: boolean) => ReactNode

interface DrawnRowProps extends Pick<DiffViewProps, "hunks"> {
  readonly path: string
  readonly tools: LineTools | undefined
  readonly onUnfold: (id: string) => void
}

function useDrawnRow({ hunks, path, tools, onUnfold }: DrawnRowProps): DrawnRow {
  const coloursOf = useLineColours(hunks, path)
  return (row, isStop) => {
    switch (row.kind) {
      case "line":
        return <DiffLineView {...row} coloursOf={coloursOf} tools={tools} isStop={isStop} />
      case "pair":
        return <DiffPairView {...row} coloursOf={coloursOf} tools={tools} isStop={isStop} />
      case "fold":
        return (
          <button
            type="button"
            data-stop
            tabIndex={isStop ? 0 : -1}
            onClick={() => onUnfold(row.id)}
            className="min-h-6 w-full border-y border-line bg-canvas px-2 text-start font-sans text-meta text-text-3 hover:text-text focus-visible:outline-offset-[-2px] coarse:min-h-11"
          >
            Show {plural(row.count, "unchanged line")}
          </button>
        )
      case "gap":
        return (
          <p className="min-h-2 border-y border-dashed border-edge bg-canvas px-2 font-sans text-meta text-text-3">
            {row.count > 0 && plural(row.count, "unchanged line")}
          </p>
        )
    }
  }
}

interface RowsProps {
  readonly rows: readonly DiffRow[]
  /** Characters that fit into a line. */
  readonly columns: number
  readonly linePx: number
  /** In a box that scrolls by itself. */
  readonly isBoxed: boolean
  /** Every line can be gone to. */
  readonly hasTools: boolean
  readonly children: DrawnRow
}

function Rows({ rows, columns, linePx, isBoxed, hasTools, children }: RowsProps) {
  const [stop, setStop] = useState(-1)
  const perPiece = Math.max(PIECE_ROWS, Math.ceil(rows.length / MAX_PIECES))
  const pieceOf = (index: number) => rows.slice(index * perPiece, (index + 1) * perPiece)
  // Only a line with tools or a fold can have the focus.
  const isKnown = hasTools ? stop >= 0 && stop < rows.length : rows[stop]?.kind === "fold"
  const tabStop = isKnown ? stop : hasTools ? 0 : rows.findIndex(({ kind }) => kind === "fold")
  return (
    <div
      onKeyDown={onArrow}
      onFocus={({ target }) => setStop(Number(target.closest("[data-row]")?.getAttribute("data-row") ?? -1))}
      {...(isBoxed ? { tabIndex: 0, role: "group", "aria-label": "Lines", "data-own-scroll": "" } : {})}
      className={classes("leading-5", isBoxed && "max-h-[70vh] overflow-y-auto")}
    >
      <Windowed
        content={rows}
        count={Math.ceil(rows.length / perPiece)}
        heightOf={(index) => pieceOf(index).reduce((sum, row) => sum + linesOf(row, columns) * linePx, 0)}
      >
        {(index) =>
          pieceOf(index).map((row, at) => {
            const place = index * perPiece + at
            return (
              // Rows have no name but their place.
              <div key={place} data-row={place}>
                {children(row, place === tabStop)}
              </div>
            )
          })
        }
      </Windowed>
    </div>
  )
}

/** How many lines of the screen a row takes, about. */
function linesOf(row: DiffRow, columns: number): number {
  const of = (text = "") => Math.max(1, Math.ceil(text.length / columns))
  if (row.kind === "line") return of(row.line.text)
  return row.kind === "pair" ? Math.max(of(row.before?.text), of(row.after?.text)) : 1.4
}

/** One stop for Tab; the arrows go on from there. */
function onArrow(event: KeyboardEvent<HTMLElement>): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>("[data-stop]")]
  const at = stops.findIndex((each) => each === document.activeElement)
  if (step === 0 || at === -1) return
  event.preventDefault()
  stops[Math.min(Math.max(at + step, 0), stops.length - 1)]?.focus()
}
