import { useMemo, useState } from "react"
import { Dialog } from "../design/dialog.tsx"
import { pictureSize } from "./picture-size.ts"
import { textIn } from "./tools/tool-words.ts"

/** Kinds that are only pixels; a drawing with scripts in it is not among them. */
const KINDS = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"])

function sourcesIn(content: unknown): readonly string[] {
  if (!Array.isArray(content)) return []
  return content.flatMap((block: unknown) => {
    if (textIn(block, "type") !== "image" || typeof block !== "object" || block === null || !("source" in block))
      return []
    const source = dataUrl(textIn(block.source, "media_type"), textIn(block.source, "data"))
    return source === undefined ? [] : [source]
  })
}

/** Only bytes that came with the message: nothing is fetched. */
export function dataUrl(mediaType: string | undefined, data: string | undefined): string | undefined {
  if (mediaType === undefined || data === undefined || !KINDS.has(mediaType)) return undefined
  return /^[\w+/=\s-]*$/.test(data) ? `data:${mediaType};base64,${data}` : undefined
}

export function Pictures({ content, name }: { readonly content: unknown; readonly name: string }) {
  return (
    <>
      {sourcesIn(content).map((source, index) => (
        <Picture key={source.slice(-40) + String(index)} source={source} alt={name} />
      ))}
    </>
  )
}

/** The box is there before the picture is: what comes after it does not move. */
export function Picture({ source, alt }: { readonly source: string; readonly alt: string }) {
  const [open, setOpen] = useState(false)
  const size = useMemo(() => pictureSize(source), [source])
  const box =
    size === undefined ? { height: 240 } : { height: Math.min(360, size.height), aspectRatio: size.width / size.height }
  return (
    <>
      <button
        type="button"
        aria-label={`Open ${alt}`}
        onClick={() => setOpen(true)}
        style={box}
        className="aspect-4/3 max-w-full self-start overflow-hidden rounded-control border border-line bg-sunken"
      >
        <img src={source} alt={alt} className="size-full object-contain" />
      </button>
      <Dialog title={alt} open={open} onClose={() => setOpen(false)} className="max-w-5xl">
        <div className="min-h-0 overflow-auto p-4">
          <img src={source} alt={alt} className="max-w-full" />
        </div>
      </Dialog>
    </>
  )
}
