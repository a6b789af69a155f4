import { Fragment } from "react"
import { classes } from "../../design/classes.ts"
import { proseText } from "../../design/visible-text.tsx"

const COLOURS: Readonly<Record<NonNullable<AnsiSpan["tone"]>, string>> = {
  danger: "text-danger",
  clear: "text-clear",
  caution: "text-caution",
  info: "text-info",
  plan: "text-plan",
  accent: "text-accent",
  faint: "text-text-3",
}

export function AnsiText({ text }: { readonly text: string }) {
  return (
    <bdi>
      {ansiSpans(text).map((span, index) =>
        span.tone === undefined && span.bold !== true ? (
          <Fragment key={index}>{proseText(span.text)}</Fragment>
        ) : (
          // Spans have no identity but their place.
          <span
            key={index}
            className={classes(span.tone !== undefined && COLOURS[span.tone], span.bold === true && "font-bold")}
          >
            {proseText(span.text)}
          </span>
        ),
      )}
    </bdi>
  )
}

/** A stretch of terminal output in one look. */
interface AnsiSpan {
  readonly text: string
  /** Names of a closed set, never anything that came with the text. */
  readonly tone?: "danger" | "clear" | "caution" | "info" | "plan" | "accent" | "faint"
  readonly bold?: boolean
}

const TONES: Readonly<Record<number, NonNullable<AnsiSpan["tone"]>>> = {
  1: "danger",
  2: "clear",
  3: "caution",
  4: "info",
  5: "plan",
  6: "accent",
}

/* oxlint-disable no-control-regex -- the control characters are the point */
/** Colours; every other sequence a terminal would act on; and what is left of control characters. */
const SEQUENCE =
  /\u001b\[([\d;]*)m|\u001b\[[\d;?<>=!]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[PX^_][^\u001b]*(?:\u001b\\)?|\u001b[@-Z\\-~]?|[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f]/g
/* oxlint-enable no-control-regex */

/** Colours become ours; nothing else of a terminal's language does anything. */
export function ansiSpans(text: string): readonly AnsiSpan[] {
  const spans: AnsiSpan[] = []
  let look: Omit<AnsiSpan, "text"> = {}
  let end = 0
  const push = (piece: string) => {
    if (piece !== "") spans.push({ text: piece, ...look })
  }
  const clean = overwritten(text)
  for (const match of clean.matchAll(SEQUENCE)) {
    push(clean.slice(end, match.index))
    end = match.index + match[0].length
    if (match[1] !== undefined) look = dressed(look, match[1])
  }
  push(clean.slice(end))
  return spans
}

/** What it says, without a terminal's language. */
export function withoutAnsi(text: string): string {
  return ansiSpans(text)
    .map((span) => span.text)
    .join("")
}

/** A progress bar writes over its own line: what stood there last is what was seen. */
function overwritten(text: string): string {
  if (!text.includes("\r")) return text
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll(/^.*\r(?!$)/gm, "")
    .replaceAll("\r", "")
}

function dressed(look: Omit<AnsiSpan, "text">, codes: string): Omit<AnsiSpan, "text"> {
  let next = look
  const numbers = codes.split(";").map(Number)
  for (let index = 0; index < numbers.length; index++) {
    const code = numbers[index] ?? 0
    if (code === 0) next = {}
    else if (code === 1) next = { ...next, bold: true }
    else if (code === 2) next = { ...next, tone: "faint" }
    else if (code === 22) next = withoutBold(next)
    else if (code === 39) next = next.bold === true ? { bold: true } : {}
    else if (code === 38 || code === 48) index += numbers[index + 1] === 5 ? 2 : 4
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) next = withTone(next, code % 10)
  }
  return next
}

function withoutBold({ tone }: Omit<AnsiSpan, "text">): Omit<AnsiSpan, "text"> {
  return tone === undefined || tone === "faint" ? {} : { tone }
}

function withTone(look: Omit<AnsiSpan, "text">, colour: number): Omit<AnsiSpan, "text"> {
  const tone = colour === 0 ? "faint" : TONES[colour]
  const bold = look.bold === true ? { bold: true } : {}
  return tone === undefined ? bold : { tone, ...bold }
}
