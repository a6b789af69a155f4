import { deflateSync, inflateSync } from "node:zlib"

/** A picture as a browser takes it, and how long it stands. */
export interface Frame {
  readonly png: Buffer
  readonly forMs: number
}

interface Pixels {
  readonly width: number
  readonly height: number
  /** Three bytes for each: what a browser shows is opaque. */
  readonly rgb: Buffer
}

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** Frames of one size as an animated PNG that begins anew for ever. Each frame after the first holds only what changed. */
export function animatedPicture(frames: readonly Frame[]): Buffer {
  const shown = withoutRepeats(frames.map(({ png, forMs }) => ({ ...readPicture(png), forMs })))
  const [first] = shown
  if (first === undefined) throw new Error("there is no frame")
  let sequence = 0
  const parts = [SIGNATURE, header(first), chunk("acTL", words(shown.length, 0))]
  for (const [index, frame] of shown.entries()) {
    const box =
      index === 0 ? { x: 0, y: 0, width: frame.width, height: frame.height } : changed(shown[index - 1], frame)
    parts.push(
      chunk("fcTL", Buffer.concat([words(sequence++, box.width, box.height, box.x, box.y), delay(frame.forMs)])),
    )
    const data = deflateSync(filtered(frame, box), { level: 9 })
    parts.push(index === 0 ? chunk("IDAT", data) : chunk("fdAT", Buffer.concat([words(sequence++), data])))
  }
  return Buffer.concat([...parts, chunk("IEND", Buffer.alloc(0))])
}

type Shown = Pixels & { readonly forMs: number }

/** A frame that is as the one before it makes that one stand longer. */
function withoutRepeats(frames: readonly Shown[]): readonly Shown[] {
  const kept: Shown[] = []
  for (const frame of frames) {
    const last = kept.at(-1)
    if (last !== undefined && last.rgb.equals(frame.rgb))
      kept[kept.length - 1] = { ...last, forMs: last.forMs + frame.forMs }
    else kept.push(frame)
  }
  return kept
}

/** The pixels of a PNG of 8 bits, without interlacing: what Chromium writes. */
export function readPicture(png: Buffer): Pixels {
  const [width, height, kind] = [png.readUInt32BE(16), png.readUInt32BE(20), png[25]]
  if (!png.subarray(0, 8).equals(SIGNATURE) || png[24] !== 8 || (kind !== 2 && kind !== 6) || png[28] !== 0)
    throw new Error("not a picture as a browser takes it")
  const data: Buffer[] = []
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString("latin1", at + 4, at + 8) === "IDAT")
      data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)))
  }
  const channels = kind === 2 ? 3 : 4
  const bytes = unfiltered(inflateSync(Buffer.concat(data)), width * channels, channels)
  if (channels === 3) return { width, height, rgb: bytes }
  const rgb = Buffer.alloc(width * height * 3)
  for (let pixel = 0; pixel < width * height; pixel++) bytes.copy(rgb, pixel * 3, pixel * 4, pixel * 4 + 3)
  return { width, height, rgb }
}

function unfiltered(raw: Buffer, stride: number, channels: number): Buffer {
  const rows = raw.length / (stride + 1)
  const out = Buffer.alloc(rows * stride)
  for (let row = 0; row < rows; row++) {
    const filter = raw[row * (stride + 1)]
    for (let index = 0; index < stride; index++) {
      const at = row * stride + index
      const left = index >= channels ? (out[at - channels] ?? 0) : 0
      const up = row > 0 ? (out[at - stride] ?? 0) : 0
      const corner = row > 0 && index >= channels ? (out[at - stride - channels] ?? 0) : 0
      const guess =
        filter === 1
          ? left
          : filter === 2
            ? up
            : filter === 3
              ? (left + up) >> 1
              : filter === 4
                ? nearest(left, up, corner)
                : 0
      out[at] = ((raw[row * (stride + 1) + 1 + index] ?? 0) + guess) & 255
    }
  }
  return out
}

/** PNG's fourth guess: whichever neighbour is closest to left + up − corner. */
function nearest(left: number, up: number, corner: number): number {
  const guess = left + up - corner
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)]
  return a <= b && a <= c ? left : b <= c ? up : corner
}

/** The smallest box around all that differs. */
function changed(before: Pixels | undefined, after: Pixels): Box {
  const { width, height, rgb } = after
  let [top, bottom, left, right] = [height, -1, width, -1]
  for (let y = 0; y < height; y++) {
    const [start, end] = [y * width * 3, (y + 1) * width * 3]
    if (before?.rgb.subarray(start, end).equals(rgb.subarray(start, end)) === true) continue
    top = Math.min(top, y)
    bottom = y
    for (let x = 0; x < width; x++) {
      const at = start + x * 3
      if (before?.rgb.compare(rgb, at, at + 3, at, at + 3) === 0) continue
      left = Math.min(left, x)
      right = Math.max(right, x)
    }
  }
  return { x: left, y: top, width: right - left + 1, height: bottom - top + 1 }
}

/** The rows of a box, each as its difference from the row above: text on a plain ground packs best that way. */
function filtered({ width, rgb }: Pixels, box: Box): Buffer {
  const stride = box.width * 3
  const out = Buffer.alloc(box.height * (stride + 1))
  for (let row = 0; row < box.height; row++) {
    const from = ((box.y + row) * width + box.x) * 3
    const to = row * (stride + 1)
    out[to] = row === 0 ? 0 : 2
    for (let index = 0; index < stride; index++) {
      const up = row === 0 ? 0 : (rgb[from - width * 3 + index] ?? 0)
      out[to + 1 + index] = ((rgb[from + index] ?? 0) - up) & 255
    }
  }
  return out
}

function header({ width, height }: Pixels): Buffer {
  return chunk("IHDR", Buffer.concat([words(width, height), Buffer.from([8, 2, 0, 0, 0])]))
}

/** How long a frame stands, in thousandths of a second; it is drawn over what is there. */
function delay(forMs: number): Buffer {
  const bytes = Buffer.alloc(6)
  bytes.writeUInt16BE(Math.min(forMs, 65_535), 0)
  bytes.writeUInt16BE(1000, 2)
  return bytes
}

function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4)
  return bytes
}

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, "latin1"), data])
  return Buffer.concat([words(data.length), named, words(crc32(named))])
}

const TABLE = Uint32Array.from({ length: 256 }, (_, value) => {
  let crc = value
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1
  return crc
})

function crc32(bytes: Buffer): number {
  let crc = 0xffffffff
  for (const byte of bytes) crc = (TABLE[(crc ^ byte) & 255] ?? 0) ^ (crc >>> 8)
  return (crc ^ 0xffffffff) >>> 0
}
