import { closeSync, fstatSync, openSync, readSync } from "node:fs"
import { endianness } from "node:os"
import { HubError } from "../errors.ts"

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const MAGIC_LITTLE = 0x377f0682
const MAGIC_BIG = 0x377f0683
const FRAMES_AT_ONCE = 256
const IS_LITTLE_HOST = endianness() === "LE"

interface Sum {
  readonly first: number
  readonly second: number
}

/**
 * SQLite reads a write-ahead log up to the first frame that is wrong and forgets the rest in silence: with damage near its
 * beginning a hub would start without all it had confirmed. A transaction that was cut off by the end of the process is no
 * damage: nothing that was committed stands after it.
 */
export function checkWriteAheadLog(database: string): void {
  const file = `${database}-wal`
  const at = damageInWal(file)
  if (at === undefined) return
  const message =
    `The write-ahead log ${file} is damaged at byte ${at}, and what was written after that cannot be read. Nothing was changed. ` +
    `Restore a backup of the data folder; or save what can be read with "signalbox salvage"; or keep a copy of the folder, and go on with what is left after "truncate -s ${at} '${file}'"`
  throw new HubError("start/damaged", message)
}

/** The byte at which the damage begins. Undefined: no damage, or no log. */
export function damageInWal(file: string): number | undefined {
  let descriptor: number
  try {
    descriptor = openSync(file, "r")
  } catch {
    return undefined
  }
  try {
    return firstDamage(descriptor, fstatSync(descriptor).size)
  } finally {
    closeSync(descriptor)
  }
}

function firstDamage(descriptor: number, size: number): number | undefined {
  if (size <= HEADER_BYTES) return undefined
  const header = Buffer.alloc(HEADER_BYTES)
  readSync(descriptor, header, 0, HEADER_BYTES, 0)
  const magic = header.readUInt32BE(0)
  const pageBytes = header.readUInt32BE(8)
  const isLittle = magic === MAGIC_LITTLE
  let sum = addTo({ first: 0, second: 0 }, wordsOf(header, isLittle), 0, 6)
  const isHeader = (isLittle || magic === MAGIC_BIG) && isPageSize(pageBytes) && isSum(header, 24, sum)
  if (!isHeader) return 0
  const frameBytes = FRAME_HEADER_BYTES + pageBytes
  let wrong: number | undefined
  for (const { frames, position } of framesIn(descriptor, size, frameBytes)) {
    const words = wrong === undefined ? wordsOf(frames, isLittle) : undefined
    for (let at = 0; at < frames.length; at += frameBytes) {
      const isOfThisLog = frames.compare(header, 16, 24, at + 8, at + 16) === 0
      if (wrong !== undefined) {
        // Frames of the log before this one lie behind its end, with another mark.
        if (isOfThisLog && frames.readUInt32BE(at + 4) !== 0) return wrong
      } else if (words !== undefined) {
        sum = addTo(sum, words, at / 4, at / 4 + 2)
        sum = addTo(sum, words, (at + FRAME_HEADER_BYTES) / 4, (at + frameBytes) / 4)
        if (!isOfThisLog || !isSum(frames, at + 16, sum)) wrong = position + at
      }
    }
  }
  return undefined
}

/** The whole frames of the log, many at a time. What is yielded is gone with the next. */
function* framesIn(descriptor: number, size: number, frameBytes: number) {
  const buffer = Buffer.from(new ArrayBuffer(frameBytes * FRAMES_AT_ONCE))
  const end = size - ((size - HEADER_BYTES) % frameBytes)
  for (let position = HEADER_BYTES; position < end; position += buffer.length) {
    const bytes = Math.min(buffer.length, end - position)
    if (readSync(descriptor, buffer, 0, bytes, position) !== bytes) return
    yield { frames: buffer.subarray(0, bytes), position }
  }
}

/** In the byte order that the sums are made in. */
function wordsOf(bytes: Buffer, isLittle: boolean): Int32Array {
  const own =
    isLittle === IS_LITTLE_HOST && bytes.byteOffset % 4 === 0 ? bytes : Buffer.from(new Uint8Array(bytes).buffer)
  if (isLittle !== IS_LITTLE_HOST) own.swap32()
  return new Int32Array(own.buffer, own.byteOffset, own.length / 4)
}

function isPageSize(bytes: number): boolean {
  return bytes >= 512 && bytes <= 65_536 && (bytes & (bytes - 1)) === 0
}

function isSum(buffer: Buffer, offset: number, { first, second }: Sum): boolean {
  return buffer.readInt32BE(offset) === first && buffer.readInt32BE(offset + 4) === second
}

/** SQLite's own running checksum, over pairs of words. */
function addTo({ first, second }: Sum, words: Int32Array, from: number, to: number): Sum {
  let [a, b] = [first, second]
  for (let at = from; at < to; at += 2) {
    a = (a + (words[at] ?? 0) + b) | 0
    b = (b + (words[at + 1] ?? 0) + a) | 0
  }
  return { first: a, second: b }
}
