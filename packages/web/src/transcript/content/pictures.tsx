import type { PictureSource } from "@signalbox/transcript"
import { useMemo, useState } from "react"
import { Dialog } from "../../design/dialog.tsx"
import type { NamedPicture } from "./documents.tsx"
import { pictureSize } from "./picture-size.ts"

/** Kinds that are only pixels; a drawing with scripts in it is not among them. */
const KINDS = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"])

/** Only bytes that came with the message: nothing is fetched. */
export function dataUrl({ mediaType, data }: PictureSource): string | undefined {
  if (data === undefined || !KINDS.has(mediaType)) return undefined
  return /^[\w+/=\s-]*$/.test(data) ? `data:${mediaType};base64,${data}` : undefined
}

/** One is shown as it is, several side by side and small: pages of a document, mostly. */
export function Pictures({ pictures }: { readonly pictures: readonly NamedPicture[] }) {
  const shown = pictures.flatMap(({ picture, name }) => {
    const source = dataUrl(picture)
    return source === undefined ? [] : [{ source, name }]
  })
  const [only] = shown
  if (shown.length === 1 && only !== undefined) return <Picture source={only.source} alt={only.name} />
  if (shown.length === 0) return null
  return (
    <ul aria-label="Pictures" className="flex flex-wrap gap-2">
      {shown.map(({ source, name }, index) => (
        <li key={index}>
          <Picture source={source} alt={name} isThumbnail />
        </li>
      ))}
    </ul>
  )
}

interface PictureProps {
  readonly source: string
  readonly alt: string
  readonly isThumbnail?: boolean
}

/** The box is there before the picture is: what comes after it does not move. */
export function Picture({ source, alt, isThumbnail = false }: PictureProps) {
  const [open, setOpen] = useState(false)
  const size = useMemo(() => pictureSize(source), [source])
  const maxPx = isThumbnail ? 176 : 360
  const box =
    size === undefined
      ? { height: Math.min(maxPx, 240) }
      : { height: Math.min(maxPx, size.height), aspectRatio: size.width / size.height }
  return (
    <>
      <button
        type="button"
        aria-label={`Open ${alt}`}
        onClick={() => setOpen(true)}
        style={box}
        className="aspect-4/3 min-h-6 max-w-full min-w-6 self-start overflow-hidden coarse:min-h-11 coarse:min-w-11 rounded-control border border-line bg-sunken"
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
