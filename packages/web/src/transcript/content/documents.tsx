import { isObject, textOf } from "@signalbox/protocol/envelope"
import type { PictureSource, ToolRow } from "@signalbox/transcript"
import { announce } from "../../app/announcer.tsx"
import { Button } from "../../design/button.tsx"
import { DocumentIcon } from "../../design/icons.tsx"
import { oneLine } from "../../design/visible-text.tsx"
import { bytes } from "../../design/words.ts"

/** A document that a tool gave back whole. */
interface DocumentSource {
  readonly name: string
  readonly bytes: number
  /** Base64. */
  readonly data: string
}

const PDF = "application/pdf"

/** Newer CLIs have it among what the model was told, older ones only in what they tell their host: it is taken once. */
export function documentsOf({ input, result }: Pick<ToolRow, "input" | "result">): readonly DocumentSource[] {
  const path = textOf(input, "file_path")
  const name = path === undefined ? "document.pdf" : fileName(path)
  const told = blocksOf(result?.content).flatMap((block) => {
    const source = block["type"] === "document" ? block["source"] : undefined
    const data = textOf(source, "media_type") === PDF ? textOf(source, "data") : undefined
    return data === undefined ? [] : [{ name: textOf(block, "title") ?? name, bytes: bytesOf(data), data }]
  })
  if (told.length > 0) return told
  const structured = result?.structured
  const file = textOf(structured, "type") === "pdf" && isObject(structured) ? structured["file"] : undefined
  const data = textOf(file, "base64")
  return data === undefined ? [] : [{ name, bytes: bytesOf(data), data }]
}

export interface NamedPicture {
  readonly picture: PictureSource
  readonly name: string
}

/** Things to look at: pictures among what the model was told, and pages of a document behind it. */
export function picturesOf(row: Pick<ToolRow, "name" | "input" | "result">): readonly NamedPicture[] {
  const { input, result } = row
  const path = textOf(input, "file_path")
  const name = path === undefined ? `Image from ${row.name === "" ? "a tool" : row.name}` : fileName(path)
  const told = blocksOf(result?.content).flatMap((block) => {
    const source = block["type"] === "image" ? block["source"] : undefined
    const [mediaType, data] = [textOf(source, "media_type"), textOf(source, "data")]
    return mediaType === undefined || data === undefined ? [] : [{ mediaType, data }]
  })
  const pictures = [...told, ...(result?.pages ?? [])]
  const isPages = textOf(result?.structured, "type") === "parts"
  const first = firstPage(result?.structured, input)
  return pictures.map((picture, index) => ({
    picture,
    name: isPages ? `${name}, page ${first + index}` : pictures.length === 1 ? name : `${name}, ${index + 1}`,
  }))
}

function firstPage(structured: unknown, input: unknown): number {
  const told = isObject(structured) ? structured["firstPage"] : undefined
  return typeof told === "number" ? told : Number(/^\d+/.exec(textOf(input, "pages") ?? "")?.[0] ?? 1)
}

function fileName(path: string): string {
  return oneLine(path.split(/[\\/]/).findLast((part) => part !== "") ?? path, 120)
}

function blocksOf(content: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(content) ? content.filter(isObject) : []
}

/** Bytes that a base64 text decodes to. */
function bytesOf(data: string): number {
  return Math.floor((data.length * 3) / 4) - (data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0)
}

/** A document is not drawn here: it is handed to whatever the reader opens such files with. */
export function DocumentCard({ document }: { readonly document: DocumentSource }) {
  const name = oneLine(document.name, 120)
  const download = () => {
    const file = pdfOf(document.data, name)
    if (file === undefined) announce("Couldn't read the document")
    else saveFile(file)
  }
  return (
    <div className="flex max-w-md items-center gap-3 self-start rounded-card border border-line bg-surface py-2 ps-3 pe-2">
      <DocumentIcon className="shrink-0 text-text-3" />
      <p className="min-w-0 flex-1">
        <bdi title={name} className="block truncate text-dense font-medium text-text">
          {name}
        </bdi>
        <span className="block text-meta text-text-3">PDF · {bytes(document.bytes)}</span>
      </p>
      <Button look="quiet" aria-label={`Download ${name}`} onClick={download}>
        Download
      </Button>
    </div>
  )
}

/** Undefined: it is no base64. */
function pdfOf(data: string, name: string): File | undefined {
  try {
    return new File([Uint8Array.from(atob(data), (char) => char.charCodeAt(0))], name, { type: "application/pdf" })
  } catch {
    return undefined
  }
}

/** Hands a file to the browser's downloads: nothing of it is opened here. */
export function saveFile(file: File): void {
  const url = URL.createObjectURL(file)
  const link = document.createElement("a")
  link.href = url
  link.download = file.name
  link.click()
  // The download has the address by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
