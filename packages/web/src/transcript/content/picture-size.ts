interface PictureSize {
  readonly width: number
  readonly height: number
}

/** PNG, GIF and WebP say it in their first bytes; of a JPEG what a camera noted may come before. */
const HEAD_CHARS = { "data:image/jpeg": 88_000, other: 44 }
/** A header may say anything: what nobody could draw is not believed. */
const MAX_SIDE = 20_000

/** How large a picture is, from its first bytes. Undefined: not known before it is drawn. */
export function pictureSize(source: string): PictureSize | undefined {
  const [kind, data = ""] = source.split(";base64,", 2)
  const head = data.slice(0, kind === "data:image/jpeg" ? HEAD_CHARS[kind] : HEAD_CHARS.other)
  const bytes = firstBytes(head)
  if (bytes === undefined) return undefined
  const view = new DataView(bytes.buffer)
  if (kind === "data:image/png" && bytes.length >= 24) return sane(view.getUint32(16), view.getUint32(20))
  if (kind === "data:image/gif" && bytes.length >= 10) return sane(view.getUint16(6, true), view.getUint16(8, true))
  if (kind === "data:image/webp" && bytes.length >= 30) return webpSize(view)
  return kind === "data:image/jpeg" ? jpegSize(view) : undefined
}

function firstBytes(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64.slice(0, base64.length - (base64.length % 4))), (char) => char.charCodeAt(0))
  } catch {
    return undefined
  }
}

/** From mark to mark, until the one that begins the picture itself. */
function jpegSize(view: DataView): PictureSize | undefined {
  let at = 2
  while (at + 9 <= view.byteLength && view.getUint8(at) === 0xff) {
    const mark = view.getUint8(at + 1)
    const isFrame = mark >= 0xc0 && mark <= 0xcf && mark !== 0xc4 && mark !== 0xc8 && mark !== 0xcc
    if (isFrame) return sane(view.getUint16(at + 7), view.getUint16(at + 5))
    at += 2 + Math.max(2, view.getUint16(at + 2))
  }
  return undefined
}

const [VP8, VP8L, VP8X] = [0x56503820, 0x5650384c, 0x56503858]

function webpSize(view: DataView): PictureSize | undefined {
  switch (view.getUint32(12)) {
    case VP8:
      return sane(view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff)
    case VP8L: {
      const bits = view.getUint32(21, true)
      return sane((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1)
    }
    case VP8X:
      return sane(1 + (view.getUint32(24, true) & 0xffffff), 1 + (view.getUint32(26, true) >>> 8))
    default:
      return undefined
  }
}

function sane(width: number, height: number): PictureSize | undefined {
  const isSane = [width, height].every((side) => side > 0 && side <= MAX_SIDE)
  return isSane ? { width, height } : undefined
}
