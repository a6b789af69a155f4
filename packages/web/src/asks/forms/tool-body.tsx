import type { Ask } from "@signalbox/client"
import { isObject } from "@signalbox/protocol/envelope"
import { useEffect, useMemo, useState } from "react"
import { useCanOperate, useHub } from "../../app/hub-context.ts"
import { whileOpen } from "../../app/value-store.ts"
import { CopyButton } from "../../design/button.tsx"
import { VisibleText } from "../../design/visible-text.tsx"
import type { Why } from "../../fleet/deciding-span.ts"
import { JudgedText } from "../../fleet/why.tsx"
import { DiffView, isDrawable } from "../../transcript/content/diff-view.tsx"
import { JsonView } from "../../transcript/content/output-text.tsx"
import { EDITS, hunksOfInput } from "../../transcript/tools/edit-hunks.ts"
import { textIn } from "../../transcript/tools/tool-words.ts"
import { type EditPreview, previewOf } from "./edit-preview.ts"
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
}

/** All of what would be done: never cut, never hidden, nothing in it unseen. */
export function ToolAskBody({ tool, input, why, preview }: ToolAskBodyProps) {
  const command = textIn(input, "command")
  if (tool === "Bash" && command !== undefined) return <CommandBody command={command} input={input} why={why} />
  if (preview !== undefined) return <EditBody input={input} preview={preview} />
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

function EditBody({ input, preview }: Pick<ToolAskBodyProps, "input"> & { readonly preview: EditPreview }) {
  const path = textIn(input, "file_path") ?? textIn(input, "notebook_path")
  return (
    <>
      <UnseenLines hunks={preview.hunks} />
      <DiffView hunks={preview.hunks} path={path} header="path" />
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
    return whileOpen(hub.session(sessionId).control(request, { timeoutMs: TIMEOUT_MS, mayRefuse: true }), (reply) => {
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
