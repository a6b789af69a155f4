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
import { jsonText } from "../../transcript/content/json-text.ts"
import { EDITS } from "../../transcript/tools/edit-hunks.ts"
import { textIn } from "../../transcript/tools/tool-words.ts"
import { type EditPreview, type FileNow, previewOf, restOfEdit, toldBy } from "./edit-preview.ts"
import { isLongText, LongText, UnseenLines, WholeJson } from "./long-request.tsx"
import { RequestEnd } from "./seen-gate.tsx"

/** The effect of an edit, against the file where it can be had; undefined for a tool that edits nothing. */
export function useEditPreview(ask: Ask): EditPreview | undefined {
  const file = useFileContent(ask)
  const { toolName: tool = "", input } = ask
  return useMemo(() => {
    if (!EDITS.has(tool) || input === undefined) return undefined
    return previewOf({ tool, input, file, told: toldBy(tool, input) })
  }, [tool, input, file])
}

type Input = Readonly<Record<string, unknown>>

interface ToolAskBodyProps {
  readonly tool: string
  /** Why the policy decided on this very input. */
  readonly why: Why | undefined
  readonly input: Input
  readonly preview: EditPreview | undefined
}

/** All of what would be done: never cut, never hidden, nothing in it unseen. */
export function ToolAskBody({ tool, input, why, preview }: ToolAskBodyProps) {
  const command = textIn(input, "command")
  if (tool === "Bash" && command !== undefined) return <CommandBody command={command} input={input} why={why} />
  if (preview !== undefined) return <EditBody tool={tool} input={input} preview={preview} />
  const url = textIn(input, "url")
  return (
    <>
      {url !== undefined && (
        <p className="font-mono text-dense">
          <JudgedText text={url} field="url" why={why} />
        </p>
      )}
      <WholeJson value={input} />
      <RequestEnd />
    </>
  )
}

/** Whether only what is in view of it is drawn. */
export function isLongRequest(
  { toolName: tool = "", input = {} }: Pick<Ask, "toolName" | "input">,
  preview: EditPreview | undefined,
): boolean {
  const command = tool === "Bash" ? textIn(input, "command") : undefined
  if (command !== undefined && isLongText(command)) return true
  if (preview !== undefined && !isDrawable(preview.hunks)) return true
  return isLongText(jsonText(restOf(tool, input, preview)))
}

/** Fields of a request that nothing else of its card shows. */
function restOf(tool: string, input: Input, preview: EditPreview | undefined): Input {
  if (preview !== undefined) return restOfEdit(tool, input, preview.hunks)
  if (tool !== "Bash" || textIn(input, "command") === undefined) return input
  const { command: _, description, ...rest } = input
  return description === undefined || typeof description === "string" ? rest : { description, ...rest }
}

function CommandBody({ command, input, why }: { readonly command: string } & Pick<ToolAskBodyProps, "input" | "why">) {
  const { description } = input
  const Text = isLongText(command) ? LongText : JudgedText
  return (
    <>
      {typeof description === "string" && <VisibleText as="p" className="text-dense text-text-2" text={description} />}
      <div className="relative rounded-control border border-line bg-sunken px-3 py-2 pe-10 font-mono coarse:min-h-13 coarse:pe-14 text-dense whitespace-pre-wrap">
        <Text text={command} field="command" why={why} />
        <CopyButton text={command} className="absolute top-1 right-1 size-7! coarse:size-11!" />
      </div>
      <Rest tool="Bash" input={input} preview={undefined} />
      <RequestEnd />
    </>
  )
}

function EditBody({
  tool,
  input,
  preview,
}: Pick<ToolAskBodyProps, "tool" | "input"> & { readonly preview: EditPreview }) {
  const path = textIn(input, "file_path") ?? textIn(input, "notebook_path")
  return (
    <>
      {!isDrawable(preview.hunks) && <UnseenLines hunks={preview.hunks} />}
      <DiffView hunks={preview.hunks} path={path} header="path" />
      <Rest tool={tool} input={input} preview={preview} />
      <RequestEnd />
      {preview.note !== undefined && <p className="text-meta text-text-3">{preview.note}</p>}
    </>
  )
}

function Rest({ tool, input, preview }: Omit<ToolAskBodyProps, "why">) {
  const fields = useMemo(() => restOf(tool, input, preview), [tool, input, preview])
  return Object.keys(fields).length === 0 ? null : <WholeJson value={fields} />
}

const MAX_BYTES = 400_000
/** The request can be read meanwhile: nobody waits for this. */
const TIMEOUT_MS = 10_000
const CHECKED = new Set(["Edit", "MultiEdit", "Write"])

const ASKING: FileNow = { state: "asking" }
const UNKNOWN: FileNow = { state: "unknown" }

/** The content of the file that a request would change, from its machine. */
function useFileContent({ id, sessionId, state, toolName, input }: Ask): FileNow {
  const hub = useHub()
  const canOperate = useCanOperate()
  const path = CHECKED.has(toolName ?? "") && state === "pending" ? textIn(input, "file_path") : undefined
  const [found, setFound] = useState<{ readonly of: string; readonly file: FileNow } | undefined>(undefined)
  const key = `${id}:${path ?? ""}`
  const isAsked = path !== undefined && canOperate
  useEffect(() => {
    if (!isAsked) return undefined
    const request = { subtype: "read_file", path, max_bytes: MAX_BYTES }
    return whileOpen(
      hub.session(sessionId).control(request, { timeoutMs: TIMEOUT_MS, mayRefuse: true }),
      (reply) => setFound({ of: key, file: fileIn(reply) }),
      () => setFound({ of: key, file: UNKNOWN }),
    )
  }, [hub, sessionId, path, key, isAsked])
  if (!isAsked) return UNKNOWN
  return found?.of === key ? found.file : ASKING
}

/** An older CLI refuses, and so does one without such a file: then there is nothing to compare with, and the reader is told. */
function fileIn(reply: unknown): FileNow {
  if (reply === null) return { state: "refused" }
  if (!isObject(reply) || reply["truncated"] === true || reply["lossy"] === true) return UNKNOWN
  const { contents, encoding } = reply
  return typeof contents === "string" && encoding !== "base64" ? { state: "read", text: contents } : UNKNOWN
}
