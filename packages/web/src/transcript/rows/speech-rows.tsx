import type { HarnessRow, PromptRow, TextRow, ThinkingRow } from "@signalbox/transcript"
import { classes } from "../../design/classes.ts"
import { oneLine, VisibleText } from "../../design/visible-text.tsx"
import { duration } from "../../design/words.ts"
import { Markdown } from "../content/markdown.tsx"
import { dataUrl, Picture } from "../content/pictures.tsx"
import { Disclosure, useDisclosure } from "./transcript-context.tsx"

const DELIVERY: Readonly<Record<PromptRow["delivery"], string>> = {
  // The composer shows what is on its way; here it has arrived.
  sent: "",
  queued: "Queued",
  started: "Started",
  completed: "Done",
  delivered: "",
  cancelled: "Cancelled",
  discarded: "Discarded",
  refused: "Refused",
  unknown: "The agent ended before confirming this message; it may not have been read",
}

export function PromptRowView({ row }: { readonly row: PromptRow }) {
  const state = DELIVERY[row.delivery]
  const isOff = row.delivery === "cancelled" || row.delivery === "discarded"
  return (
    <div className="my-1 border-s-2 border-accent bg-accent-soft/50 py-2 ps-3 pe-3">
      <p className="flex flex-wrap gap-x-3 text-meta font-medium text-text-2">
        <bdi>{row.author ?? "You"}</bdi>
        {state !== "" && (
          <span
            className={classes(
              row.delivery === "unknown" || row.delivery === "refused" ? "text-caution" : "text-text-3",
            )}
          >
            {state}
          </span>
        )}
      </p>
      <div className={classes("prose whitespace-pre-wrap", isOff && "text-text-3 line-through")}>
        <VisibleText text={row.text} />
      </div>
      {row.pictures.map((picture) => {
        const source = dataUrl(picture.mediaType, picture.data)
        if (source === undefined)
          return (
            <p key={picture.url ?? ""} className="text-dense text-text-3">
              Image not included
            </p>
          )
        return <Picture key={source.slice(-60)} source={source} alt="Image in this message" />
      })}
    </div>
  )
}

/** The end of the turn says it, and who did. */
const INTERRUPTED = "[Request interrupted"

export function HarnessRowView({ row }: { readonly row: HarnessRow }) {
  const [open, toggle] = useDisclosure(row.key, false)
  return (
    <Disclosure
      heading={
        <>
          <span className="shrink-0 text-meta text-text-3">Added automatically</span>
          {!open && !row.text.startsWith(INTERRUPTED) && (
            <bdi className="min-w-0 truncate text-meta text-text-3">{oneLine(row.text, 160)}</bdi>
          )}
        </>
      }
      open={open}
      onToggle={toggle}
    >
      <div className="text-dense whitespace-pre-wrap text-text-2">
        <VisibleText text={row.text} />
      </div>
    </Disclosure>
  )
}

export function TextRowView({ row }: { readonly row: TextRow }) {
  if (row.state === "retracted") return <Retracted rowKey={row.key} text={row.text} />
  return <Markdown text={row.text} live={row.state === "live"} />
}

function Retracted({ rowKey, text }: { readonly rowKey: string; readonly text: string }) {
  const [open, toggle] = useDisclosure(rowKey, false)
  return (
    <Disclosure
      heading={
        <>
          <span className="shrink-0 text-text-3">Retracted by the model</span>
          {!open && <del className="min-w-0 truncate text-text-3">{oneLine(text, 160)}</del>}
        </>
      }
      open={open}
      onToggle={toggle}
    >
      <div className="text-text-3 line-through">
        <Markdown text={text} live={false} />
      </div>
    </Disclosure>
  )
}

export function ThinkingRowView({ row }: { readonly row: ThinkingRow }) {
  const [open, toggle] = useDisclosure(row.key, false)
  const facts = [
    row.durationMs !== undefined && row.durationMs > 0 && duration(row.durationMs),
    row.state === "live" && row.tokens !== undefined && `${row.tokens.toLocaleString("en")} tokens`,
    row.isRedacted && "hidden by the model",
  ].filter((fact) => fact !== false)
  return (
    <Disclosure
      heading={
        <span className="text-text-3">{[row.state === "live" ? "Thinking…" : "Thinking", ...facts].join(" · ")}</span>
      }
      open={open}
      onToggle={toggle}
      hasBody={row.text !== ""}
    >
      <div className={classes("prose whitespace-pre-wrap text-text-2", row.state === "retracted" && "line-through")}>
        <VisibleText text={row.text} />
      </div>
    </Disclosure>
  )
}
