import { type ReactNode, useMemo } from "react"
import { classes } from "../../design/classes.ts"
import { changedWords } from "./changed-words.ts"
import { CodeText } from "./code-text.tsx"
import type { LineColours } from "./code-tones.ts"
import { languageOf, useColours } from "./colours.ts"
import type { DiffLine, Hunk } from "./line-diff.ts"

/** Things to do with a line: its number is a button then. */
export interface LineTools {
  readonly label: (line: DiffLine) => string
  readonly onPress: (line: DiffLine) => void
  /** Stands under the line. */
  readonly below: (line: DiffLine) => ReactNode
}

type ColoursOf = (line: DiffLine) => LineColours | undefined

export const DIFF_MARKS = { same: " ", added: "+", removed: "−" } as const
/** The gutter is tinted, and what changed within a line; the code itself keeps its own colours. */
const GUTTERS = {
  same: "text-text-3",
  added: "bg-diff-add text-clear in-data-dim:bg-transparent in-data-dim:text-text-3",
  removed: "bg-diff-del text-danger in-data-dim:bg-transparent in-data-dim:text-text-3",
} as const
const CHANGED = {
  same: "",
  added: "rounded-mark bg-diff-add underline decoration-clear decoration-1 underline-offset-2",
  removed: "rounded-mark bg-diff-del underline decoration-danger decoration-1 underline-offset-2",
} as const

interface RowProps {
  readonly coloursOf: ColoursOf
  readonly tools: LineTools | undefined
  /** Tab leads here. */
  readonly isStop: boolean
}

interface DiffLineProps extends RowProps {
  readonly line: DiffLine
  /** The line that came in its place, or that it came in the place of. */
  readonly mate: DiffLine | undefined
}

export function DiffLineView({ line, mate, tools, ...row }: DiffLineProps) {
  return (
    <>
      <div className="flex">
        <LineBody {...row} line={line} mate={mate} number={line.after ?? line.before} tools={tools} />
      </div>
      {tools?.below(line)}
    </>
  )
}

interface DiffPairProps extends RowProps {
  readonly before: DiffLine | undefined
  readonly after: DiffLine | undefined
}

/** Before and after, side by side. */
export function DiffPairView({ before, after, tools, ...row }: DiffPairProps) {
  const isSame = before?.kind === "same"
  return (
    <>
      <div className="grid grid-cols-2">
        {/* The same line stands on both sides: it is read aloud once, and has one button. */}
        <div aria-hidden={before === undefined || isSame} className={classes("flex min-w-0", !before && "bg-canvas")}>
          {before && (
            <LineBody {...row} line={before} mate={after} number={before.before} tools={isSame ? undefined : tools} />
          )}
        </div>
        <div
          aria-hidden={after === undefined}
          className={classes("flex min-w-0 border-s border-line", !after && "bg-canvas")}
        >
          {after && (
            <LineBody
              {...row}
              line={after}
              mate={before}
              number={after.after}
              tools={tools}
              isStop={row.isStop && (before === undefined || isSame)}
            />
          )}
        </div>
      </div>
      {before !== undefined && !isSame && tools?.below(before)}
      {after !== undefined && tools?.below(after)}
    </>
  )
}

interface LineBodyProps extends DiffLineProps {
  readonly number: number | undefined
}

function LineBody({ line, mate, number, coloursOf, tools, isStop }: LineBodyProps) {
  const { kind, text } = line
  const parts = useMemo(() => {
    if (mate === undefined || kind === "same") return undefined
    return kind === "removed" ? changedWords(text, mate.text)?.[0] : changedWords(mate.text, text)?.[1]
  }, [kind, text, mate])
  const gutter = `${String(number ?? "").padStart(4)} ${DIFF_MARKS[kind]}`
  const look = classes("min-w-15 shrink-0 px-1.5 text-end whitespace-pre tabular-nums select-none", GUTTERS[kind])
  return (
    <>
      <span aria-hidden="true" className={classes(look, tools !== undefined && "hidden coarse:inline")}>
        {gutter}
      </span>
      {tools !== undefined && (
        <button
          type="button"
          data-stop
          tabIndex={isStop ? 0 : -1}
          aria-label={tools.label(line)}
          title={tools.label(line)}
          onClick={() => tools.onPress(line)}
          className={classes(look, "min-h-6 hover:bg-accent-soft focus-visible:outline-offset-[-2px] coarse:hidden")}
        >
          {gutter}
        </button>
      )}
      {kind !== "same" && <span className="sr-only">{kind}: </span>}
      <bdi
        data-text={kind}
        // As high as the button beside it.
        className={classes("min-w-0 flex-1 ps-2 pe-1 whitespace-pre-wrap", tools !== undefined && "leading-6")}
      >
        <CodeText text={text} colours={coloursOf(line)} parts={parts} changed={CHANGED[kind]} />
      </bdi>
    </>
  )
}

/** Colours of a difference's lines: those of the old text by the old text, all others by the new one. */
export function useLineColours(hunks: readonly Hunk[], path: string): ColoursOf {
  const language = languageOf(path)
  const sides = useMemo(() => {
    const lines = hunks.flatMap((hunk) => hunk.lines)
    const old = lines.some(({ kind }) => kind === "removed") ? lines.filter(({ kind }) => kind !== "added") : []
    const now = lines.filter(({ kind }) => kind !== "removed")
    return { old, now, oldText: textOf(old), nowText: textOf(now) }
  }, [hunks])
  const oldColours = useColours(sides.oldText, language)
  const nowColours = useColours(sides.nowText, language)
  return useMemo(() => {
    const known = new Map<DiffLine, LineColours | undefined>()
    if (oldColours !== undefined) for (const [at, line] of sides.old.entries()) known.set(line, oldColours[at])
    if (nowColours !== undefined) for (const [at, line] of sides.now.entries()) known.set(line, nowColours[at])
    return (line) => known.get(line)
  }, [sides, oldColours, nowColours])
}

function textOf(lines: readonly DiffLine[]): string {
  return lines.map(({ text }) => text).join("\n")
}
