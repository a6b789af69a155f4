import type { Ask } from "@signalbox/client"
import { isObject } from "@signalbox/protocol/envelope"
import { useEffect, useMemo, useState } from "react"
import { useCanOperate, useHub } from "../../app/hub-context.ts"
import { useIsBroad, useIsDesktop } from "../../app/screen.tsx"
import { whileOpen } from "../../app/value-store.ts"
import { CopyButton } from "../../design/button.tsx"
import { classes } from "../../design/classes.ts"
import { VisibleText } from "../../design/visible-text.tsx"
import type { Why } from "../../fleet/deciding-span.ts"
import { JudgedText } from "../../fleet/why.tsx"
import {
  DIFF_LOOKS,
  DiffText,
  DiffView,
  isDrawable,
  LineNumber,
  useChangedParts,
} from "../../transcript/content/diff-view.tsx"
import { type DiffLine, type Hunk, type LinePart, splitRows } from "../../transcript/content/line-diff.ts"
import { JsonView } from "../../transcript/content/output-text.tsx"
import { EDITS, hunksOfInput } from "../../transcript/tools/edit-hunks.ts"
import { textIn } from "../../transcript/tools/tool-words.ts"
import { type EditPreview, previewOf } from "./edit-preview.ts"
import type { AskPlace } from "./form-parts.tsx"
import { isLongText, LongText, UnseenLines } from "./long-request.tsx"
import { RequestEnd } from "./seen-gate.tsx"

/** The effect of an edit, against the file where it can be had; undefined for a tool that edits nothing. */
export function useEditPreview(ask: Ask): EditPreview | undefined {
  const file = useFileContent(ask)
  const { toolName: tool = "", input } = ask
  return useMemo(() => {
    if (!EDITS.has(tool) || input === undefined) return undefined
    return previewOf({ tool, input, file, told: hunksOfInput(tool, input) })
  }, [tool, input, file])
}

interface ToolAskBodyProps {
  readonly tool: string
  /** Why the policy decided on this very input. */
  readonly why: Why | undefined
  readonly input: Readonly<Record<string, unknown>>
  readonly preview: EditPreview | undefined
  /** Room for both sides of a diff. */
  readonly isSplit: boolean
}

/** All of what would be done: never cut, never hidden, nothing in it unseen. */
export function ToolAskBody({ tool, input, why, preview, isSplit }: ToolAskBodyProps) {
  const command = textIn(input, "command")
  if (tool === "Bash" && command !== undefined) return <CommandBody command={command} input={input} why={why} />
  if (preview !== undefined) return <EditBody input={input} preview={preview} isSplit={isSplit} />
  const url = textIn(input, "url")
  return (
    <>
      {url !== undefined && (
        <p className="font-mono text-dense">
          <JudgedText text={url} field="url" why={why} />
        </p>
      )}
      <JsonView value={input} whole />
      <RequestEnd />
    </>
  )
}

/** Whether only what is in view of it is drawn. */
export function isLongRequest({ toolName, input }: Pick<Ask, "toolName" | "input">, preview: EditPreview | undefined) {
  if (preview !== undefined) return !isDrawable(preview.hunks)
  return toolName === "Bash" && isLongText(textIn(input, "command") ?? "")
}

function CommandBody({ command, input, why }: { readonly command: string } & Pick<ToolAskBodyProps, "input" | "why">) {
  const { command: _, description, ...rest } = input
  return (
    <>
      {typeof description === "string" && <VisibleText as="p" className="text-dense text-text-2" text={description} />}
      <div className="relative rounded-control border border-line bg-sunken px-3 py-2 pe-10 font-mono coarse:min-h-13 coarse:pe-14 text-dense whitespace-pre-wrap">
        {isLongText(command) ? <LongText text={command} /> : <JudgedText text={command} field="command" why={why} />}
        <CopyButton text={command} className="absolute top-1 right-1 size-7! coarse:size-11!" />
      </div>
      {Object.keys(rest).length > 0 && <JsonView value={rest} whole />}
      <RequestEnd />
    </>
  )
}

function EditBody({ input, preview, isSplit }: Pick<ToolAskBodyProps, "input" | "isSplit"> & { preview: EditPreview }) {
  const path = textIn(input, "file_path") ?? textIn(input, "notebook_path")
  // A new file has no other side.
  const hasTwoSides = preview.hunks.some(({ lines }) => lines.some(({ kind }) => kind !== "added"))
  return (
    <>
      {path !== undefined && <VisibleText as="p" className="font-mono text-meta" text={path} />}
      <UnseenLines hunks={preview.hunks} />
      {isSplit && hasTwoSides && isDrawable(preview.hunks) ? (
        <SplitDiff hunks={preview.hunks} />
      ) : (
        <DiffView hunks={preview.hunks} />
      )}
      <RequestEnd />
      {preview.note !== undefined && <p className="text-meta text-text-3">{preview.note}</p>}
    </>
  )
}

const MAX_BYTES = 400_000
/** The request can be read meanwhile: nobody waits for this. */
const TIMEOUT_MS = 10_000
const CHECKED = new Set(["Edit", "MultiEdit", "Write"])

/** The content of the file that a request would change, from its machine; undefined while or where that cannot be had. */
function useFileContent({ id, sessionId, state, toolName, input }: Ask): string | undefined {
  const hub = useHub()
  const canOperate = useCanOperate()
  const path = CHECKED.has(toolName ?? "") && state === "pending" ? textIn(input, "file_path") : undefined
  const [content, setContent] = useState<{ readonly of: string; readonly text: string } | undefined>(undefined)
  const key = `${id}:${path ?? ""}`
  useEffect(() => {
    if (path === undefined || !canOperate) return undefined
    const request = { subtype: "read_file", path, max_bytes: MAX_BYTES }
    // An older CLI, or no such file: then there is nothing to compare with, and the reader is told.
    return whileOpen(hub.session(sessionId).control(request, { timeoutMs: TIMEOUT_MS }), (reply) => {
      const text = wholeText(reply)
      if (text !== undefined) setContent({ of: key, text })
    })
  }, [hub, sessionId, path, key, canOperate])
  return content?.of === key ? content.text : undefined
}

function wholeText(reply: unknown): string | undefined {
  if (!isObject(reply) || reply["truncated"] === true || reply["lossy"] === true) return undefined
  const { contents, encoding } = reply
  return typeof contents === "string" && encoding !== "base64" ? contents : undefined
}

/** Before and after side by side, where there is room for both. Never cut: somebody decides on it. */
function SplitDiff({ hunks }: { readonly hunks: readonly Hunk[] }) {
  const parts = useChangedParts(hunks)
  const partsOf = (line: DiffLine | undefined) => (line === undefined ? undefined : parts.get(line))
  return (
    <div className="overflow-hidden rounded-control border border-line bg-sunken font-mono text-dense" data-split>
      {hunks.map((hunk, index) => (
        // Hunks have no name but their place.
        <div key={index} className={classes(index > 0 && "border-t border-dashed border-edge")}>
          {splitRows(hunk.lines).map(({ before, after }, at) => (
            <div key={at} className="grid grid-cols-2">
              <Side line={before} parts={partsOf(before)} number={before?.before} isAlso={false} />
              <Side line={after} parts={partsOf(after)} number={after?.after} isAlso={before?.kind === "same"} />
            </div>
          ))}
        </div>
      ))}
    </div>
  )
}

interface SideProps {
  readonly line: DiffLine | undefined
  readonly parts: readonly LinePart[] | undefined
  readonly number: number | undefined
  /** The same line stands on the other side: it is read aloud once. */
  readonly isAlso: boolean
}

function Side({ line, parts, number, isAlso }: SideProps) {
  return (
    <div
      aria-hidden={isAlso || line === undefined}
      className={classes(
        "flex min-w-0 gap-2 px-2 even:border-s even:border-line",
        line === undefined ? "bg-canvas" : DIFF_LOOKS[line.kind],
      )}
    >
      <LineNumber>{number}</LineNumber>
      {line !== undefined && <DiffText line={line} parts={parts} />}
    </div>
  )
}

/** Whether a diff's two sides stand beside each other: on a screen of its own sooner than beside a list. */
export function useIsSplit(place: AskPlace): boolean {
  const isDesktop = useIsDesktop()
  const isBroad = useIsBroad()
  return place === "sheet" ? isDesktop : place === "page" && isBroad
}
