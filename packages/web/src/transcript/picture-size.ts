export interface PictureSize {
  readonly width: number
  readonly height: number
}

const HEAD_CHARS = 44
/** A header may say anything: what nobody could draw is not believed. */
const MAX_SIDE = 20_000

/** How large a picture is, from its first bytes: PNG and GIF say it there. Undefined: not known before it is drawn. */
export function pictureSize(source: string): PictureSize | undefined {
  const [kind, data = ""] = source.split(";base64,", 2)
  const bytes = firstBytes(data.slice(0, HEAD_CHARS))
  if (bytes === undefined) return undefined
  const view = new DataView(bytes.buffer)
  if (kind === "data:image/png" && bytes.length >= 24) return sane(view.getUint32(16), view.getUint32(20))
  if (kind === "data:image/gif" && bytes.length >= 10) return sane(view.getUint16(6, true), view.getUint16(8, true))
  return undefined
}

function firstBytes(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64.slice(0, base64.length - (base64.length % 4))), (char) => char.charCodeAt(0))
  } catch {
    return undefined
  }
}

function sane(width: number, height: number): PictureSize | undefined {
  const isSane = [width, height].every((side) => side > 0 && side <= MAX_SIDE)
  return isSane ? { width, height } : undefined
}
