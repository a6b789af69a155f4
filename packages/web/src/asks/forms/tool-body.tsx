import type { Ask } from "@signalbox/client"
import { useMemo } from "react"
import { CopyButton } from "../../design/copy-button.tsx"
import { VisibleText } from "../../design/visible-text.tsx"
import { DiffView } from "../../transcript/content/diff-view.tsx"
import { JsonView } from "../../transcript/content/json-view.tsx"
import { EDITS, hunksOfInput } from "../../transcript/tools/edit-hunks.ts"
import { textIn } from "../../transcript/tools/tool-words.ts"
import { type EditPreview, previewOf } from "./edit-preview.ts"
import { SplitDiff } from "./split-diff.tsx"
import { useFileContent } from "./use-file-content.ts"

/** What an edit would do, against the file where it can be had; undefined for what is no edit. */
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
  readonly input: Readonly<Record<string, unknown>>
  readonly preview: EditPreview | undefined
  /** Room for both sides of a diff. */
  readonly isSplit: boolean
}

/** All of what would be done: never cut, never hidden, nothing in it unseen. */
export function ToolAskBody({ tool, input, preview, isSplit }: ToolAskBodyProps) {
  const command = textIn(input, "command")
  if (tool === "Bash" && command !== undefined) return <CommandBody command={command} input={input} />
  if (preview !== undefined) return <EditBody input={input} preview={preview} isSplit={isSplit} />
  const url = textIn(input, "url")
  return (
    <>
      {url !== undefined && (
        <p className="font-mono text-dense">
          <VisibleText text={url} />
        </p>
      )}
      <JsonView value={input} whole />
    </>
  )
}

function CommandBody({ command, input }: { readonly command: string } & Pick<ToolAskBodyProps, "input">) {
  const { command: _, description, ...rest } = input
  return (
    <>
      {typeof description === "string" && (
        <p className="text-dense text-text-2">
          <VisibleText text={description} />
        </p>
      )}
      <div className="relative rounded-control border border-line bg-sunken px-3 py-2 pe-10 font-mono coarse:min-h-13 coarse:pe-14 text-dense whitespace-pre-wrap">
        <VisibleText text={command} />
        <CopyButton text={command} className="absolute top-1 right-1 size-7! coarse:size-11!" />
      </div>
      {Object.keys(rest).length > 0 && <JsonView value={rest} whole />}
    </>
  )
}

function EditBody({ input, preview, isSplit }: Pick<ToolAskBodyProps, "input" | "isSplit"> & { preview: EditPreview }) {
  const path = textIn(input, "file_path") ?? textIn(input, "notebook_path")
  // A new file has no other side.
  const hasTwoSides = preview.hunks.some(({ lines }) => lines.some(({ kind }) => kind !== "added"))
  return (
    <>
      {path !== undefined && (
        <p className="font-mono text-meta">
          <VisibleText text={path} />
        </p>
      )}
      {isSplit && hasTwoSides ? <SplitDiff hunks={preview.hunks} /> : <DiffView hunks={preview.hunks} />}
      {preview.note !== undefined && <p className="text-meta text-text-3">{preview.note}</p>}
    </>
  )
}
